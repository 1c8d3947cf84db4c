package sqlite

import (
	"context"
	"fmt"
	"time"

	"gatehouse/storage/internal/sqlstore"
)

// shrinkStep is how many pages one transaction gives back, so that other transactions do not wait long.
const shrinkStep = 500

// Shrink gives the pages that deleting has freed back to the system, in steps, and empties the write-ahead log, which
// may still hold deleted text. If a reader is in the way, the log is emptied by a later call.
func (db *database) Shrink(ctx context.Context) error {
	for more := true; more; {
		err := db.Write(ctx, func(run sqlstore.Runner, _ time.Time) error {
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
		if err != nil {
			return err
		}
	}
	return translate(db.file, db.writer.submit(ctx, nil, false)) // empties the log
}
