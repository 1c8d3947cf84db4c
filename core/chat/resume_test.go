package chat_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// gated asks, waits for the signal "x", and answers.
func gated() *graph.Builder { return line(answer("shall I?"), pause("x"), answer("done")) }

func TestLaw6_MessagesDuringAPauseAreKept(t *testing.T) {
	say1 := func(s graph.State) (string, error) {
		if graph.Messages.Get(s).Len() == 1 {
			return "ask", nil
		}
		return "chat", nil
	}
	b := graph.New("g", "1").Fields(graph.Messages, approved).
		Node("in", func(context.Context, graph.State) (graph.Update, error) { return nil, nil }).
		Node("ask", answer("shall I?")).Node("gate", pause("x")).Node("act", answer("done")).Node("chat",
		answer("sure")).
		Entry("in").Route("in", say1).Edge("ask", "gate").Edge("gate", "act").Edge("act", graph.END).Edge("chat",
		graph.END)
	r := newRig(t, b)
	s := suspended(t, r.Send(t.Context(), "s", say(core.User, "do it")))
	completed(t, r.Send(t.Context(), "s", say(core.User, "and hurry")))
	out := completed(t, r.Resume(t.Context(), chat.Signal{SignalID: "x", Invocation: s.Invocation}))
	if got := texts(out.Replies); !slices.Equal(got, []string{"done"}) {
		t.Errorf("replies %v", got)
	}
	if got := r.history(t, "s"); !slices.Equal(got, []string{"do it", "shall I?", "and hurry", "sure", "done"}) {
		t.Errorf("history %v", got)
	}
}

func TestLaw4_ASuspendedTurnHoldsNoGoroutineAndNoLock(t *testing.T) {
	r := newRig(t, gated())
	s := suspended(t, r.Send(t.Context(), "s", say(core.User, "do it")))
	goleak.VerifyNone(t)
	// any other process resumes it: nothing but the store is shared
	other := newRig(t, gated(), func(o *chat.Options) { o.Stores = graph.Stores{Sessions: r.store, Pauses: r.store} })
	completed(t, other.Resume(t.Context(), chat.Signal{Invocation: s.Invocation}))
	suspended(t, r.Send(t.Context(), "s", say(core.User, "again")))
}

func TestASignalReachesTheListenerOnce(t *testing.T) {
	r := newRig(t, gated())
	var received []core.Outcome
	cancel := r.Subscribe("s", func(o core.Outcome) { received = append(received, o) })
	r.Subscribe("other", func(o core.Outcome) { t.Errorf("another session received %+v", o) })
	s := suspended(t, r.Send(t.Context(), "s", say(core.User, "do it")))
	if got := texts(s.Pending); !slices.Equal(got, []string{"shall I?"}) || s.Descriptor.SignalID != "x" ||
		len(received) != 0 {
		t.Fatalf("pending %v, received %v", got, received)
	}
	errored(t,
		r.Resume(t.Context(), chat.Signal{SignalID: "x", Payload: raw(map[string]string{"approved": `"maybe"`})}),
		core.SuspensionPayloadInvalid)
	out := completed(t,
		r.Resume(t.Context(), chat.Signal{SignalID: "x", Payload: raw(map[string]string{"approved": "true"})}))
	if got := texts(out.Replies); !slices.Equal(got, []string{"done"}) {
		t.Errorf("replies %v", got)
	}
	errored(t, r.Resume(t.Context(), chat.Signal{SignalID: "x"}), core.HarnessCorrelationFailed)
	errored(t, r.Resume(t.Context(), chat.Signal{Invocation: s.Invocation}), core.SuspensionRecordInvalid)
	errored(t, r.Resume(t.Context(), chat.Signal{}), core.HarnessCorrelationFailed)
	if len(received) != 1 || len(completed(t, received[0]).Replies) != 1 {
		t.Errorf("received %+v", received)
	}
	if got := r.history(t, "s"); !slices.Equal(got, []string{"do it", "shall I?", "done"}) {
		t.Errorf("history %v", got)
	}
	cancel()
	cancel()
}

