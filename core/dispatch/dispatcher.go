package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"gatehouse/core"
)

// Dispatcher claims events and runs their turns; see the package comment.
type Dispatcher struct {
	Options
	platforms map[string]core.Platform
	scopes    []core.Scope
	slots     *semaphore.Weighted // a turn holds one; one that runs alone holds all
	turns     wake
	controls  wake
}

// New returns a dispatcher. It panics if a required part is missing.
func New(o Options) *Dispatcher {
	if o.Store == (Store{}) || o.Events == nil || o.Stop == nil || o.Retry == nil || o.Open == nil || o.Vote == nil || o.Cancel == nil || o.Harness == nil || o.Owner == "" {
		panic("dispatch: Store, its functions, those of the approvals service, Harness and Owner are required")
	}
	o.defaults()
	d := &Dispatcher{Options: o, platforms: map[string]core.Platform{}, slots: semaphore.NewWeighted(int64(o.Workers)), turns: newWake(), controls: newWake()}
	for _, p := range o.Platforms {
		d.platforms[p.Name()] = p
		d.scopes = append(d.scopes, core.Scope{Platform: p.Name(), Conversations: o.Conversations})
	}
	return d
}

// Nudge makes the dispatcher claim now instead of at the next poll, after something was committed. It never blocks.
func (d *Dispatcher) Nudge() {
	d.turns.nudge()
	d.controls.nudge()
}

// Run claims events until ctx ends. It then lets the running turns continue for the drain time and returns the events of the others
// to their queues. It returns when no turn runs any more. It never fails: a store that can't be reached is tried again.
func (d *Dispatcher) Run(ctx context.Context) error {
	turnCtx, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	var running, loops sync.WaitGroup
	loops.Go(func() { d.loop(ctx, turnCtx, &running, d.turns, d.slots, false) })
	loops.Go(func() { d.loop(ctx, turnCtx, &running, d.controls, semaphore.NewWeighted(controlSlots), true) })
	loops.Wait()
	drained := make(chan struct{})
	go func() { running.Wait(); close(drained) }()
	select {
	case <-drained:
	case <-time.After(d.Drain):
		cut(errDraining)
		<-drained
	}
	return nil
}

// errDraining ends the turns that outlast the drain time; their events are released.
var errDraining = errors.New("the process is stopping")

// loop claims as many queues as it has free slots, and waits for a slot, a nudge or the poll.
func (d *Dispatcher) loop(ctx, turnCtx context.Context, running *sync.WaitGroup, w wake, slots *semaphore.Weighted, controls bool) {
	errorLog := core.NewErrorLog(d.Log, "looking for work")
	for ctx.Err() == nil {
		if slots.Acquire(ctx, 1) != nil {
			return
		}
		free := 1
		for free < d.Workers && slots.TryAcquire(1) {
			free++
		}
		claims, err := d.Store.Claim(ctx, core.ClaimRequest{Owner: d.Owner, Limit: free, Lease: d.Lease, Scopes: d.scopes, Controls: controls})
		if ctx.Err() == nil {
			errorLog.Report(err)
		}
		slots.Release(int64(free - len(claims)))
		for _, c := range claims {
			running.Go(func() {
				defer d.Nudge()
				d.runClaim(turnCtx, c, slots)
			})
		}
		if len(claims) < free {
			w.wait(ctx, d.Poll)
		}
	}
}

// runClaim runs one claimed event in the slot that was acquired for it, and releases the slot.
func (d *Dispatcher) runClaim(ctx context.Context, c core.Claim, slots *semaphore.Weighted) {
	if c.Event.Attempt >= aloneFrom && slots == d.slots {
		d.runAlone(ctx, c)
		return
	}
	defer slots.Release(1)
	d.turn(ctx, c)
}

// runAlone releases a suspect event, waits until no other turn runs, and then claims the first ready event: the suspect, unless
// another process was faster. Waiting does not count as an attempt, because a waiting event can't have crashed the process.
func (d *Dispatcher) runAlone(ctx context.Context, c core.Claim) {
	newTurn(d, c).release(ctx)
	d.slots.Release(1)
	all := int64(d.Workers)
	if d.slots.Acquire(ctx, all) != nil {
		return
	}
	defer d.slots.Release(all)
	claims, err := d.Store.Claim(ctx, core.ClaimRequest{Owner: d.Owner, Limit: 1, Lease: d.Lease, Scopes: d.scopes})
	if err != nil {
		d.Log.Warn("claiming a turn that must run alone failed; retrying", "category", core.CategoryOf(err), "err", err)
		return
	}
	for _, c := range claims {
		d.turn(ctx, c)
	}
}

func (d *Dispatcher) turn(ctx context.Context, c core.Claim) {
	t := newTurn(d, c)
	ctx, done := t.holdLease(ctx)
	defer done()
	t.run(ctx)
}
