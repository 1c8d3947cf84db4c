package otel

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"gatehouse/core/graph"
)

// LogHandler adds to what is logged inside an invocation where it belongs: trace_id and span_id, where there is a span, and the
// invocation's ids twice, under their names in spans, which the specification asks for (§7), and as session and invocation, the keys
// of all other lines of the program, so that one search finds them all. It needs the invocation's context (slog's …Context
// functions).
type LogHandler struct{ slog.Handler }

// Handle adds the ids.
func (h LogHandler) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	if i, ok := graph.InvocationFrom(ctx); ok {
		r = r.Clone()
		r.AddAttrs(slog.String("invocation", string(i.Invocation)), slog.String("openarmature.invocation_id", string(i.Invocation)),
			slog.String("openarmature.correlation_id", i.Correlation))
		if i.Session != "" {
			r.AddAttrs(slog.String("session", string(i.Session)), slog.String("openarmature.session_id", string(i.Session)))
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the handler around the one that it gives.
func (h LogHandler) WithAttrs(a []slog.Attr) slog.Handler { return LogHandler{h.Handler.WithAttrs(a)} }

// WithGroup keeps the handler around the one that it gives.
func (h LogHandler) WithGroup(name string) slog.Handler { return LogHandler{h.Handler.WithGroup(name)} }
