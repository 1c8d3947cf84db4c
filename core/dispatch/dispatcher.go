package dispatch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/core"
	"gatehouse/core/inflight"
	"gatehouse/core/retry"
)

// Dispatcher claims events and runs their turns; see the package comment.
type Dispatcher struct {
	Options
	platforms map[string]core.Platform
	scopes    []core.Scope
	slots     *slots       // a turn holds one
	noRoom    atomic.Bool  // events wait for memory
	alone     atomic.Int64 // the number of a large event at its second attempt that runs now; 0: none
	running   running
	unstored  unstored
	turns     wake
	controls  wake
	accepting accepting
}

// New returns a dispatcher. It panics if a required part is missing.
func New(o Options) *Dispatcher {
	if o.Store == nil || o.Approvals == nil || o.Outbox == nil || o.Harness == nil || o.Owner == "" {
		panic("dispatch: Store, Approvals, Outbox, Harness and Owner are required")
	}
	o.defaults()
	d := &Dispatcher{
		Options: o, platforms: map[string]core.Platform{}, slots: newSlots(o.Workers, o.Memory), turns: newWake(),
		controls: newWake(),
		running:  newRunning(),
	}
	for _, p := range o.Platforms {
		d.platforms[p.Name()] = p
		d.scopes = append(d.scopes, core.Scope{Platform: p.Name(), Conversations: o.Conversations})
	}
	return d
}

// Idle reports whether every turn could begin now: none waits for a worker, or for memory that its person may hold.
func (d *Dispatcher) Idle() bool { return d.Load().Full() == "" && !d.noRoom.Load() }

// Load is how busy the dispatcher is now.
func (d *Dispatcher) Load() Load { return d.slots.load() }

// Nudge makes the dispatcher claim now instead of at the next poll, after something was committed. It never blocks.
// Suspects wait for the poll: a new event is none.
func (d *Dispatcher) Nudge() {
	d.turns.nudge()
	d.controls.nudge()
}

// ended nudges after the end of a turn, if the conversation may have a next event, or another one waits for the memory
// that is free now. What decides approvals may have left
// another one of its own and a signal for its conversation.
func (t *turn) ended(controls bool) {
	if controls || t.left.Turns || t.noRoom.Load() {
		t.turns.nudge()
	}
	if controls {
		t.controls.nudge()
	}
}

// Run claims events until ctx ends. It then lets the running turns continue for the drain time (or not at all if the
// cause is store_gone: nothing that they do could be stored) and returns the events of the others to their queues. It
// returns when no turn runs any more. It never fails: a store that can't be reached is tried again.
func (d *Dispatcher) Run(ctx context.Context) error {
	turnCtx, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	var running, loops sync.WaitGroup
	d.accepting.begin(turnCtx, &running)
	loops.Go(func() { d.loop(ctx, turnCtx, &running, d.turns, d.slots, false) })
	loops.Go(func() { d.loop(ctx, turnCtx, &running, d.controls, newSlots(controlSlots, nil), true) })
	loops.Go(func() { d.suspects(ctx, turnCtx, &running) })
	var watching sync.WaitGroup
	defer watching.Wait()
	watchCtx, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	watching.Go(func() { d.watch(watchCtx) })
	watching.Go(func() { d.showProgress(watchCtx) })
	loops.Wait()
	d.accepting.end()
	drained := make(chan struct{})
	go func() { running.Wait(); close(drained) }()
	drain := d.Drain
	if core.CategoryOf(context.Cause(ctx)) == core.StoreGone {
		drain = 0
	}
	select {
	case <-drained:
	case <-time.After(drain):
		cut(core.ErrStopping)
		<-drained
	}
	return nil
}

// mostClaims is how many queues one transaction claims at most. Meanwhile others may begin turns, as events are
// accepted.
const mostClaims = 64

// loop claims as many queues as it has free slots, and waits for a slot, a nudge or the poll.
func (d *Dispatcher) loop(ctx, turnCtx context.Context, running *sync.WaitGroup, w wake, slots *slots, controls bool) {
	errorLog := retry.NewLog(d.Log, "looking for work")
	refused := 0 // queues that the last look found and left, as their turns had no room
	for ctx.Err() == nil {
		if !slots.take(ctx) {
			return
		}
		free := 1
		for free < mostClaims && slots.tryTake() {
			free++
		}
		request := core.ClaimRequest{Owner: d.Owner, Limit: free, Scopes: d.scopes, Controls: controls}
		room := d.newRoom(free)
		if !controls {
			request.Limit, request.Room = free+min(refused, mostClaims), room
		}
		claims, err := d.Store.Claim(ctx, request)
		if ctx.Err() == nil {
			errorLog.Report(err)
		}
		slots.free(free - len(claims))
		refused = room.refused
		if !controls {
			d.accepting.behind.Store(len(claims) == free)
			d.noRoom.Store(refused > 0)
		}
		for _, c := range claims {
			hold := room.of(c.Event.Seq)
			if controls {
				hold = d.Memory.Hold(inflight.Kept, c.Event.Actor.ID)
				hold.Grow(weight(size(c.Event)))
			}
			running.Go(func() {
				t := newTurn(d, c, hold)
				t.take(turnCtx)
				slots.free(1)
				t.ended(controls)
			})
		}
		room.leave()
		if len(claims) < free {
			w.wait(ctx, retry.UntilPoll(d.Poll))
		}
	}
}
