package backup

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/core"
	"gatehouse/storage"
)

// Settle settles a database that is marked as restored, before anything is served. After a crash the next call goes on.
// Platforms do not fetch what they missed, unless the mark says so.
func Settle(ctx context.Context, s *storage.Store, drivers []core.Driver, log *slog.Logger) error {
	m, err := s.RestoreMark(ctx)
	if err != nil || m == nil {
		return err
	}
	log.Warn("the database was restored: what was decided, run and sent since its backup is not known here, so it is "+
		"ended first", "backup", m.Taken)
	for more := true; more; {
		if more, err = s.Settle(ctx); err != nil {
			return err
		}
	}
	if m, err = s.RestoreMark(ctx); err != nil || m == nil { // another process has settled it
		return err
	}
	if !m.CatchUp {
		for _, d := range drivers {
			if platform, ok := d.(core.CatchesUp); ok {
				if err := platform.Skip(ctx, s, time.Now()); err != nil {
					return err
				}
			}
		}
	}
	if err := s.EndRestore(ctx); err != nil {
		return err
	}
	r, err := s.LastRestore(ctx)
	if err == nil && r != nil {
		log.Warn("the restored database is settled; gatehouse queue tells of it", "approvals_cancelled",
			r.Settled.Approvals, "dead_letters", r.Settled.Events, "posts_in_doubt", r.Settled.Posts)
	}
	return err
}
