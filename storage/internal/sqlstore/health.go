package sqlstore

import (
	"context"
	"sync"
	"time"

	"gatehouse/core"
)

// failureCounts is how long a failed commit counts. Register has something committed more often than that, so a database that still fails
// is still known to.
const failureCounts = 5 * time.Second

// health remembers the last commit that the database failed.
type health struct {
	mu  sync.Mutex
	err error     // guarded by mu
	at  time.Time // guarded by mu
}

// note takes the result of a write.
func (h *health) note(err error) {
	if !core.IsStoreFailure(err) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err, h.at = err, time.Now()
}

func (h *health) recent() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil || time.Since(h.at) > failureCounts {
		return nil
	}
	return h.err
}

// Health reports whether the database can be read and takes commits: it fails with what went wrong in the last seconds, or with store_full
// if its disk is nearly full.
func (s *Store) Health(ctx context.Context) error {
	if err := s.health.recent(); err != nil {
		return err
	}
	if err := s.hooks.Space(); err != nil {
		return err
	}
	_, err := read(ctx, s, func(t *Tx) (bool, error) { return t.exists(`select 1 from kv where name = 'paused'`) })
	return err
}

// Overdue reports whether a turn of one of the platforms is due, and was for longer than the limit, and nobody holds its queue; not while turns
// are paused.
func (s *Store) Overdue(ctx context.Context, platforms []string, limit time.Duration) (bool, error) {
	return read(ctx, s, func(t *Tx) (bool, error) {
		if err := t.readClock(); err != nil {
			return false, err
		}
		for _, platform := range platforms {
			overdue, err := t.exists(`
				select 1 from queues q join events e on e.seq = q.head
				where q.ready_at >= 0 and q.ready_at <= $1 and q.platform = $2 and e.accepted_at < $1 and e.not_before < $1
				and (q.controls = true or not exists (select 1 from kv where name = 'paused'))
				limit 1`, t.Now.Add(-limit), platform)
			if err != nil || overdue {
				return overdue, err
			}
		}
		return false, nil
	})
}
