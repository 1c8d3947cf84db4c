package dispatch

import (
	"context"
	"time"
)

// wake is a signal that remembers one nudge.
type wake chan struct{}

func newWake() wake { return make(wake, 1) }

func (w wake) nudge() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// wait waits for a nudge, for d, or until ctx ends.
func (w wake) wait(ctx context.Context, d time.Duration) {
	select {
	case <-w:
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d > 0 {
		wake(nil).wait(ctx, d)
	}
}
