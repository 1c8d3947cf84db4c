package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"gatehouse/core"
	"gatehouse/core/graph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	count    = graph.Field("count", graph.Replace[int]())
	trail    = graph.Field("trail", graph.Append[string]())
	approved = graph.Field("approved", graph.Replace[bool]())
)

func say(role core.Role, text string) core.Message {
	return core.Message{Role: role, Content: core.Text(text)}
}

// leave returns a node that leaves its name in the trail.
func leave(name string) graph.Node {
	return func(context.Context, graph.State) (graph.Update, error) {
		return graph.Update{trail.Set([]string{name})}, nil
	}
}

func pause(signal string, opts ...graph.SuspendOption) graph.Node {
	return func(ctx context.Context, _ graph.State) (graph.Update, error) {
		return nil, graph.Suspend(ctx, core.Descriptor{SignalID: core.SignalID(signal)}, opts...)
	}
}

func compile(t *testing.T, b *graph.Builder) *graph.Graph {
	t.Helper()
	g, err := b.Compile()
	if err != nil {
		t.Fatalf("compiling: %v", err)
	}
	return g
}

// line is a graph of nodes one after the other.
func line(nodes ...graph.Node) *graph.Builder {
	b := graph.New("line", "1").Fields(count, trail, approved)
	names := []string{"a", "b", "c", "d", "e"}[:len(nodes)]
	b.Entry("a")
	for i, n := range nodes {
		b.Node(names[i], n)
		if i > 0 {
			b.Edge(names[i-1], names[i])
		}
	}
	return b.Edge(names[len(names)-1], graph.END)
}

func want(t *testing.T, res graph.Result, status graph.Status) graph.Result {
	t.Helper()
	if res.Status != status {
		t.Fatalf("the invocation is %s (%v), want %s", res.Status, res.Err, status)
	}
	return res
}

func wantCategory(t *testing.T, err error, c core.Category) {
	t.Helper()
	if got := core.CategoryOf(err); got != c {
		t.Fatalf("category %q (%v), want %q", got, err, c)
	}
}

func payload(pairs map[string]string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for k, v := range pairs {
		out[k] = json.RawMessage(v)
	}
	return out
}

func texts(t *testing.T, h core.History) []string {
	t.Helper()
	all, err := h.From(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, m := range all {
		out = append(out, m.Content.String())
	}
	return out
}

// broken is a store whose operations can be made to fail, and which counts them.
type broken struct {
	*graph.Memory
	load, save, pause error
	calls             []string
}

func newBroken() *broken { return &broken{Memory: graph.NewMemory()} }

func (b *broken) Load(ctx context.Context, id core.SessionID) (*core.SessionRecord, error) {
	b.calls = append(b.calls, "load")
	if b.load != nil {
		return nil, b.load
	}
	return b.Memory.Load(ctx, id)
}

func (b *broken) Save(ctx context.Context, rec *core.SessionRecord, o core.SaveOptions) error {
	if o.Explicit {
		b.calls = append(b.calls, "explicit")
	} else {
		b.calls = append(b.calls, "save")
	}
	if b.save != nil {
		return b.save
	}
	return b.Memory.Save(ctx, rec, o)
}

func (b *broken) Pause(ctx context.Context, rec *core.PausedRecord, s *core.SessionRecord) error {
	b.calls = append(b.calls, "pause")
	if b.pause != nil {
		return b.pause
	}
	return b.Memory.Pause(ctx, rec, s)
}

func (b *broken) stores() graph.Stores { return graph.Stores{Sessions: b, Pauses: b} }

var errPlain = errors.New("boom")
