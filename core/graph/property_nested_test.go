package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// shape is a random graph of graphs: a line of nodes, some of which are graphs, branches or fan-outs themselves, with a
// loop or none.
type shape struct {
	nodes []shapeNode
	loops int // how often it goes back to its first node
}

type shapeNode struct {
	kind    string // work, gate, sub, branches, fan
	add     int
	inside  []shape
	wrapped bool
	mapped  bool
}

// gates are the places where a shape may pause: gate nodes that are in no container, by their namespace.
func (s shape) gates(path string) []string {
	var out []string
	for i, n := range s.nodes {
		at := fmt.Sprintf("%s/n%d", path, i)
		switch n.kind {
		case "gate":
			out = append(out, at)
		case "sub":
			out = append(out, n.inside[0].gates(at)...)
		}
	}
	return out
}

func drawShape(t *rapid.T, depth int) shape {
	kinds := []string{"work", "gate"}
	if depth > 0 {
		kinds = append(kinds, "sub", "sub", "branches", "fan")
	}
	s := shape{loops: rapid.IntRange(0, 1).Draw(t, "loops")}
	for range rapid.IntRange(1, 4).Draw(t, "nodes") {
		n := shapeNode{
			kind: rapid.SampledFrom(kinds).Draw(t, "kind"), add: rapid.IntRange(1, 3).Draw(t, "add"),
			wrapped: rapid.Bool().Draw(t, "wrapped"), mapped: rapid.Bool().Draw(t, "mapped"),
		}
		inside := map[string]int{"sub": 1, "fan": 1, "branches": 2}[n.kind]
		for range inside {
			n.inside = append(n.inside, drawShape(t, depth-1))
		}
		s.nodes = append(s.nodes, n)
	}
	return s
}

var rounds = graph.Field("rounds", graph.Replace[int]())

// build makes the graph. pause is the gate that suspends, the first time that it is reached; "" = none.
func (s shape) build(t *rapid.T, path, pause string, asked *bool) *graph.Graph {
	b := graph.New("g"+path, "1").Fields(count, trail, rounds, item, items.Default([]int{4, 5}), results,
		graph.Messages).Entry("n0")
	pass := func(ctx context.Context, st graph.State, next graph.Next) (graph.Update, error) { return next(ctx, st) }
	for i, n := range s.nodes {
		name := fmt.Sprintf("n%d", i)
		at := path + "/" + name
		in := graph.Projection{}
		if n.mapped {
			in = graph.Projection{
				Inputs:  map[string]string{"count": "count", "item": "item"},
				Outputs: map[string]string{"count": "count", "trail": "trail"},
			}
		}
		switch n.kind {
		case "work":
			b.Node(name, func(_ context.Context, st graph.State) (graph.Update, error) {
				return graph.Update{
					count.Set(count.Get(st) + n.add + item.Get(st)), trail.Set([]string{at}),
					graph.Messages.Add(say(core.Assistant, at)),
				}, nil
			})
		case "gate":
			b.Node(name, func(ctx context.Context, _ graph.State) (graph.Update, error) {
				if at == pause && !*asked {
					*asked = true
					return graph.Update{count.Set(-1)}, graph.Suspend(ctx, core.Descriptor{SignalID: "x"})
				}
				return nil, nil
			})
		case "sub":
			b.Subgraph(name, n.inside[0].build(t, at, pause, asked), in)
		case "branches":
			b.Branches(name, graph.Branches{Branches: []graph.Branch{
				{Name: "l", Graph: n.inside[0].build(t, at+"/l", pause, asked), Project: in},
				{Name: "r", Graph: n.inside[1].build(t, at+"/r", pause, asked)},
			}})
		case "fan":
			b.FanOut(name, graph.FanOut{
				Graph: n.inside[0].build(t, at, pause, asked), Items: "items", Item: "item",
				Outputs:     map[string]string{"results": "count"},
				Concurrency: n.add,
			})
		}
		if n.wrapped {
			b.Wrap(name, pass)
		}
		if i > 0 {
			b.Edge(fmt.Sprintf("n%d", i-1), name)
		}
	}
	last := fmt.Sprintf("n%d", len(s.nodes)-1)
	b.Node("loop", func(_ context.Context, st graph.State) (graph.Update, error) {
		return graph.Update{rounds.Set(rounds.Get(st) + 1)}, nil
	}).Edge(last, "loop").Route("loop", func(st graph.State) (string, error) {
		if rounds.Get(st) <= s.loops {
			return "n0", nil
		}
		return graph.END, nil
	})
	g, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// eventText is an event as it is compared: with its step where nothing runs beside it.
func eventText(t *rapid.T, e graph.Event) string {
	states := make([]map[string]json.RawMessage, 0, 2+len(e.Parents))
	for _, s := range append(slices.Clone(e.Parents), e.Pre, e.Post) {
		if s.IsZero() {
			states = append(states, nil)
			continue
		}
		values, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, values)
	}
	data, err := json.Marshal(states)
	if err != nil {
		t.Fatal(err)
	}
	step := fmt.Sprint(e.Step)
	index := ""
	if e.FanOutIndex != nil || e.Branch != "" {
		step = "beside others"
		if e.FanOutIndex != nil {
			index = fmt.Sprint(*e.FanOutIndex)
		}
	}
	return fmt.Sprintf("%s %s %s [%s %s] %d %v %s", strings.Join(e.Namespace, "/"), step, e.Phase, index, e.Branch,
		e.Attempt, e.Err, data)
}

