package web

import (
	"context"
	"sync"
	"time"
)

// turnWait is how long a page waits for its turn.
const turnWait = 10 * time.Second

// turns let each person have one list of approvals made at a time, since that may hold much: what is asked for in
// large, many times over. Their other tabs wait.
type turns struct {
	mu sync.Mutex
	of map[string]*turn // by person; guarded by mu
}

type turn struct {
	taken chan struct{}
	users int // those that wait, and the one whose turn it is; guarded by the turns' mu
}

// take waits for a person's turn. ok is false if that does not come in time; else leave must be called.
func (t *turns) take(ctx context.Context, who string) (leave func(), ok bool) {
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	t.mu.Lock()
	if t.of == nil {
		t.of = map[string]*turn{}
	}
	one := t.of[who]
	if one == nil {
		one = &turn{taken: make(chan struct{}, 1)}
		t.of[who] = one
	}
	one.users++
	t.mu.Unlock()
	gone := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(t.of, who)
		}
	}
	select {
	case one.taken <- struct{}{}:
		return func() { <-one.taken; gone() }, true
	case <-ctx.Done():
		gone()
		return nil, false
	}
}
