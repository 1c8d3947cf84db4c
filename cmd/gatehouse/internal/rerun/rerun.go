// Package rerun runs the platforms for which gatehouse runs, and runs one that has stopped again.
package rerun

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"gatehouse/core"
)

// Platforms are the platforms for which gatehouse runs. One that stops, because its token or its configuration is
// refused, begins again from time to time as long as another one runs: that one must not end for it, and whoever mends
// it need not start gatehouse again. When all have stopped, gatehouse ends, so that whoever runs it notices.
type Platforms struct {
	log  *slog.Logger
	none chan struct{} // closed when none runs any more

	mu      sync.Mutex
	running int
}

// How long a platform that has stopped waits until it begins again, at first and at most. Discord counts what may
// follow, and allows 1,000 a day.
const (
	first   = 15 * time.Second
	longest = 5 * time.Minute
)

// New counts n platforms that are going to run.
func New(n int, log *slog.Logger) *Platforms {
	return &Platforms{log: log, none: make(chan struct{}), running: n}
}

// end counts a platform that does not run any more, and reports whether another one does.
func (r *Platforms) end() (others bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running--; r.running == 0 {
		close(r.none)
	}
	return r.running > 0
}

// begin counts a platform that runs again, if another one does.
func (r *Platforms) begin() (others bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running > 0 {
		r.running++
	}
	return r.running > 0
}

// Run runs a platform that was counted, until ctx ends, or it ends by itself, or it stops and no other one runs. The
// error is that of its last stop.
func (r *Platforms) Run(ctx context.Context, p core.Platform, accept core.Accept) error {
	told := ""
	for wait := first; ; wait = min(2*wait, longest) {
		began := time.Now()
		err := p.Run(ctx, accept)
		others := r.end()
		if err != nil && err.Error() != told {
			told = err.Error()
			r.log.Error("platform stopped", "platform", p.Name(), "category", core.CategoryOf(err), "again", others,
				"err", err)
		}
		if err == nil || ctx.Err() != nil || !others {
			return err
		}
		if time.Since(began) > longest {
			wait = first
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
		case <-r.none:
		}
		if timer.Stop(); ctx.Err() != nil || !r.begin() {
			return err
		}
	}
}
