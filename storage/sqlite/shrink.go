package sqlite

import (
	"context"
	"fmt"
	"time"

	"gatehouse/storage/internal/sqlstore"
)

// shrinkStep is how many pages one transaction gives back, so that other transactions do not wait long.
const shrinkStep = 500

// Shrink gives some of the pages that deleting has freed back to the system. With the last of them it empties the
// write-ahead log, which may still hold deleted text. If a reader is in the way, the log is emptied by a later call.
func (db *database) Shrink(ctx context.Context) (more bool, err error) {
	err = db.Write(ctx, func(run sqlstore.Runner, _ time.Time) error {
		var free int64
		err := run.Query(`pragma freelist_count`, nil,
			func(scan func(...any) error) error {
				return scan(&free)
			})
		if more = free > shrinkStep; err != nil || free == 0 {
			return err
		}
		// Each row is one page.
		return run.Query(fmt.Sprintf(`pragma incremental_vacuum(%d)`, shrinkStep), nil,
			func(func(...any) error) error {
				return nil
			})
	})
	if err != nil || more {
		return err == nil, err
	}
	return false, translate(db.file, db.writer.submit(ctx, nil, false)) // empties the log
}
