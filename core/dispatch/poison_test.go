package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/dispatch"
)

// mortal is the store of a process that dies: from then on nothing of it is written.
type mortal struct {
	dispatch.Store
	died <-chan struct{}
}

func (m *mortal) dead() bool {
	select {
	case <-m.died:
		return true
	default:
		return false
	}
}

func (m *mortal) Claim(ctx context.Context, r core.ClaimRequest) ([]core.Claim, error) {
	if m.dead() {
		return nil, nil
	}
	return m.Store.Claim(ctx, r)
}

func (m *mortal) TakeBack(ctx context.Context, c core.Claim) error {
	if m.dead() {
		return nil
	}
	return m.Store.TakeBack(ctx, c)
}

func (m *mortal) Release(ctx context.Context, c core.Claim) error {
	if m.dead() {
		return nil
	}
	return m.Store.Release(ctx, c)
}

func (m *mortal) Finish(ctx context.Context, f core.Finish) error {
	if m.dead() {
		return core.Errorf(core.ClaimLost, "the process is dead")
	}
	return m.Store.Finish(ctx, f)
}

// poisoned is a model whose process dies of the message "poison". Each other one takes a moment, so that some run
// beside it.
type poisoned struct {
	died chan struct{}
	die  func()
	mu   sync.Mutex
	now  int
	most int // that ran at the same time
}

func (p *poisoned) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	tail, err := h.Tail(ctx, 1)
	if err != nil {
		return agent.Answer{}, err
	}
	p.count(1)
	defer p.count(-1)
	settle()
	if tail[0].Content.String() == "poison" {
		p.die()
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}
	return agent.Answer{Message: core.Message{Role: core.Assistant, Content: core.Text("ok")}}, nil
}

func (p *poisoned) count(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now += n
	p.most = max(p.most, p.now)
}

// TestAnEventThatEndsItsProcessIsFoundAmongMany: with 512 workers, and more than a hundred others over which the first
// two processes died too, it becomes a dead letter after its five attempts, and all others are answered.
func TestAnEventThatEndsItsProcessIsFoundAmongMany(t *testing.T) {
	const others, workers = 120, 512
	b := newBench(t, setup{idle: true})
	poison := b.say("room:poison", "poison")
	var all []core.Receipt
	for i := range others {
		all = append(all, b.say(core.ConversationID(fmt.Sprintf("room:%d", i)), "hello"))
	}
	for range 2 { // the claims of two processes; what runs in them is all of it
		if died := b.die(workers); len(died) != others+1 {
			t.Fatalf("%d events were claimed, want %d", len(died), others+1)
		}
	}
	b.stop()
	for life, together := range []int{64, 8, 1} {
		died := make(chan struct{})
		model := &poisoned{died: died, die: sync.OnceFunc(func() { close(died) })}
		again := newBench(t, setup{path: b.path, model: model, options: func(o *dispatch.Options) {
			m := &mortal{Store: o.Store, died: died}
			o.Workers, o.Drain, o.Store = workers, time.Millisecond, m
		}})
		select {
		case <-died:
		case <-time.After(patience):
			t.Fatalf("process %d did not die: %+v", life+3, again.event(poison.Seq))
		}
		again.expire()
		again.stop()
		if model.most > together {
			t.Errorf("in process %d, %d suspects ran together, want %d at most", life+3, model.most, together)
		}
	}
	last := newBench(t, setup{path: b.path, model: &poisoned{die: func() {
		t.Error("it ran a sixth time")
	}}, options: func(o *dispatch.Options) { o.Workers = workers }})
	if e := last.ended(poison.Seq); e.End.Kind != core.EndDead {
		t.Errorf("the event that ends its process: %+v, attempt %d", e.End, e.Attempt)
	}
	for _, r := range all {
		if e := last.ended(r.Seq); e.End.Kind != core.EndReplied {
			t.Errorf("event %d: %+v, attempt %d", e.Seq, e.End, e.Attempt)
		}
	}
}
