package metrics

import (
	"context"
	"time"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/llm"
)

// result is the label of how a call ended.
func result(err error) string {
	if err == nil {
		return "ok"
	}
	return string(core.CategoryOf(err))
}

// Model counts a request to a model.
func (m *Metrics) Model(name string, r llm.Response, err error, took time.Duration) {
	m.models.WithLabelValues(name, result(err)).Inc()
	m.model.WithLabelValues(name).Observe(took.Seconds())
	for kind, n := range map[string]*int64{
		"in": r.Usage.Prompt, "cached": r.Usage.Cached, "out": r.Usage.Completion,
	} {
		if n != nil && err == nil {
			m.tokens.WithLabelValues(name, kind).Add(float64(*n))
		}
	}
}

// Tracer counts the calls of tools, and hands each span on; next may be nil.
func (m *Metrics) Tracer(next graph.Tracer) graph.Tracer { return tracer{m, next} }

type tracer struct {
	metrics *Metrics
	next    graph.Tracer // nil: none
}

// Start begins a span.
func (t tracer) Start(ctx context.Context, s graph.Span) (context.Context, func(graph.SpanEnd)) {
	end := func(graph.SpanEnd) {}
	if t.next != nil {
		ctx, end = t.next.Start(ctx, s)
	}
	if s.Kind != graph.SpanTool {
		return ctx, end
	}
	began := time.Now()
	return ctx, func(e graph.SpanEnd) {
		t.metrics.toolCalled(s.Name, e, time.Since(began))
		end(e)
	}
}

// SpanContext is the next tracer's.
func (t tracer) SpanContext(ctx context.Context) string {
	if t.next == nil {
		return ""
	}
	return t.next.SpanContext(ctx)
}

func (m *Metrics) toolCalled(name string, e graph.SpanEnd, took time.Duration) {
	how := result(e.Err)
	if e.Suspended != nil {
		how = "suspended"
	}
	m.tools.WithLabelValues(name, how).Inc()
	m.tool.WithLabelValues(name).Observe(took.Seconds())
}
