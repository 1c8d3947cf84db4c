package llm

import (
	"context"
	"math"
	"time"

	"github.com/cenkalti/backoff/v5"

	"gatehouse/core"
)

// Retry is a Provider that repeats calls of another one (llm-provider §7.1). Only errors that may pass by themselves
// are repeated (IsTransient); any other is returned at once, and so is the end of the context. The wait before the next
// attempt is exactly what the vendor asked for, if it did (RetryAfter), else Wait. When the attempts are used up, or
// the next one could not begin before the deadline, the last error is returned, without waiting for nothing.
//
// It holds nothing between calls. Ready is not repeated.
type Retry struct {
	provider Provider
	config   RetryConfig
}

// RetryConfig says how often and how long. The zero RetryConfig is three attempts and no deadline of its own.
type RetryConfig struct {
	Attempts int                             // in all; 0: three
	Total    time.Duration                   // for all attempts and waits; 0: only the context's deadline counts
	Wait     func(attempt int) time.Duration // after the attempt of that index, from 0; nil: FullJitter
	Model    string                          // as observers are told it
	Observe  Observer                        // of each attempt; may be nil
}

// defaultAttempts is how often a call is made where nothing else is said.
const defaultAttempts = 3

// NewRetry makes a Retry of a provider.
func NewRetry(p Provider, c RetryConfig) *Retry {
	if c.Attempts <= 0 {
		c.Attempts = defaultAttempts
	}
	if c.Observe == nil {
		c.Observe = unobserved
	}
	return &Retry{p, c}
}

var _ Provider = (*Retry)(nil)

// Ready asks the provider once.
func (p *Retry) Ready(ctx context.Context) error { return p.provider.Ready(ctx) }

// Complete calls the provider until it answers, fails for good, or the attempts or the time are used up.
func (p *Retry) Complete(ctx context.Context, r Request) (Response, error) {
	if p.config.Total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.config.Total)
		defer cancel()
	}
	waits := &waits{ctx: ctx, wait: p.config.Wait}
	if waits.wait == nil {
		waits.wait = FullJitter()
	}
	attempt := Attempt{Model: p.config.Model}
	response, err := backoff.Retry(ctx, func() (Response, error) {
		inside, end := p.config.Observe(ctx, attempt)
		response, err := p.provider.Complete(inside, r)
		end(response, err)
		attempt.Index++
		waits.last = err
		if err != nil && (ctx.Err() != nil || !IsTransient(err)) {
			return response, backoff.Permanent(err)
		}
		return response, err
	}, backoff.WithBackOff(waits), backoff.WithMaxTries(uint(p.config.Attempts)), backoff.WithMaxElapsedTime(0))
	if err == nil {
		return response, nil
	}
	if interrupted := Interrupted(ctx); interrupted != nil && core.CategoryOf(interrupted) != core.ProviderUnavailable {
		return Response{}, interrupted
	}
	return Response{}, waits.last
}

// IsTransient reports whether a call that failed may succeed when it is made again, unchanged (llm-provider §7).
func IsTransient(err error) bool { return ClassOf(err) == AskAgain }

// waits are the waits of one call.
type waits struct {
	ctx     context.Context //nolint:containedctx // of the one call that this belongs to
	wait    func(attempt int) time.Duration
	last    error
	attempt int
}

// NextBackOff is the wait after the last error, or Stop if the context's deadline comes first.
func (w *waits) NextBackOff() time.Duration {
	next := w.wait(w.attempt)
	w.attempt++
	if asked := core.RetryAfterOf(w.last); asked > 0 {
		next = asked
	}
	if deadline, ok := w.ctx.Deadline(); ok && time.Until(deadline) <= next {
		return backoff.Stop
	}
	return next
}

// Reset is called once, before the first attempt.
func (w *waits) Reset() {}

// FullJitter waits a random time below a limit that doubles from one second to 30 (pipeline-utilities §6.1).
func FullJitter() func(attempt int) time.Duration {
	const first, most = time.Second, 30 * time.Second
	return func(attempt int) time.Duration {
		limit := min(float64(most), float64(first)*math.Pow(2, float64(attempt)))
		once := backoff.ExponentialBackOff{
			InitialInterval: time.Duration(limit / 2), RandomizationFactor: 1, Multiplier: 1, MaxInterval: most,
		}
		return once.NextBackOff()
	}
}
