// Package keylock has locks by a key, such as one for each session or person.
package keylock

import (
	"context"
	"sync"
)

// Locks holds one lock for each key in use; an unused key has no entry. The zero Locks is ready for use by any number
// of goroutines.
type Locks[K comparable] struct {
	mu    sync.Mutex
	gates map[K]*gate
}

type gate struct {
	held  chan struct{} // full while the lock is held; waiters get it in order
	users int           // holders and waiters
}

// Take waits for a key's lock until ctx ends; the error is its cause. Without one, release must be called, once.
func (l *Locks[K]) Take(ctx context.Context, key K) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	if l.gates == nil {
		l.gates = map[K]*gate{}
	}
	g := l.gates[key]
	if g == nil {
		g = &gate{held: make(chan struct{}, 1)}
		l.gates[key] = g
	}
	g.users++
	l.mu.Unlock()
	select {
	case g.held <- struct{}{}:
		return func() {
			<-g.held
			l.leave(key, g)
		}, nil
	case <-ctx.Done():
		l.leave(key, g)
		return nil, context.Cause(ctx)
	}
}

func (l *Locks[K]) leave(key K, g *gate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.users--; g.users == 0 {
		delete(l.gates, key)
	}
}
