package otel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"gatehouse/adapters/otel"
	"gatehouse/core"
	"gatehouse/core/graph"
)

var trail = graph.Field("trail", graph.Append[string]())

func setup(opts ...otel.Option) (*otel.Tracer, *tracetest.InMemoryExporter) {
	exported := tracetest.NewInMemoryExporter()
	return otel.NewTracer(trace.NewTracerProvider(trace.WithSyncer(exported)), "test", opts...), exported
}

func compile(t *testing.T, b *graph.Builder) *graph.Graph {
	t.Helper()
	g, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func one(n graph.Node) *graph.Builder {
	return graph.New("g", "1").Fields(trail).Entry("n").Node("n", n).Edge("n", graph.END)
}

func nothing(context.Context, graph.State) (graph.Update, error) { return nil, nil }

func attrs(s tracetest.SpanStub) map[string]any {
	out := map[string]any{}
	for _, a := range s.Attributes {
		out[string(a.Key)] = a.Value.AsInterface()
	}
	return out
}

// tree returns the spans as "parent/name".
func tree(spans tracetest.SpanStubs) []string {
	names := map[string]tracetest.SpanStub{}
	for _, s := range spans {
		names[s.SpanContext.SpanID().String()] = s
	}
	var out []string
	for _, s := range spans {
		path := s.Name
		for p, ok := names[s.Parent.SpanID().String()]; ok; p, ok = names[p.Parent.SpanID().String()] {
			path = p.Name + "/" + path
		}
		out = append(out, strings.TrimPrefix(path, "openarmature."))
	}
	slices.Sort(out)
	return out
}

func named(t *testing.T, spans tracetest.SpanStubs, name string) tracetest.SpanStub {
	t.Helper()
	for _, s := range spans {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no span %q: %v", name, tree(spans))
	return tracetest.SpanStub{}
}

func TestSpanTree(t *testing.T) {
	tr, exported := setup()
	sub := compile(t, one(nothing))
	items := graph.Field("items", graph.Replace[[]int]()).Default([]int{1, 2})
	leaf := compile(t,
		graph.New("leaf", "1").Fields(graph.Field("item", graph.Replace[int]())).Entry("i").Node("i", nothing).Edge("i",
			graph.END))
	g := compile(t, graph.New("g", "1").Fields(trail, items).Entry("a").Node("a", nothing).Subgraph("s", sub).
		FanOut("f", graph.FanOut{Graph: leaf, Items: "items", Item: "item"}).
		Branches("b", graph.Branches{Branches: []graph.Branch{{Name: "left", Graph: sub}}}).
		Edge("a", "s").Edge("s", "f").Edge("f", "b").Edge("b", graph.END).Trace(tr))
	res := g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{ID: "inv", Correlation: "cor", Session: "ses"})
	if res.Status != graph.Completed {
		t.Fatal(res.Err)
	}
	spans := exported.GetSpans()
	expected := []string{
		"invocation", "invocation/a", "invocation/b", "invocation/b/left", "invocation/b/left/n", "invocation/f",
		"invocation/f/f", "invocation/f/f",
		"invocation/f/f/i", "invocation/f/f/i", "invocation/s", "invocation/s/n",
	}
	if got := tree(spans); !slices.Equal(got, expected) {
		t.Errorf("spans %v", got)
	}
	for _, s := range spans {
		if a := attrs(s); a["openarmature.correlation_id"] != "cor" || a["openarmature.session_id"] != "ses" ||
			s.Status.Code != codes.Ok {
			t.Errorf("%s: %v %v", s.Name, s.Status, a)
		}
	}
	root := attrs(named(t, spans, "openarmature.invocation"))
	for k, v := range map[string]any{
		"openarmature.invocation_id": "inv", "openarmature.graph.entry_node": "a",
		"openarmature.graph.spec_version":  otel.SpecVersion,
		"openarmature.implementation.name": "gatehouse", "openarmature.implementation.version": "test",
	} {
		if root[k] != v {
			t.Errorf("%s is %v", k, root[k])
		}
	}
	inner := attrs(named(t, spans, "i"))
	if ns := fmt.Sprint(inner["openarmature.node.namespace"]); inner["openarmature.node.name"] != "i" ||
		ns != "[f i]" || inner["openarmature.node.fan_out_index"] == nil ||
		inner["openarmature.node.attempt_index"] != int64(0) || inner["openarmature.node.step"] == nil {
		t.Errorf("inner span: %v", inner)
	}
}

func TestFailedSpan(t *testing.T) {
	tr, exported := setup()
	g := compile(t, one(func(context.Context, graph.State) (graph.Update, error) {
		return nil, core.Wrap(core.ProviderRateLimit, errors.New("token xyz"), "slow down")
	}).Trace(tr))
	g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{})
	for _, s := range exported.GetSpans() {
		a := attrs(s)
		if s.Status.Code != codes.Error || s.Status.Description != "provider_rate_limit" ||
			a["openarmature.error.category"] != "provider_rate_limit" || len(s.Events) != 1 {
			t.Errorf("%s: %v %v %v", s.Name, s.Status, a, s.Events)
		}
		if _, has := a["openarmature.session_id"]; has || strings.Contains(fmt.Sprint(s.Events), "xyz") {
			t.Errorf("%s shows too much: %v %v", s.Name, a, s.Events)
		}
	}
}

