package dispatch

import (
	"context"
	"sync"

	"gatehouse/core"
	"gatehouse/core/retry"
)

// A suspect is an event over which two processes or more have died. Which of the events that ran then is at fault is found by bisection:
// at its third attempt a suspect runs with at most half as many others as there are workers, at its fourth with a quarter, and then without
// any other suspect. Events that are no suspects are not held up.

// group is the suspects that run now, each with the number that may run beside it, itself included.
type group struct {
	mu      sync.Mutex
	limits  map[*turn]int // guarded by mu
	workers int
	left    wake // a suspect has ended
}

// admit adds a suspect if it and those that run allow so many.
func (g *group) admit(t *turn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	limit := g.limit(t.claim.Event.Attempt)
	allowed := limit
	for _, other := range g.limits {
		allowed = min(allowed, other)
	}
	if len(g.limits) >= allowed {
		return false
	}
	g.limits[t] = limit
	return true
}

func (g *group) leave(t *turn) {
	g.mu.Lock()
	delete(g.limits, t)
	g.mu.Unlock()
	g.left.nudge()
}

// limit is how many suspects may run together with one at this attempt.
func (g *group) limit(attempt int) int {
	switch attempt {
	case firstSuspect:
		return max(1, g.workers/2)
	case firstSuspect + 1:
		return max(1, g.workers/4)
	}
	return 1
}

// suspects claims and runs suspects, until ctx ends. One that has to wait is released: waiting is no attempt, since an event that waits
// can't have killed a process.
func (d *Dispatcher) suspects(ctx, turnCtx context.Context, running *sync.WaitGroup) {
	g := &group{limits: map[*turn]int{}, workers: d.Workers, left: newWake()}
	trouble := retry.NewLog(d.Log, "looking for events that ended their process")
	for ctx.Err() == nil {
		if d.slots.Acquire(ctx, 1) != nil {
			return
		}
		claims, err := d.Store.Claim(ctx, core.ClaimRequest{Owner: d.Owner, Limit: 1, Scopes: d.scopes, Suspects: true})
		if ctx.Err() == nil {
			trouble.Report(err)
		}
		if len(claims) == 0 {
			d.slots.Release(1)
			d.suspicion.wait(ctx, d.Poll)
			continue
		}
		t := newTurn(d, claims[0])
		if !g.admit(t) {
			t.process = ctx
			t.release(ctx)
			d.slots.Release(1)
			g.left.wait(ctx, d.Poll)
			continue
		}
		running.Go(func() {
			defer d.Nudge()
			defer d.slots.Release(1)
			defer g.leave(t)
			t.take(turnCtx)
		})
	}
}
