package dispatch

import (
	"context"
	"time"
)

// wake is a bell that remembers one ring.
type wake chan struct{}

func newWake() wake { return make(wake, 1) }

func (w wake) nudge() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// wait ends at a ring, after the time, or with ctx.
func (w wake) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w:
	case <-timer.C:
	case <-ctx.Done():
	}
}
