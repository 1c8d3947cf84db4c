package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"gatehouse/adapters/otel"
	"gatehouse/core/graph"
)

// telemetry is what a case told of itself: spans, where it asks for them, and log records.
type telemetry struct {
	exported *tracetest.InMemoryExporter
	log      *slog.Logger

	mu      sync.Mutex
	records []record
}

// record is a captured log line.
type record struct {
	body  string
	level string
	attrs map[string]any
}

// watch makes the case's logger and, where something asks for spans, its tracer.
func (w *world) watch(b *graph.Builder) {
	t := &telemetry{}
	t.log = slog.New(otel.LogHandler{Handler: capture{t}})
	w.told = t
	wants := w.c.mentions("span_tree") || w.c.mentions("otel_spans") || w.c.mentions("session_id_uniform_across_span_tree")
	for _, o := range peek(w.c, "observers").items() {
		wants = wants || peek(o, "behavior").text() == "otel"
	}
	if wants {
		t.exported = tracetest.NewInMemoryExporter()
		b.Trace(otel.NewTracer(trace.NewTracerProvider(trace.WithSyncer(t.exported)), graphVersion))
	}
}

// capture is a slog.Handler that keeps what it is given.
type capture struct{ t *telemetry }

func (capture) Enabled(context.Context, slog.Level) bool { return true }
func (c capture) WithAttrs([]slog.Attr) slog.Handler     { return c }
func (c capture) WithGroup(string) slog.Handler          { return c }

func (c capture) Handle(_ context.Context, r slog.Record) error {
	out := record{body: r.Message, level: r.Level.String(), attrs: map[string]any{}}
	r.Attrs(func(a slog.Attr) bool {
		out.attrs[a.Key] = plain(a.Value.Any())
		return true
	})
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.t.records = append(c.t.records, out)
	return nil
}

func (t *telemetry) marks() (spans, records int) {
	if t == nil {
		return 0, 0
	}
	if t.exported != nil {
		spans = len(t.exported.GetSpans())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return spans, len(t.records)
}

// span is a span with those inside it.
type span struct {
	name     string
	status   string
	why      string
	attrs    map[string]any
	links    int
	children []*span
}

// since are the spans that ended, and the records that were written, since a mark.
func (t *telemetry) since(spans, records int) ([]*span, []record) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	lines := slices.Clone(t.records[records:])
	t.mu.Unlock()
	if t.exported == nil {
		return nil, lines
	}
	return forest(t.exported.GetSpans()[spans:]), lines
}

// forest puts spans into the order in which they began, each inside its parent.
func forest(stubs tracetest.SpanStubs) []*span {
	stubs = slices.Clone(stubs)
	slices.SortStableFunc(stubs, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	known := map[string]*span{}
	for _, s := range stubs {
		out := &span{name: s.Name, status: statusWord(s.Status.Code), why: s.Status.Description, attrs: map[string]any{}, links: len(s.Links)}
		for _, a := range s.Attributes {
			out.attrs[string(a.Key)] = plain(a.Value.AsInterface())
		}
		known[s.SpanContext.SpanID().String()] = out
	}
	var roots []*span
	for _, s := range stubs {
		own := known[s.SpanContext.SpanID().String()]
		if parent := known[s.Parent.SpanID().String()]; parent != nil {
			parent.children = append(parent.children, own)
		} else {
			roots = append(roots, own)
		}
	}
	return roots
}

func statusWord(c codes.Code) string {
	return map[codes.Code]string{codes.Ok: "OK", codes.Error: "ERROR", codes.Unset: "UNSET"}[c]
}

func checkSpanTree(w *world, t *turn, v *doc) { w.spans(v, v.items(), t.spans) }

func checkOtelSpans(w *world, t *turn, v *doc) {
	v.all(func(_ string, d *doc) {
		if d.isMapping() {
			w.spans(d, []*doc{d}, t.spans)
			return
		}
		w.spans(d, d.items(), t.spans)
	})
}

func (w *world) spans(at *doc, want []*doc, got []*span) {
	if len(want) != len(got) {
		var names []string
		for _, s := range got {
			names = append(names, s.name)
		}
		w.fault(at, "there are %d spans (%s), not %d", len(got), strings.Join(names, ", "), len(want))
	}
	for i, d := range want {
		if i >= len(got) {
			d.value()
			continue
		}
		w.span(d, got[i])
	}
}

func (w *world) span(v *doc, s *span) {
	v.each(func(key string, d *doc) bool {
		switch key {
		case "name":
			w.is(d, s.name)
		case "status":
			w.status(d, s)
		case "status_description":
			w.is(d, s.why)
		case "attributes":
			if diff := w.match.diff(d.value(), plain(s.attrs), true); diff != "" {
				w.fault(d, "%s: %s", s.name, diff)
			}
		case "attributes_absent":
			w.absent(d, s.attrs)
		case "children":
			w.spans(d, d.items(), s.children)
		default:
			return false
		}
		return true
	})
}

func (w *world) status(d *doc, s *span) {
	if !d.isMapping() {
		w.is(d, s.status)
		return
	}
	d.each(func(key string, v *doc) bool {
		switch key {
		case "code":
			w.is(v, s.status)
		case "description":
			w.is(v, s.why)
		default:
			return false
		}
		return true
	})
}

func (w *world) absent(d *doc, attrs map[string]any) {
	for _, name := range d.items() {
		if v, there := attrs[name.text()]; there {
			w.fault(name, "it is there: %s", show(v))
		}
	}
}

func checkLogRecords(w *world, t *turn, v *doc) {
	want := v.items()
	if len(want) != len(t.lines) {
		w.fault(v, "there are %d records, not %d", len(t.lines), len(want))
	}
	for i, d := range want {
		if i >= len(t.lines) {
			d.value()
			continue
		}
		got := t.lines[i]
		d.each(func(key string, v *doc) bool {
			switch key {
			case "body", "message":
				w.is(v, got.body)
			case "level", "severity":
				w.is(v, got.level)
			case "attributes":
				if diff := w.match.diff(v.value(), plain(got.attrs), true); diff != "" {
					w.fault(v, "%s", diff)
				}
			case "attributes_absent":
				w.absent(v, got.attrs)
			default:
				return false
			}
			return true
		})
	}
}

func (w *world) logStep(d *doc) step {
	body, level := d.need("message").text(), slog.LevelInfo
	if l := d.get("level"); l != nil {
		name := strings.ToUpper(l.text())
		if name == "WARNING" {
			name = "WARN"
		}
		if err := level.UnmarshalText([]byte(name)); err != nil {
			l.malformed("unknown level %q", l.text())
		}
	}
	return func(ctx context.Context, _ graph.State, _ *graph.Update) error {
		w.told.log.Log(ctx, level, body)
		return nil
	}
}
