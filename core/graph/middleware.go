package graph

import (
	"context"
	"errors"
	"runtime"
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
