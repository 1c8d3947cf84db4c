package llm

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Limit is a Provider that makes at most so many calls of another one at a time. Further calls wait, in the order in which they came, until
// a call ends or their own context does. Put it inside a Retry: what waits for its next attempt then holds no place.
type Limit struct {
	provider Provider
	places   *semaphore.Weighted
}

// NewLimit makes a Limit of at least one call at a time.
func NewLimit(p Provider, calls int) *Limit {
	return &Limit{p, semaphore.NewWeighted(int64(max(1, calls)))}
}

var _ Provider = (*Limit)(nil)

// Complete waits for a place and calls the provider.
func (p *Limit) Complete(ctx context.Context, r Request) (Response, error) {
	if p.places.Acquire(ctx, 1) != nil {
		return Response{}, Interrupted(ctx)
	}
	defer p.places.Release(1)
	return p.provider.Complete(ctx, r)
}

// Ready asks the provider without taking a place: it costs the vendor little, and an answer must not wait for the turns.
func (p *Limit) Ready(ctx context.Context) error { return p.provider.Ready(ctx) }