func TestASignalForAnotherPauseConsumesNothing(t *testing.T) {
	r := newRig(t, line(pause("x"), pause("y"), answer("done")))
	s := suspended(t, r.Send(t.Context(), "s", say(core.User, "do it")))
	errored(t, r.Resume(t.Context(), chat.Signal{SignalID: "y", Invocation: s.Invocation}),
		core.SuspensionRecordInvalid)
	suspended(t, r.Resume(t.Context(), chat.Signal{SignalID: "x", Invocation: s.Invocation}))
	errored(t, r.Resume(t.Context(), chat.Signal{SignalID: "x", Invocation: s.Invocation}),
		core.SuspensionRecordInvalid)
	completed(t, r.Resume(t.Context(), chat.Signal{SignalID: "y", Invocation: s.Invocation}))
}

func TestOutcomesWithoutASubscriberAreKept(t *testing.T) {
	r := newRig(t, line(pause("x"), pause("y"), fails(errPlain)))
	suspended(t, r.Send(t.Context(), "s", say(core.User, "do it")))
	suspended(t, r.Resume(t.Context(), chat.Signal{SignalID: "x"}))
	errored(t, r.Resume(t.Context(), chat.Signal{SignalID: "y"}), core.NodeException)
	var first, second []core.Outcome
	r.Subscribe("s", func(o core.Outcome) { first = append(first, o) })
	r.Subscribe("s", func(o core.Outcome) { second = append(second, o) })
	if len(first) != 2 || len(second) != 0 {
		t.Fatalf("received %+v and %+v", first, second)
	}
	suspended(t, first[0])
	errored(t, first[1], core.NodeException)
}

func TestAListenerMayPanicAndMaySend(t *testing.T) {
	r := newRig(t, line(pause("x"), answer("done")))
	var received []core.Outcome
	r.Subscribe("s", func(core.Outcome) { panic("no") })
	r.Subscribe("s", func(core.Outcome) {
		received = append(received, r.Send(t.Context(), "s", say(core.User, "thanks")))
	})
	suspended(t, r.Send(t.Context(), "s", say(core.User, "do it")))
	completed(t, r.Resume(t.Context(), chat.Signal{SignalID: "x"}))
	if len(received) != 1 {
		t.Fatalf("received %+v", received)
	}
	suspended(t, received[0])
}

func TestTurnsOfASessionRunOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		running, most := 0, 0
		slow := func(context.Context, graph.State) (graph.Update, error) {
			running++
			most = max(most, running)
			<-gate
			running--
			return graph.Update{graph.Messages.Add(say(core.Assistant, "hi"))}, nil
		}
		r := newRig(t, line(pause("x"), slow))
		suspended(t, r.Send(t.Context(), "s", say(core.User, "wait")))
		done := make(chan core.Outcome)
		go func() { done <- r.Resume(t.Context(), chat.Signal{SignalID: "x"}) }()
		synctest.Wait()
		go func() { done <- r.Send(t.Context(), "s", say(core.User, "next")) }()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- r.Send(ctx, "s", say(core.User, "never mind")) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		errored(t, <-done, core.Internal)
		go func() { done <- r.Send(t.Context(), "other", say(core.User, "beside")) }()
		suspended(t, <-done)
		close(gate)
		outcomes := map[string]int{}
		for range 2 {
			outcomes[fmt.Sprintf("%T", <-done)]++
		}
		if outcomes["core.Completed"] != 1 || outcomes["core.Suspended"] != 1 || most != 1 {
			t.Errorf("outcomes %v, %d at once", outcomes, most)
		}
		if got := r.history(t, "s"); !slices.Equal(got, []string{"wait", "hi", "next"}) {
			t.Errorf("history %v", got)
		}
	})
}

func TestTurnsOfTwoSessionsRunInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := newRig(t, line(func(context.Context, graph.State) (graph.Update, error) {
			gate <- struct{}{}
			return nil, nil
		}))
		done := make(chan core.Outcome)
		for _, s := range []core.SessionID{"a", "b"} {
			go func() { done <- r.Send(t.Context(), s, say(core.User, "yo")) }()
		}
		synctest.Wait() // both are in the node
		<-gate
		<-gate
		completed(t, <-done)
		completed(t, <-done)
	})
}
