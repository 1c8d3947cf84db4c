package graph

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"gatehouse/core"
)

// Next is what is inside a Middleware: the one after it, and in the end the node. Each call of the innermost is an
// attempt of the node, with events and an attempt index of its own. It must be called on the goroutine that the
// middleware was called on, and no more once that one has returned.
type Next func(ctx context.Context, s State) (Update, error)

// Middleware wraps a node: it may change the state that the node sees, inspect what it returns, answer in its place,
// call it again, or recover from its error (pipeline-utilities §2). Errors come back from next and propagate outwards.
// It can't suspend.
//
// If the node suspends, next does not return and the code after it does not run: the goroutine of the middleware ends
// in next (runtime.Goexit), which recover can't stop. Deferred calls do run, so that resources are released.
//
// Decision (2026-11): a goroutine for each run of a node that has middleware, and Goexit in it, instead of a sentinel
// error (each middleware would have to pass it on, and code after next would run) or a panic (a middleware that
// recovers from panics, as many do, would catch it and continue).
type Middleware func(ctx context.Context, s State, next Next) (Update, error)

// callWrapped calls the node through its middleware.
func (nr *nodeRun) callWrapped(ctx context.Context) (Update, error) {
	if len(nr.node.middleware) == 0 {
		return nr.attempt(ctx, nr.state)
	}
	scope := &nodeScope{node: nr, middleware: true}
	next := nr.callNode(scope)
	for i := len(nr.node.middleware) - 1; i >= 0; i-- {
		m, inner := nr.node.middleware[i], next
		next = func(ctx context.Context, s State) (Update, error) { return m(ctx, s, inner) }
	}
	u, err := onOwnGoroutine(func() (Update, error) {
		return next(context.WithValue(ctx, scopeKey{}, scope), nr.state)
	})
	if _, forced := scope.close(); forced != nil {
		nr.susp, u, err = nil, nil, forced
	} else if err != nil && ctx.Err() != nil {
		err = withCause(ctx, err)
	}
	return u, err
}

// callNode returns the innermost Next: it runs an attempt of the node.
func (nr *nodeRun) callNode(scope *nodeScope) Next {
	return func(ctx context.Context, s State) (Update, error) {
		scope.mu.Lock()
		closed, forced := scope.closed, scope.err
		scope.mu.Unlock()
		switch {
		case forced != nil:
			return nil, forced
		case closed:
			return nil, errors.New("next was called after the middleware had returned")
		case nr.susp == nil:
			// even if the middleware passed a context of its own
			u, err := nr.attempt(context.WithValue(ctx, idsKey{}, nr.graph.seg.ids), s)
			if nr.susp == nil {
				return u, err
			}
		}
		runtime.Goexit()
		return nil, nil
	}
}

// onOwnGoroutine calls f on a new goroutine, which f may end by runtime.Goexit.
func onOwnGoroutine(f func() (Update, error)) (u Update, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = errors.New("a middleware ended its goroutine")
		defer catch(&err)
		u, err = f()
	}()
	<-done
	return u, err
}

// Retry is the middleware that calls a node again after a failure that may pass (pipeline-utilities §6.1). The zero
// Retry is the spec's: three attempts in all, between them a wait that is random between 0 and 1, 2, 4 … seconds, at
// most 30 (full jitter). A cancelled node is never called again.
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
		if err == nil || attempt >= r.Attempts || ctx.Err() != nil || errors.Is(err, context.Canceled) ||
			!r.Transient(err) {
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
	return core.IsProviderOutage(c.ErrorCategory())
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