// TestSpansCarryNoContent: without the option no span has a text or an argument; with it they have both, and no secret.
func TestSpansCarryNoContent(t *testing.T) {
	asks := core.ApprovalRequest{
		Call: core.Call{
			Tool: "note.add", Arguments: json.RawMessage(`{"text":"bananas","token":"hunter2"}`), Digest: "d1g35t",
			Summary: "Add bananas.", Risk: core.Dangerous,
		},
		Rule: core.Rule{Name: "approvers", Verdict: core.VerdictAsk, Why: "because bananas"},
	}
	for name, node := range map[string]graph.Node{
		"suspended": func(ctx context.Context, _ graph.State) (graph.Update, error) {
			return nil,
				graph.Suspend(ctx,
					core.Descriptor{
						SignalID: "sig", Metadata: map[string]any{"said": "bananas", "n": 7, "token": "hunter2"},
						Approval: &asks,
					})
		},
		"failed": func(context.Context, graph.State) (graph.Update, error) {
			return nil, core.Errorf(core.ToolFailed, "bananas are out, Bearer hunter2hunter2hunter2")
		},
	} {
		tr, exported := setup()
		compile(t, one(node).Trace(tr)).Invoke(t.Context(), graph.Stores{}, graph.Invocation{})
		text := fmt.Sprintf("%+v", exported.GetSpans())
		if strings.Contains(text, "bananas") || strings.Contains(text, "hunter2") || strings.Contains(text, "d1g35t") {
			t.Errorf("%s: a span has content: %s", name, text)
		}
		a := attrs(named(t, exported.GetSpans(), "n"))
		want := map[string]any{"openarmature.error.category": "tool_failed"}
		if name == "suspended" {
			want = map[string]any{
				"openarmature.suspension.signal_id": "sig", "openarmature.suspension.approval.call.tool": "note.add",
				"openarmature.suspension.approval.call.risk":            "dangerous",
				"openarmature.suspension.approval.call.arguments_bytes": int64(len(asks.Call.Arguments)),
				"openarmature.suspension.approval.call.summary_bytes":   int64(12),
				"openarmature.suspension.approval.rule.verdict":         "ask",
				"openarmature.suspension.metadata_bytes":                int64(42),
			}
		}
		for k, v := range want {
			if a[k] != v {
				t.Errorf("%s: %s is %v, want %v", name, k, a[k], v)
			}
		}

		tr, exported = setup(otel.WithContent)
		compile(t, one(node).Trace(tr)).Invoke(t.Context(), graph.Stores{}, graph.Invocation{})
		if text := fmt.Sprintf("%+v", exported.GetSpans()); !strings.Contains(text, "bananas") ||
			strings.Contains(text, "hunter2") {
			t.Errorf("%s, with content: %s", name, text)
		}
	}
}

