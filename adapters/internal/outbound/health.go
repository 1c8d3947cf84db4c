package outbound

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"gatehouse/core"
	"gatehouse/core/retry"
)

// Health remembers whether a platform answered the last call (law 9).
type Health struct {
	Title string // of the platform

	mu       sync.Mutex
	answered bool // at least once
	err      error
	calls    map[core.CallResult]int64
}

// Record notes the result of a call; err has one of the categories of errors of calls. Any answer counts as success,
// except that the token is refused. A request to wait changes nothing.
func (h *Health) Record(err error) {
	result := core.PlatformAnswered
	switch core.CategoryOf(err) {
	case core.Unauthorized:
		result = core.PlatformDenied
	case core.DeliveryInDoubt:
		result = core.PlatformDoubtful
	case core.DeliveryLater:
		result = core.PlatformFailed
		if core.RetryAfterOf(err) > 0 {
			result = core.PlatformLimited
		}
	default:
		err = nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls == nil {
		h.calls = map[core.CallResult]int64{}
	}
	if h.calls[result]++; result != core.PlatformLimited {
		h.set(err)
	}
}

// Calls are the calls that were recorded.
func (h *Health) Calls() map[core.CallResult]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.calls)
}

// Set records that the platform answered (nil), or why it did not.
func (h *Health) Set(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.set(err)
}

func (h *Health) set(err error) { h.answered, h.err = h.answered || err == nil, err }

// Err returns nil if the platform answered the last call, else the reason why not.
func (h *Health) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil && !h.answered {
		return core.Errorf(core.DeliveryLater, "%s has not answered yet.", h.Title)
	}
	return h.err
}

// identityCheck is the time between two questions once the bot is known.
const identityCheck = time.Minute

// Asker asks a platform who the bot is.
type Asker interface {
	// Ask asks once.
	Ask(ctx context.Context) error
	// Known reports whether Ask has succeeded before.
	Known() bool
	// Sleep returns after a wait, or when ctx ends.
	Sleep(ctx context.Context, wait time.Duration)
	// Jitter returns a random part of a wait.
	Jitter(wait time.Duration) time.Duration
}

// Identity asks a platform who the bot is, which also shows that the platform answers.
type Identity struct {
	Title string // of the platform, in the log
	Log   *slog.Logger
	Asker
}

// maxRefusals is how often in a row a token must be refused before it counts as refused.
const maxRefusals = 3

// Keep asks until the bot is known, and once a minute after that, until ctx ends. Error: the token was refused several
// times in a row before the bot was known. A token that is revoked later does not end Keep: events must still be
// stored.
func (i Identity) Keep(ctx context.Context) error {
	log := retry.NewLog(i.Log, "asking "+i.Title+" who the bot is")
	wait, refusals := FirstRetry, 0
	for ctx.Err() == nil {
		known := i.Known()
		err := i.Ask(ctx)
		if ctx.Err() != nil {
			return nil
		}
		log.Report(err)
		if core.CategoryOf(err) != core.Unauthorized || known {
			refusals = 0
		} else if refusals++; refusals == maxRefusals {
			return err
		}
		if err == nil {
			wait = FirstRetry
			i.Sleep(ctx, identityCheck)
			continue
		}
		i.Sleep(ctx, max(i.Jitter(wait), core.RetryAfterOf(err)))
		wait = min(2*wait, MaxRetry)
	}
	return nil
}

// The waits before another attempt: they begin with FirstRetry and double up to MaxRetry.
const (
	FirstRetry = time.Second
	MaxRetry   = time.Minute
)

// Sleep returns after d, or when ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Jitter returns a random part of a wait: half of it for random 0, all of it for 1.
func Jitter(d time.Duration, random float64) time.Duration {
	return time.Duration(float64(d) * (0.5 + random/2))
}
