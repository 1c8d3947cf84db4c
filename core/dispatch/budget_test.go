package dispatch_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/dispatch"
)

// away is a platform that does not tell what a message says, and asks to wait.
type away struct {
	*room
	asks  time.Duration
	calls *atomic.Int64
}

func (a away) Parse(context.Context, core.Event) (core.Input, error) {
	a.calls.Add(1)
	return core.Input{}, &core.Error{
		Category: core.ProviderUnavailable, Message: "The room is away.", RetryAfter: a.asks,
	}
}

// on makes the platform of a bench one that is away.
func (a away) on(budget time.Duration) func(*dispatch.Options) {
	return func(o *dispatch.Options) {
		a.room = o.Platforms[0].(*room)
		o.Platforms, o.RetryTime, o.Drain = []core.Platform{a}, budget, time.Millisecond
	}
}

// TestAWaitBeyondTheBudgetIsTold: nobody waits ten minutes without a word.
func TestAWaitBeyondTheBudgetIsTold(t *testing.T) {
	a := away{asks: 10 * time.Minute, calls: new(atomic.Int64)}
	b := newBench(t, setup{options: a.on(0)})
	r := b.say("room:1", "hello")
	d := b.expect("in 10 minutes")
	if e := b.ended(r.Seq); e.End.Kind != core.EndErrored || d.Bucket != core.RetryableTransient || d.Pressed {
		t.Errorf("%+v; %+v", e.End, d)
	}
}

// TestTheBudgetIsOneForAllProcesses: it has room for two waits, one of which was in another process.
func TestTheBudgetIsOneForAllProcesses(t *testing.T) {
	a := away{asks: 400 * time.Millisecond, calls: new(atomic.Int64)}
	b := newBench(t, setup{options: a.on(time.Second)})
	r := b.say("room:1", "hello")
	for b.event(r.Seq).Retries == 0 {
		settle()
	}
	b.stop()
	again := newBench(t, setup{path: b.path, options: a.on(time.Second)})
	again.heard()
	if e := again.ended(r.Seq); e.End.Kind != core.EndErrored || a.calls.Load() != 3 {
		t.Errorf("%+v after %d tries, want 3", e.End, a.calls.Load())
	}
}

// TestTheDatabaseSpendsNothing: it fails more often than anything else may, and for longer than the budget.
func TestTheDatabaseSpendsNothing(t *testing.T) {
	b := newBench(t, setup{
		model: failing(12, core.StoreBusy), options: func(o *dispatch.Options) { o.RetryTime = time.Nanosecond },
	})
	r := b.say("room:1", "hello")
	b.expect("Hello!")
	if e := b.ended(r.Seq); e.Retries != 12 || e.Attempt != 1 {
		t.Errorf("retries %d, attempt %d", e.Retries, e.Attempt)
	}
}

// TestWhatAModelWaitedIsKnownAfterARestart: a wait is spent before it begins, and stored while it goes on.
func TestWhatAModelWaitedIsKnownAfterARestart(t *testing.T) {
	left := make(chan time.Duration, 2)
	model := modelFunc(func(ctx context.Context, _ core.History) (agent.Answer, error) {
		turn, _ := core.TurnFrom(ctx)
		left <- turn.Budget.Left()
		turn.Budget.Spend(90 * time.Second)
		core.DeltasFrom(ctx).Waits(time.Now().Add(90 * time.Second))
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	})
	drain := func(o *dispatch.Options) { o.Drain = time.Millisecond }
	b := newBench(t, setup{model: model, options: drain})
	r := b.say("room:1", "hello")
	if first := <-left; first != 2*time.Minute {
		t.Errorf("the first attempt has %v", first)
	}
	for stored := ""; stored == ""; settle() { // a process that is killed now leaves it behind
		var err error
		if stored, err = b.store.Get(t.Context(), "spent/1"); err != nil {
			t.Fatal(err)
		}
	}
	b.expire()
	if second := <-left; second > 31*time.Second {
		t.Errorf("the second attempt has %v, want half a minute", second)
	}
	b.stop()
	if e := r.Seq; e != 1 {
		t.Errorf("event %d", e)
	}
}

// refusing is a store that refuses ends and returned events for a while, as nothing that is known to pass.
type refusing struct {
	dispatch.Store
	ends, releases atomic.Int64
	asked          func() // at each refusal
}

func (r *refusing) Finish(ctx context.Context, f core.Finish) error {
	if r.ends.Add(-1) >= 0 {
		return core.Errorf(core.Internal, "refused")
	}
	return r.Store.Finish(ctx, f)
}

func (r *refusing) Release(ctx context.Context, c core.Claim) error {
	if r.releases.Add(-1) >= 0 {
		r.asked()
		return core.Errorf(core.Internal, "refused")
	}
	return r.Store.Release(ctx, c)
}

// TestAConversationIsAlwaysReturned: else nobody would take it while its process lives. Health knows of it meanwhile.
func TestAConversationIsAlwaysReturned(t *testing.T) {
	store := &refusing{}
	store.ends.Store(2) // the turn's end, and the one without its session
	store.releases.Store(3)
	b := newBench(t, setup{options: func(o *dispatch.Options) { store.Store, o.Store = o.Store, store }})
	var said atomic.Value
	refusals := 0
	store.asked = func() {
		if refusals++; refusals > 1 {
			said.Store(core.MessageOf(b.disp.Unstored()))
		}
	}
	r := b.say("room:1", "hello")
	b.expect("Hello!")
	if e := b.ended(r.Seq); e.End.Kind != core.EndReplied {
		t.Errorf("%+v", e.End)
	}
	if text, _ := said.Load().(string); !strings.Contains(text, "does not take") {
		t.Errorf("meanwhile health says %q", text)
	}
	if err := b.disp.Unstored(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
