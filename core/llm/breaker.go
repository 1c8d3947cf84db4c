package llm

import (
	"context"
	"sync"
	"time"

	"gatehouse/core"
)

// patience is after how many failures in a row a model is asked by one call at a time.
const patience = 3

// longestBreak bounds for how long a model is not asked because it once said so.
const longestBreak = time.Hour

// breaker lets one call at a time ask a model that keeps failing, until one gets an answer, and none before the time
// for which the model asks to wait.
type breaker struct {
	mu      sync.Mutex
	failed  int // in a row
	until   time.Time
	probing bool
	last    error
}

// enter reports whether the model may be asked now; if not, last is its last error, and wait is how long it asks to
// wait.
func (b *breaker) enter(now time.Time) (wait time.Duration, last error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait = max(0, b.until.Sub(now))
	switch {
	case wait > 0 || b.probing:
		return wait, &core.Error{Category: core.CategoryOf(b.last), Message: core.MessageOf(b.last), RetryAfter: wait}
	case b.failed >= patience:
		b.probing = true
	}
	return 0, nil
}

// leave notes how a call that entered has ended; one whose context has ended, or that got no place, says nothing.
func (b *breaker) leave(ctx context.Context, now time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	switch {
	case ctx.Err() != nil || core.ReasonOf(err) == core.ModelBusy:
	case err != nil && IsTransient(err):
		b.failed, b.last = b.failed+1, err
		if asked := core.RetryAfterOf(err); asked > 0 {
			b.until = now.Add(min(asked, longestBreak))
		}
	default:
		b.failed, b.until = 0, time.Time{}
	}
}