// outcome is what a shape came to: its end, and its events but those of the attempt that paused.
type outcome struct {
	end     map[string]json.RawMessage
	inOrder []string // outside containers
	beside  []string // inside them, in no order
	history string
}

func (s shape) outcome(t *rapid.T, pause, session string) outcome {
	st := through{graph.NewMemory()}
	stores := graph.Stores{Sessions: st, Pauses: st}
	asked := false
	var out outcome
	skip := -1 // the step of the gate that paused; it is the same in both runs
	first := true
	hear := graph.Observer{On: func(_ context.Context, e graph.Event) error {
		text := eventText(t, e)
		if strings.Contains(text, "beside others") {
			out.beside = append(out.beside, text)
			return nil
		}
		if pause != "" && first && "/"+strings.Join(e.Namespace, "/") == strings.TrimPrefix(pause, "!") {
			if first = e.Phase == graph.PhaseStarted; first {
				skip = e.Step
			}
			return nil
		}
		out.inOrder = append(out.inOrder, text)
		return nil
	}}
	run := func(in graph.Invocation) graph.Result {
		in.Observers = []graph.Observer{hear}
		g := s.build(t, "", pause, &asked)
		res := g.Invoke(t.Context(), stores, in)
		g.Drain(t.Context())
		return res
	}
	res := run(graph.Invocation{ID: "inv", Session: core.SessionID(session)})
	if res.Status == graph.Suspended {
		res = run(graph.Invocation{Resume: res.Invocation})
	}
	if res.Status != graph.Completed {
		t.Fatalf("%s: %v", res.Status, res.Err)
	}
	if paused := pause != "" && pause[0] != '!'; paused != asked || pause != "" && skip < 0 {
		t.Fatalf("paused: %v, asked: %v, at step %d", paused, asked, skip)
	}
	var err error
	if out.end, err = res.State.Encode(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(out.beside)
	if rec, _ := st.Load(t.Context(), core.SessionID(session)); rec != nil {
		all, _ := rec.Messages.From(t.Context(), 0)
		data, _ := json.Marshal(all)
		out.history = string(data)
	}
	return out
}

// TestNestedSuspendAndResumeEqualsAnUninterruptedRun: wherever an invocation of nested graphs pauses, a fresh engine
// that resumes it from the store has the same result and reports the same events, except for the pause.
func TestNestedSuspendAndResumeEqualsAnUninterruptedRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawShape(t, 2)
		gates := s.gates("")
		if len(gates) == 0 {
			t.Skip("nothing can pause")
		}
		gate := rapid.SampledFrom(gates).Draw(t, "gate")
		session := rapid.SampledFrom([]string{"", "s"}).Draw(t, "session")
		straight := s.outcome(t, "!"+gate, session) // the mark: it is left out of the events, and does not pause
		resumed := s.outcome(t, gate, session)
		if !reflect.DeepEqual(straight, resumed) {
			t.Fatalf("straight on %+v\nresumed     %+v", straight, resumed)
		}
	})
}
