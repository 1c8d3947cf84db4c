package graph

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"gatehouse/core"
)

// Retry is the middleware that calls a node again after a failure that may pass (pipeline-utilities §6.1). The zero Retry is the
// spec's: three attempts in all, between them a wait that is random between 0 and 1, 2, 4 … seconds, at most 30 (full jitter).
// What was cancelled is never called again.
type Retry struct {
	Attempts  int // in all; 0 = 3
	Base, Cap time.Duration
	Transient func(error) bool // nil = Transient
	Random    func() float64   // in [0, 1); nil = a random number
	Wait      func(ctx context.Context, d time.Duration) error
}

// Middleware gives the middleware. Negative numbers count as 0.
func (r Retry) Middleware() Middleware {
	if r.Attempts <= 0 {
		r.Attempts = 3
	}
	if r.Base <= 0 {
		r.Base = time.Second
	}
	if r.Cap <= 0 {
		r.Cap = 30 * time.Second
	}
	if r.Transient == nil {
		r.Transient = Transient
	}
	if r.Random == nil {
		r.Random = rand.Float64
	}
	if r.Wait == nil {
		r.Wait = wait
	}
	return r.around
}

func (r Retry) around(ctx context.Context, s State, next Next) (Update, error) {
	ceiling := r.Base
	for attempt := 1; ; attempt++ {
		u, err := next(ctx, s)
		if err == nil || attempt >= r.Attempts || ctx.Err() != nil || errors.Is(err, context.Canceled) || !r.Transient(err) {
			return u, err
		}
		if waitErr := r.Wait(ctx, time.Duration(r.Random()*float64(min(ceiling, r.Cap)))); waitErr != nil {
			return nil, errors.Join(err, waitErr)
		}
		if ceiling < r.Cap {
			ceiling *= 2
		}
	}
}

// Transient reports whether an error may pass: its category is provider_unavailable, provider_rate_limit or
// provider_model_not_loaded, or it is a node_exception whose immediate cause is of one of these.
func Transient(err error) bool {
	var c core.Categorized
	if !errors.As(err, &c) {
		return false
	}
	if c.ErrorCategory() == core.NodeException {
		var inner core.Categorized
		if !errors.As(errors.Unwrap(c), &inner) {
			return false
		}
		c = inner
	}
	switch c.ErrorCategory() {
	case core.ProviderUnavailable, core.ProviderRateLimit, core.ProviderModelNotLoaded, core.ProviderTimeout, core.ProviderRateLimited:
		return true
	}
	return false
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
