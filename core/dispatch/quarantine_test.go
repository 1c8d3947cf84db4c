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

// crowded is a model that notes how many turns think at once, and lets each go on when it is told.
type crowded struct {
	mu    sync.Mutex
	now   int
	most  int
	began chan string
	goOn  chan struct{}
}

func newCrowded() *crowded {
	return &crowded{began: make(chan string, 100), goOn: make(chan struct{})}
}

func (c *crowded) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	tail, err := h.Tail(ctx, 1)
	if err != nil {
		return agent.Answer{}, err
	}
	said := tail[0].Content.String()
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	c.began <- said
	select {
	case <-c.goOn:
	case <-ctx.Done():
	}
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	return agent.Answer{Message: core.Message{Role: core.Assistant, Content: core.Text("ok " + said)}}, ctx.Err()
}

// TestSuspectsAreBisected: of eight events that were there when processes died, with eight workers, four run together
// after two deaths, two after three, one after four; waiting is no attempt, and all are answered in the end.
func TestSuspectsAreBisected(t *testing.T) {
	const events, workers = 8, 8
	for deaths, together := range map[int]int{2: 4, 3: 2, 4: 1} {
		t.Run(fmt.Sprint(deaths, " deaths"), func(t *testing.T) {
			b := newBench(t, setup{idle: true})
			var all []core.Receipt
			for i := range events {
				all = append(all, b.say(core.ConversationID(fmt.Sprintf("room:%d", i)), "hello"))
			}
			for range deaths {
				if died := b.die(events); len(died) != events {
					t.Fatalf("%d events were claimed, want %d", len(died), events)
				}
			}
			b.stop()
			model := newCrowded()
			again := newBench(t, setup{path: b.path, model: model, options: func(o *dispatch.Options) {
				o.Workers = workers
			}})
			for range together {
				<-model.began
			}
			for i := range events {
				model.goOn <- struct{}{}
				if i < events-together {
					<-model.began
				}
			}
			for _, r := range all {
				if e := again.ended(r.Seq); e.End.Kind != core.EndReplied || e.Attempt != deaths+1 {
					t.Errorf("event %d: %+v, attempt %d", e.Seq, e.End, e.Attempt)
				}
			}
			if model.most > together {
				t.Errorf("%d suspects ran together, want %d at most", model.most, together)
			}
		})
	}
}

// failingEnds is a store whose turns can't end.
type failingEnds struct{ dispatch.Store }

func (f failingEnds) Release(context.Context, core.Claim) error {
	return core.Errorf(core.StoreBusy, "the database does not answer")
}

func (f failingEnds) Finish(context.Context, core.Finish) error {
	return core.Errorf(core.StoreBusy, "the database does not answer")
}

// TestShutdownDoesNotWaitForASuspectThatCannotBeReleased: a process ends although the database fails.
func TestShutdownDoesNotWaitForASuspectThatCannotBeReleased(t *testing.T) {
	t.Parallel()
	b := newBench(t, setup{idle: true})
	b.say("room:1", "hello")
	for range 4 {
		b.die(1)
	}
	b.stop()
	model := newCrowded()
	again := newBench(t, setup{path: b.path, idle: true, model: model, options: func(o *dispatch.Options) {
		o.Workers, o.Drain = 8, time.Millisecond
		o.Store = failingEnds{o.Store}
	}})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = again.disp.Run(ctx)
	}()
	<-model.began
	stop()
	close(model.goOn)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("Run has not ended a minute after its context")
	}
}

// TestFreshEventsDoNotWaitForSuspects: one suspect that takes its time holds up none of the others.
func TestFreshEventsDoNotWaitForSuspects(t *testing.T) {
	b := newBench(t, setup{idle: true})
	suspect := b.say("room:1", "suspect")
	for range 4 {
		b.die(1)
	}
	b.stop()
	began, goOn := make(chan struct{}, 1), make(chan struct{})
	model := modelFunc(func(ctx context.Context, h core.History) (agent.Answer, error) {
		if tail, err := h.Tail(ctx, 1); err == nil && tail[0].Content.String() == "suspect" {
			began <- struct{}{}
			<-goOn
		}
		return agent.Demo{}.Next(ctx, h, nil)
	})
	again := newBench(t, setup{path: b.path, model: model, options: func(o *dispatch.Options) { o.Workers = 2 }})
	<-began
	for i := range 3 {
		again.ended(again.say(core.ConversationID(fmt.Sprintf("room:fresh%d", i)), "hello").Seq)
	}
	close(goOn)
	again.ended(suspect.Seq)
}
