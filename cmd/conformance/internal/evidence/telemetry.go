package evidence

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"gatehouse/adapters/otel"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core/graph"
)

// Telemetry captures a case's log lines and, if it is traced, its spans.
type Telemetry struct {
	Log *slog.Logger

	exported *tracetest.InMemoryExporter
	mu       sync.Mutex
	lines    []LogLine
}

// NewTelemetry returns a Telemetry with the case's logger.
func NewTelemetry() *Telemetry {
	t := &Telemetry{}
	t.Log = slog.New(otel.LogHandler{Handler: capture{t}})
	return t
}

// Tracer returns the case's tracer; spans are captured from then on.
func (t *Telemetry) Tracer(version string) graph.Tracer {
	t.exported = tracetest.NewInMemoryExporter()
	return otel.NewTracer(trace.NewTracerProvider(trace.WithSyncer(t.exported)), version)
}

// LogLine is a captured log record.
type LogLine struct {
	Body       string
	Level      string
	Attributes map[string]any
}

// capture is a slog.Handler that keeps all records.
type capture struct{ t *Telemetry }

func (capture) Enabled(context.Context, slog.Level) bool { return true }
func (c capture) WithAttrs([]slog.Attr) slog.Handler     { return c }
func (c capture) WithGroup(string) slog.Handler          { return c }

func (c capture) Handle(_ context.Context, r slog.Record) error {
	out := LogLine{Body: r.Message, Level: r.Level.String(), Attributes: map[string]any{}}
	r.Attrs(func(a slog.Attr) bool {
		out.Attributes[a.Key] = fixture.Plain(a.Value.Any())
		return true
	})
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.t.lines = append(c.t.lines, out)
	return nil
}

// Len returns the numbers of spans and log lines.
func (t *Telemetry) Len() (spans, lines int) {
	if t.exported != nil {
		spans = len(t.exported.GetSpans())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return spans, len(t.lines)
}

// From returns the spans that ended, as trees, and the lines that were written, after the given counts.
func (t *Telemetry) From(spans, lines int) ([]*Span, []LogLine) {
	t.mu.Lock()
	written := slices.Clone(t.lines[lines:])
	t.mu.Unlock()
	if t.exported == nil {
		return nil, written
	}
	return trees(t.exported.GetSpans()[spans:]), written
}

// Span is a span with its children.
type Span struct {
	Name        string
	Status      string
	Description string
	Attributes  map[string]any
	Children    []*Span
}

// trees sorts spans by their start, each under its parent.
func trees(stubs tracetest.SpanStubs) []*Span {
	stubs = slices.Clone(stubs)
	slices.SortStableFunc(stubs, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	known := map[string]*Span{}
	for _, s := range stubs {
		out := &Span{Name: s.Name, Status: statusWord(s.Status.Code), Description: s.Status.Description, Attributes: map[string]any{}}
		for _, a := range s.Attributes {
			out.Attributes[string(a.Key)] = fixture.Plain(a.Value.AsInterface())
		}
		known[s.SpanContext.SpanID().String()] = out
	}
	var roots []*Span
	for _, s := range stubs {
		own := known[s.SpanContext.SpanID().String()]
		if parent := known[s.Parent.SpanID().String()]; parent != nil {
			parent.Children = append(parent.Children, own)
		} else {
			roots = append(roots, own)
		}
	}
	return roots
}

func statusWord(c codes.Code) string {
	return map[codes.Code]string{codes.Ok: "OK", codes.Error: "ERROR", codes.Unset: "UNSET"}[c]
}
