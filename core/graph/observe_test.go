package graph_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// recorder records the events it gets as "name phase node step".
type recorder struct {
	mu       sync.Mutex
	received []string
	last     []graph.Event
}

func (e *recorder) observer(name string, phases ...graph.Phase) graph.Observer {
	return graph.Observer{Name: name, Phases: phases, On: func(_ context.Context, ev graph.Event) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.received = append(e.received, fmt.Sprintf("%s %s %s %d", name, ev.Phase, ev.Node, ev.Step))
		e.last = append(e.last, ev)
		return nil
	}}
}

func TestEventsComeInOrderToEveryObserver(t *testing.T) {
	var e recorder
	bad := graph.Observer{Name: "bad", On: func(context.Context, graph.Event) error { return errPlain }}
	worse := graph.Observer{Name: "worse", On: func(context.Context, graph.Event) error { panic("no") }}
	g := compile(t, line(leave("a"), leave("b")).Observe(bad, e.observer("graph"), worse))
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{
		Observers: []graph.Observer{e.observer("one"), e.observer("two", graph.PhaseCompleted)},
	}), graph.Completed)
	if d := g.Drain(t.Context()); d != (graph.Drained{}) {
		t.Errorf("drained %+v", d)
	}
	expected := []string{
		"graph started a 0", "one started a 0", "graph completed a 0", "one completed a 0", "two completed a 0",
		"graph started b 1", "one started b 1", "graph completed b 1", "one completed b 1", "two completed b 1",
	}
	if !slices.Equal(e.received, expected) {
		t.Errorf("received %v", e.received)
	}
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
	g.Drain(t.Context())
	if len(e.received) != len(expected)+4 {
		t.Errorf("the first invocation's observers received events of the second: %v", e.received[len(expected):])
	}
}

func TestEventsShowWhatHappened(t *testing.T) {
	var e recorder
	st := newBroken()
	g := compile(t, line(leave("a"), pause("x"), func(context.Context, graph.State) (graph.Update, error) {
		return nil, errPlain
	}).Observe(e.observer("o")))
	res := want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{}), graph.Suspended)
	g.Drain(t.Context())
	want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Resume: res.Invocation}), graph.Errored)
	g.Drain(t.Context())
	if expected := []string{
		"o started a 0", "o completed a 0", "o started b 1", "o suspended b 1", "o started c 2", "o completed c 2",
	}; !slices.Equal(e.received, expected) {
		t.Fatalf("received %v", e.received)
	}
	done, paused, failed := e.last[1], e.last[3], e.last[5]
	if len(trail.Get(done.Pre)) != 0 || len(trail.Get(done.Post)) != 1 || done.Err != nil ||
		!slices.Equal(done.Namespace, []string{"a"}) {
		t.Errorf("completed: %+v", done)
	}
	if paused.Descriptor == nil || paused.Descriptor.SignalID != "x" || !paused.Post.IsZero() {
		t.Errorf("suspended: %+v", paused)
	}
	if core.CategoryOf(failed.Err) != core.NodeException || !failed.Post.IsZero() {
		t.Errorf("failed: %+v", failed)
	}
}

func TestObserversGetTheInvocationIDs(t *testing.T) {
	var got graph.IDs
	g := compile(t, line(leave("a")).Observe(graph.Observer{On: func(ctx context.Context, _ graph.Event) error {
		got, _ = graph.InvocationFrom(ctx)
		return ctx.Err()
	}}))
	ctx, cancel := context.WithCancel(t.Context())
	want(t, g.Invoke(ctx, graph.Stores{}, graph.Invocation{ID: "i", Correlation: "c", Session: "s"}), graph.Completed)
	cancel() // the invocation is over; its events are not
	g.Drain(t.Context())
	if got != (graph.IDs{Invocation: "i", Correlation: "c", Session: "s"}) {
		t.Errorf("ids %+v", got)
	}
}

func TestTheGraphCanBeUsedAfterADrainTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := true
		var e recorder
		g := compile(t,
			line(leave("a"), leave("b")).Observe(graph.Observer{On: func(ctx context.Context, _ graph.Event) error {
				if slow {
					<-ctx.Done()
				}
				return nil
			}}, e.observer("o")))
		begin := time.Now()
		want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
		if time.Since(begin) != 0 {
			t.Error("the invocation waited for its observers")
		}
		d, err := g.DrainWithin(t.Context(), time.Second)
		if err != nil || d != (graph.Drained{Undelivered: 4, TimeoutReached: true}) ||
			time.Since(begin) != time.Second {
			t.Errorf("drained %+v %v after %s", d, err, time.Since(begin))
		}
		synctest.Wait()
		slow, e.received = false, nil
		want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
		if d := g.Drain(t.Context()); d != (graph.Drained{}) || len(e.received) != 4 {
			t.Errorf("drained %+v, received %v", d, e.received)
		}
		if _, err := g.DrainWithin(t.Context(), -1); core.CategoryOf(err) != core.Invalid {
			t.Errorf("a negative limit: %v", err)
		}
	})
}

func TestADrainCoversActiveInvocations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e recorder
		gate := make(chan struct{})
		g := compile(t, line(func(context.Context, graph.State) (graph.Update, error) {
			<-gate
			return nil, nil
		}).Observe(e.observer("o")))
		go g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{})
		synctest.Wait()
		drained := make(chan graph.Drained)
		go func() { drained <- g.Drain(t.Context()) }()
		synctest.Wait()
		close(gate)
		if d := <-drained; d != (graph.Drained{}) || len(e.received) != 2 {
			t.Errorf("drained %+v, received %v", d, e.received)
		}
	})
}
