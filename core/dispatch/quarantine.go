package dispatch

import (
	"context"
	"math"
	"sync"

	"gatehouse/core"
	"gatehouse/core/inflight"
	"gatehouse/core/retry"
)

// A suspect is an event over which two processes or more have died. As many events are suspects as ran together, so as
// there are workers at most. Which of them is at fault is found in three steps: at its third attempt a suspect runs
// beside as many as make the second power of the workers' cube root, at its fourth beside the cube root, and then
// without any other suspect. So of 512 suspects at most 64 run together, then 8 of the 64 that a death leaves, then one
// of 8: in each step one after the other as many times as in the next one. What dies alone is at fault, and its
// attempts are used up; an event that is not has an attempt left for each death beside it. Events that are no suspects
// are not held up.

// quarantine is the suspects that run now, each with the number that may run beside it, itself included.
type quarantine struct {
	mu      sync.Mutex
	limits  map[*turn]int // guarded by mu
	workers int
	left    wake // a suspect has ended
}

// admits returns the last attempt that a suspect may be at to run beside those that run now, 0 if it may be at any; ok
// is false if none may. One that may not is not claimed: its attempt would count if the process died.
func (q *quarantine) admits() (attempt int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.limits)
	if n == 0 {
		return 0, true
	}
	for _, limit := range q.limits {
		if n >= limit {
			return 0, false
		}
	}
	for attempt = deadAfter; attempt >= firstSuspect; attempt-- {
		if n < q.limit(attempt) {
			return attempt, true
		}
	}
	return 0, false
}

func (q *quarantine) join(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limits[t] = q.limit(t.claim.Event.Attempt)
}

func (q *quarantine) leave(t *turn) {
	q.mu.Lock()
	delete(q.limits, t)
	q.mu.Unlock()
	q.left.nudge()
}

// limit is how many suspects may run together with one at this attempt.
func (q *quarantine) limit(attempt int) int {
	switch attempt {
	case firstSuspect:
		return max(1, int(math.Round(math.Pow(float64(q.workers), 2.0/3))))
	case firstSuspect + 1:
		return max(1, int(math.Round(math.Cbrt(float64(q.workers)))))
	}
	return 1
}

// suspects claims and runs suspects, until ctx ends.
func (d *Dispatcher) suspects(ctx, turnCtx context.Context, running *sync.WaitGroup) {
	q := &quarantine{limits: map[*turn]int{}, workers: d.Workers, left: newWake()}
	trouble := retry.NewLog(d.Log, "looking for events that ended their process")
	for ctx.Err() == nil {
		attempt, ok := q.admits()
		if !ok {
			q.left.wait(ctx, retry.UntilPoll(d.Poll))
			continue
		}
		if !d.slots.take(ctx) {
			return
		}
		claims, err := d.Store.Claim(ctx,
			core.ClaimRequest{Owner: d.Owner, Limit: 1, Scopes: d.scopes, Suspects: true, Attempts: attempt})
		if ctx.Err() == nil {
			trouble.Report(err)
		}
		if len(claims) == 0 {
			d.slots.free(1)
			q.left.wait(ctx, retry.UntilPoll(d.Poll))
			continue
		}
		hold := d.Memory.Hold(inflight.Turns, claims[0].Event.Actor.ID)
		hold.Grow(weight(size(claims[0].Event)))
		t := newTurn(d, claims[0], hold)
		q.join(t)
		running.Go(func() {
			t.take(turnCtx)
			q.leave(t)
			d.slots.free(1)
			t.ended(false)
		})
	}
}
