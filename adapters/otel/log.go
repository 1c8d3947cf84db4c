package otel

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"gatehouse/core/graph"
)

// LogHandler adds ids to the records that are logged inside an invocation: trace_id and span_id if there is a span, and
// the invocation's ids twice, under their names in spans, as the specification requires (§7), and as session and
// invocation, the keys of the program's other log lines, so that one search finds them all. It needs the invocation's
// context (slog's …Context functions).
type LogHandler struct{ slog.Handler }

// Handle adds the ids.
func (h LogHandler) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	if i, ok := graph.InvocationFrom(ctx); ok {
		r = r.Clone()
		r.AddAttrs(slog.String("invocation", string(i.Invocation)),
			slog.String("openarmature.invocation_id", string(i.Invocation)),
			slog.String("openarmature.correlation_id", i.Correlation))
		if i.Session != "" {
			r.AddAttrs(slog.String("session", string(i.Session)),
				slog.String("openarmature.session_id", string(i.Session)))
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the ids in the derived handler.
func (h LogHandler) WithAttrs(a []slog.Attr) slog.Handler { return LogHandler{h.Handler.WithAttrs(a)} }

// WithGroup keeps the ids in the derived handler.
func (h LogHandler) WithGroup(name string) slog.Handler { return LogHandler{h.Handler.WithGroup(name)} }