func TestSpansDoNotShowWhatTheSchemaHides(t *testing.T) {
	asks := core.ApprovalRequest{Call: core.Call{
		Tool: "vault", Summary: "Store it.",
		Arguments: json.RawMessage(`{"pin":471147,"user":{"phrase":"open the barn door","name":"ann"}}`),
		Secret:    []string{"/pin", "/user/phrase"},
	}}
	for _, content := range []bool{false, true} {
		tr, exported := setup()
		if content {
			tr, exported = setup(otel.WithContent)
		}
		compile(t, one(func(ctx context.Context, _ graph.State) (graph.Update, error) {
			return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "sig", Approval: &asks})
		}).Trace(tr)).Invoke(t.Context(), graph.Stores{}, graph.Invocation{})
		text := fmt.Sprintf("%+v", exported.GetSpans())
		if strings.Contains(text, "471147") || strings.Contains(text, "barn") ||
			content != strings.Contains(text, "6 characters hidden") {
			t.Errorf("with content %v: %s", content, text)
		}
	}
}

func TestSuspendedAndResumedSpans(t *testing.T) {
	tr, exported := setup(otel.WithContent)
	sub := compile(t, one(func(ctx context.Context, _ graph.State) (graph.Update, error) {
		return nil,
			graph.Suspend(ctx,
				core.Descriptor{
					SignalID: "sig",
					Metadata: map[string]any{
						"kind": "k", "n": 2, "deep": map[string]any{"x": true, "token": "hunter2"},
						"key": "sk-0123456789abcdef0123456789abcdef", "half": 0.5, "list": []any{1},
					},
				})
	}))
	g := compile(t, graph.New("g", "1").Fields(trail).Entry("s").Subgraph("s", sub).Edge("s", graph.END).Trace(tr))
	res := g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{})
	spans := exported.GetSpans()
	for _, s := range spans {
		a := attrs(s)
		_, has := a["openarmature.suspension.signal_id"]
		if s.Status.Code != codes.Ok || a["openarmature.outcome"] != "suspended" || has != (s.Name == "n") {
			t.Errorf("%s: %v %v", s.Name, s.Status, a)
		}
	}
	a := attrs(named(t, spans, "n"))
	if a["openarmature.suspension.metadata.kind"] != "k" || a["openarmature.suspension.metadata.n"] != int64(2) ||
		a["openarmature.suspension.metadata.deep.x"] != true ||
		a["openarmature.suspension.metadata.half"] != 0.5 {
		t.Errorf("metadata %v", a)
	}
	if a["openarmature.suspension.metadata.deep.token"] != "•••••• (7 characters hidden)" ||
		a["openarmature.suspension.metadata.key"] != "•••••• (35 characters hidden)" {
		t.Errorf("secrets are shown: %v", a)
	}
	paused := named(t, spans, "openarmature.invocation")
	exported.Reset()
	if res = g.Invoke(t.Context(), graph.Stores{},
		graph.Invocation{Resume: res.Invocation}); res.Status != graph.Completed {
		t.Fatal(res.Err)
	}
	again := named(t, exported.GetSpans(), "openarmature.invocation")
	if len(again.Links) != 1 || again.Links[0].SpanContext.SpanID() != paused.SpanContext.SpanID() ||
		attrs(again)["openarmature.invocation_id"] != attrs(paused)["openarmature.invocation_id"] ||
		attrs(again)["openarmature.outcome"] != nil {
		t.Errorf("links %v, attributes %v", again.Links, attrs(again))
	}
}

func TestLogLinesHaveTheIDsOfTheirSpans(t *testing.T) {
	tr, exported := setup()
	var out bytes.Buffer
	log := slog.New(otel.LogHandler{Handler: slog.NewJSONHandler(&out, nil)}).With("k", "v")
	g := compile(t, one(func(ctx context.Context, _ graph.State) (graph.Update, error) {
		log.InfoContext(ctx, "hello")
		return nil, nil
	}).Trace(tr))
	g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Session: "s", Correlation: "c"})
	log.Info("outside")
	var lines []map[string]any
	for dec := json.NewDecoder(&out); dec.More(); {
		var l map[string]any
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	span := named(t, exported.GetSpans(), "n").SpanContext
	if l := lines[0]; l["trace_id"] != span.TraceID().String() || l["span_id"] != span.SpanID().String() ||
		l["k"] != "v" ||
		l["openarmature.session_id"] != "s" || l["openarmature.correlation_id"] != "c" || l["session"] != "s" ||
		l["invocation"] != l["openarmature.invocation_id"] {
		t.Errorf("line %v", l)
	}
	if l := lines[1]; l["trace_id"] != nil || l["openarmature.correlation_id"] != nil {
		t.Errorf("outside: %v", l)
	}
}
