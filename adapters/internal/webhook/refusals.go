package webhook

import (
	"log/slog"
	"sync"
	"time"
)

// every is the least time between two log lines.
const every = time.Second

// refusals logs refused requests, one line a second at most: anybody can send such requests, and must not be able to
// fill a disk.
type refusals struct {
	now func() time.Time
	log *slog.Logger

	mu     sync.Mutex
	logged time.Time
	others int // refused since the last line, without one of their own
}

// add logs a refused request, or counts it for the next line.
func (r *refusals) add(path string, status int, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if since := now.Sub(r.logged); since >= 0 && since < every {
		r.others++
		return
	}
	args := []any{"path", path, "status", status, "why", why}
	if r.others > 0 {
		args = append(args, "not_logged", r.others)
	}
	r.log.Warn("a request is refused", args...)
	r.logged, r.others = now, 0
}
