package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/dispatch"
	"gatehouse/core/inflight"
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

// TestALargeMessageIsGivenUpAfterTwoDeaths: the person is told that it was too big. Its second attempt runs, and so
// does the third of a small message that two processes died over.
func TestALargeMessageIsGivenUpAfterTwoDeaths(t *testing.T) {
	for name, tc := range map[string]struct {
		bytes, deaths int
		end           core.EndKind
		category      core.Category
		says          string
	}{
		"large, one death":   {62_500, 1, core.EndReplied, "", "demo agent"},
		"large, two deaths":  {62_500, 2, core.EndDead, core.MessageTooLarge, "too big"},
		"small, two deaths":  {500, 2, core.EndReplied, "", "demo agent"},
		"small, five deaths": {500, 5, core.EndDead, core.Internal, "crashed each time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, setup{idle: true})
			said := b.say("room:1", strings.Repeat("x ", tc.bytes/2))
			for range tc.deaths {
				if died := b.die(1); len(died) != 1 {
					t.Fatalf("%d events were claimed", len(died))
				}
			}
			b.stop()
			again := newBench(t, setup{path: b.path, options: func(o *dispatch.Options) {
				o.Memory = inflight.New(16 << 20)
			}})
			e := again.ended(said.Seq)
			if e.End.Kind != tc.end || e.End.Category != tc.category {
				t.Errorf("it ended so: %+v", e.End)
			}
			again.expect(tc.says)
		})
	}
}

// TestOnePersonsLargeMessagesLeaveRoomForOthers: while one person's turns hold their share, the rest of theirs wait,
// and another person's message is answered. In the end all are.
func TestOnePersonsLargeMessagesLeaveRoomForOthers(t *testing.T) {
	began, goOn := make(chan struct{}, 100), make(chan struct{})
	model := modelFunc(func(ctx context.Context, h core.History) (agent.Answer, error) {
		if tail, err := h.Tail(ctx, 1); err == nil && len(tail[0].Content.String()) > 1000 {
			began <- struct{}{}
			<-goOn
		}
		return agent.Demo{}.Next(ctx, h, nil)
	})
	memory := inflight.New(8 << 20)
	b := newBench(t, setup{model: model, options: func(o *dispatch.Options) { o.Memory = memory }})
	var large []core.Receipt
	for i := range 8 {
		large = append(large, b.say(core.ConversationID(fmt.Sprintf("room:%d", i)), strings.Repeat("x ", 31_250)))
	}
	<-began
	for i := range 3 {
		payload, _ := json.Marshal("hello")
		other := b.accept(core.Event{
			Conversation: core.ConversationID(fmt.Sprintf("room:other %d", i)), Body: core.MessageEvent{},
			Payload: payload, Actor: core.Actor{ID: "room:bob"},
		})
		if e := b.ended(other.Seq); e.End.Kind != core.EndReplied {
			t.Errorf("another's message: %+v", e.End)
		}
	}
	if n := len(began); n > 4 {
		t.Errorf("%d large turns run", n+1)
	}
	if b.disp.Idle() {
		t.Error("it counts as idle while messages wait for memory")
	}
	close(goOn)
	for _, r := range large {
		b.ended(r.Seq)
	}
	for deadline := time.Now().Add(patience); memory.Held() > 0; settle() {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are still held", memory.Held())
		}
	}
}
