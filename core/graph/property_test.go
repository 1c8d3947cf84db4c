package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// plan is a random graph: nodes that count, leave a trace and talk, some of which suspend first, joined by random edges
// that only lead onwards or, a few times, back.
type plan struct {
	nodes []planned
}

type planned struct {
	add     int
	talks   bool
	pauses  bool
	back    int // to which node it leads back while the count is small
	forward int // how far it leads on
}

func drawPlan(t *rapid.T) plan {
	n := rapid.IntRange(1, 8).Draw(t, "nodes")
	var p plan
	for i := range n {
		p.nodes = append(p.nodes, planned{
			add: rapid.IntRange(1, 3).Draw(t, "add"), talks: rapid.Bool().Draw(t, "talks"),
			pauses: rapid.Bool().Draw(t, "pauses"),
			back:   rapid.IntRange(0, i).Draw(t, "back"), forward: rapid.IntRange(1, 3).Draw(t, "forward"),
		})
	}
	return p
}

// build makes the graph; paused: its suspensions are real.
func (p plan) build(t *rapid.T, paused bool) *graph.Graph {
	b := graph.New("random", "1").Fields(count, trail, graph.Messages).Entry("n0")
	for i, n := range p.nodes {
		name, gate := fmt.Sprintf("n%d", i), fmt.Sprintf("g%d", i)
		b.Node(name, func(context.Context, graph.State) (graph.Update, error) { return nil, nil })
		b.Node(gate, func(ctx context.Context, _ graph.State) (graph.Update, error) {
			if n.pauses && paused {
				return nil, graph.Suspend(ctx, core.Descriptor{SignalID: core.SignalID(gate)})
			}
			return nil, nil
		})
		b.Node("w"+name, func(_ context.Context, s graph.State) (graph.Update, error) {
			u := graph.Update{count.Set(count.Get(s) + n.add), trail.Set([]string{name})}
			if n.talks {
				u = append(u, graph.Messages.Add(say(core.Assistant, fmt.Sprintf("%s at %d", name, count.Get(s)))))
			}
			return u, nil
		})
		b.Edge(name, gate).Edge(gate, "w"+name)
		b.Route("w"+name, func(s graph.State) (string, error) {
			to := i + n.forward
			if count.Get(s) < 12 {
				to = n.back
			}
			if to >= len(p.nodes) {
				return graph.END, nil
			}
			return fmt.Sprintf("n%d", to), nil
		})
	}
	g, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// through passes paused records through their JSON, as a database would.
type through struct{ *graph.Memory }

func (s through) Paused(ctx context.Context, id core.InvocationID) (*core.PausedRecord, error) {
	rec, err := s.Memory.Paused(ctx, id)
	if rec == nil || err != nil {
		return nil, err
	}
	data, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	var out core.PausedRecord
	return &out, json.Unmarshal(data, &out)
}

func TestSuspendAndResumeEqualsAnUninterruptedRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		session := core.SessionID(rapid.SampledFrom([]string{"", "s"}).Draw(t, "session"))
		ends := [2]map[string]json.RawMessage{}
		histories := [2]string{}
		for i, paused := range []bool{false, true} {
			st := through{graph.NewMemory()}
			stores := graph.Stores{Sessions: st, Pauses: st}
			res := p.build(t, paused).Invoke(t.Context(), stores,
				graph.Invocation{ID: "inv", Session: session, Initial: tell("go")})
			for legs := 0; res.Status == graph.Suspended; legs++ {
				// another process: nothing of the graph before is left
				res = p.build(t, paused).Invoke(t.Context(), stores, graph.Invocation{Resume: res.Invocation})
				if legs > 1000 {
					t.Fatal("it never ends")
				}
			}
			if res.Status != graph.Completed {
				t.Fatalf("%s: %v", res.Status, res.Err)
			}
			var err error
			if ends[i], err = res.State.Encode(); err != nil {
				t.Fatal(err)
			}
			if rec, _ := st.Load(t.Context(), session); rec != nil {
				all, _ := rec.Messages.From(t.Context(), 0)
				data, _ := json.Marshal(all)
				histories[i] = string(data)
			}
		}
		if !reflect.DeepEqual(ends[0], ends[1]) {
			t.Fatalf("straight on %s\nresumed     %s", ends[0], ends[1])
		}
		if histories[0] != histories[1] || (histories[0] != "") != (session != "") {
			t.Fatalf("straight on %s\nresumed     %s", histories[0], histories[1])
		}
	})
}

func TestAppendKeepsOrderAndNeverAliases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SliceOf(rapid.String()), 1, 6).Draw(t, "parts")
		i, step := 0, graph.Field("step", graph.Replace[int]())
		var whole []string
		var states []graph.State
		g, err := graph.New("g", "1").Fields(trail, step).
			Node("a", func(_ context.Context, s graph.State) (graph.Update, error) {
				states = append(states, s)
				i++
				return graph.Update{trail.Set(parts[i-1])}, nil
			}).Entry("a").
			Route("a", func(graph.State) (string, error) {
				if i == len(parts) {
					return graph.END, nil
				}
				return "a", nil
			}).Compile()
		if err != nil {
			t.Fatal(err)
		}
		res := g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{})
		for n, s := range states {
			if got := trail.Get(s); len(got) != len(whole) || len(got) > 0 && !reflect.DeepEqual(got, whole) {
				t.Fatalf("before step %d: %q, want %q", n, got, whole)
			}
			whole = append(whole, parts[n]...)
		}
		if got := trail.Get(res.State); len(got) != len(whole) || len(got) > 0 && !reflect.DeepEqual(got, whole) {
			t.Fatalf("at the end: %q, want %q", got, whole)
		}
	})
}

// FuzzPayload: whatever bytes a signal brings, the resume takes them whole or leaves the pause as it was.
func FuzzPayload(f *testing.F) {
	f.Add("approved", []byte(`true`))
	f.Add("trail", []byte(`["a"]`))
	f.Add("messages", []byte(`[{"role":"user","content":"x"}]`))
	f.Add("list", []byte(`[[1,{"a":null}]]`))
	f.Add("count", []byte(`{"a":1,"a":2}`))
	list := graph.Typed("list", graph.ListType(graph.ListType(graph.AnyType())), graph.Untyped(graph.Append[any]()))
	b := graph.New("g", "1").Fields(approved, trail, count, list, graph.Messages).Node("a",
		pause("x")).Entry("a").Edge("a", graph.END)
	g, err := b.Compile()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, field string, raw []byte) {
		m := graph.NewMemory()
		st := graph.Stores{Sessions: m, Pauses: m}
		for _, session := range []core.SessionID{"", "s"} {
			first := want(t, g.Invoke(t.Context(), st, graph.Invocation{Session: session}), graph.Suspended)
			res := g.Invoke(t.Context(), st,
				graph.Invocation{Resume: first.Invocation, Payload: map[string]json.RawMessage{field: raw}})
			rec, _ := m.Paused(t.Context(), first.Invocation)
			switch {
			case res.Status == graph.Completed && rec == nil:
				if _, err := res.State.Encode(); err != nil {
					t.Fatal(err)
				}
			case core.CategoryOf(res.Err) == core.SuspensionPayloadInvalid && rec != nil:
			default:
				t.Fatalf("%s %v, the record is there: %v", res.Status, res.Err, rec != nil)
			}
		}
	})
}
