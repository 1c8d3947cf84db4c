package main

import (
	"context"
	"log/slog"
	"strings"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core/graph"
)

// trace makes the case's tracer if spans are needed.
func (r *runner) trace(b *graph.Builder) {
	wants := r.doc.Mentions("span_tree") || r.doc.Mentions("otel_spans") || r.doc.Mentions("session_id_uniform_across_span_tree")
	for _, behavior := range r.behaviors {
		wants = wants || behavior == tracing
	}
	if wants {
		b.Trace(r.recorder.Tracer(graphVersion))
	}
}

func checkSpanTree(r *runner, t *evidence.Turn, v *fixture.Node) {
	pairwise(r, v, t.Spans, "spans", r.span)
}

func checkOtelSpans(r *runner, t *evidence.Turn, v *fixture.Node) {
	v.All(func(observer string, d *fixture.Node) {
		switch {
		case r.behaviors[observer] != tracing:
			d.Malformed("no observer %q captures spans", observer)
		case !d.IsMapping():
			pairwise(r, d, t.Spans, "spans", r.span)
		case r.must(len(t.Spans) == 1, d, "there are %d spans, not 1", len(t.Spans)):
			r.span(d, t.Spans[0])
		}
	})
}

func (r *runner) span(v *fixture.Node, s *evidence.Span) {
	keys(v, map[string]func(*fixture.Node){
		"name":               func(d *fixture.Node) { r.is(d, s.Name) },
		"status":             func(d *fixture.Node) { r.status(d, s) },
		"status_description": func(d *fixture.Node) { r.is(d, s.Description) },
		"attributes":         func(d *fixture.Node) { r.includes(d, s.Attributes) },
		"attributes_absent":  func(d *fixture.Node) { r.absent(d, s.Attributes) },
		"children":           func(d *fixture.Node) { pairwise(r, d, s.Children, "spans", r.span) },
	})
}

func (r *runner) status(v *fixture.Node, s *evidence.Span) {
	if !v.IsMapping() {
		r.is(v, s.Status)
		return
	}
	keys(v, map[string]func(*fixture.Node){
		"code":        func(d *fixture.Node) { r.is(d, s.Status) },
		"description": func(d *fixture.Node) { r.is(d, s.Description) },
	})
}

func (r *runner) absent(d *fixture.Node, attributes map[string]any) {
	for _, name := range d.Items() {
		v, there := attributes[name.Text()]
		r.must(!there, name, "it is there: %s", fixture.Show(v))
	}
}

func checkLogRecords(r *runner, t *evidence.Turn, v *fixture.Node) {
	pairwise(r, v, t.Logs, "records", r.logRecord)
}

func (r *runner) logRecord(v *fixture.Node, got evidence.LogLine) {
	body := func(d *fixture.Node) { r.is(d, got.Body) }
	level := func(d *fixture.Node) { r.is(d, got.Level) }
	keys(v, map[string]func(*fixture.Node){
		"body": body, "message": body, "level": level, "severity": level,
		"attributes":        func(d *fixture.Node) { r.includes(d, got.Attributes) },
		"attributes_absent": func(d *fixture.Node) { r.absent(d, got.Attributes) },
	})
}

func (r *runner) logStep(d *fixture.Node) step {
	body, level := d.Need("message").Text(), slog.LevelInfo
	if l := d.Get("level"); l != nil {
		name := strings.ToUpper(l.Text())
		if name == "WARNING" {
			name = "WARN"
		}
		if err := level.UnmarshalText([]byte(name)); err != nil {
			l.Malformed("unknown level %q", l.Text())
		}
	}
	return func(ctx context.Context, _ graph.State, _ *graph.Update) error {
		r.recorder.Log().Log(ctx, level, body)
		return nil
	}
}
