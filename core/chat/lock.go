package chat

import (
	"context"
	"sync"

	"gatehouse/core"
)

// locks holds one lock for each session in use. A waiter gives up when its context ends. An unused session has no
// entry.
type locks struct {
	mu    sync.Mutex
	gates map[core.SessionID]*gate
}

type gate struct {
	held  chan struct{} // full while the lock is held; waiters get it in order
	users int           // holders and waiters
}

// take waits for the session's lock. The error is the cause of ctx.
func (l *locks) take(ctx context.Context, id core.SessionID) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	if l.gates == nil {
		l.gates = map[core.SessionID]*gate{}
	}
	g := l.gates[id]
	if g == nil {
		g = &gate{held: make(chan struct{}, 1)}
		l.gates[id] = g
	}
	g.users++
	l.mu.Unlock()
	select {
	case g.held <- struct{}{}:
		return func() {
			<-g.held
			l.leave(id, g)
		}, nil
	case <-ctx.Done():
		l.leave(id, g)
		return nil, context.Cause(ctx)
	}
}

func (l *locks) leave(id core.SessionID, g *gate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.users--; g.users == 0 {
		delete(l.gates, id)
	}
}
