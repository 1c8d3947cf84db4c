package llm

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"gatehouse/core"
)

// longestQueue is how long a call waits for a place.
const longestQueue = 2 * time.Minute

// Limit is a Provider that makes at most so many calls of another one at a time. Further calls wait, in the order in
// which they came, until a call ends, their own context does, or two minutes have passed: provider_unavailable, because
// of model_busy. Put it inside a Chain or a Retry: what waits for its next attempt then holds no place.
type Limit struct {
	provider Provider
	calls    int
	places   *semaphore.Weighted
}

// NewLimit makes a Limit of at least one call at a time.
func NewLimit(p Provider, calls int) *Limit {
	calls = max(1, calls)
	return &Limit{p, calls, semaphore.NewWeighted(int64(calls))}
}

var _ Provider = (*Limit)(nil)

// Complete waits for a place and calls the provider.
func (p *Limit) Complete(ctx context.Context, r Request) (Response, error) {
	queued, leave := context.WithTimeout(ctx, longestQueue)
	defer leave()
	switch {
	case p.places.Acquire(queued, 1) == nil:
	case ctx.Err() != nil:
		return Response{}, Interrupted(ctx)
	default:
		return Response{}, core.Errorf(core.ProviderUnavailable,
			"All %d calls of the model that may run at a time (GATEHOUSE_MODEL_CALLS) were taken for %s.", p.calls,
			longestQueue).
			Because(core.ModelBusy)
	}
	defer p.places.Release(1)
	return p.provider.Complete(ctx, r)
}

// Ready asks the provider without taking a place: it costs the vendor little, and an answer must not wait for the
// turns.
func (p *Limit) Ready(ctx context.Context) error { return p.provider.Ready(ctx) }
