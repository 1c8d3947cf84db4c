package otel

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/retry"
)

// Export sends the traces of a process to a collector. A nil Export sends none and can be used like any other.
type Export struct {
	provider *sdk.TracerProvider
	tracer   *Tracer
}

// Open makes the configured Export; nil if none is configured. version is the program's. It does not connect yet: spans
// are collected, sent in the background, and dropped if they can't be sent or are too many. The log gets one line when
// sending fails and one when it works again.
func Open(ctx context.Context, c Config, version string, log *slog.Logger) (*Export, error) {
	yes, refused := c.wanted()
	if refused != nil {
		log.Warn("no traces are exported", "category", core.Unsupported, "err", refused)
	}
	if !yes {
		return nil, nil
	}
	var opts []otlptracehttp.Option
	if to := c.url(); to != "" {
		opts = append(opts, otlptracehttp.WithEndpointURL(to))
	}
	sent, err := headers(cmp.Or(c.TracesHeaders, c.Headers))
	if err == nil && len(sent) > 0 {
		opts = append(opts, otlptracehttp.WithHeaders(sent))
	}
	exporter, err := otlptracehttp.New(ctx, opts...)
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "Can't set up the export of traces from the OTEL_EXPORTER_OTLP_* "+
			"variables.")
	}
	about, err := describe(ctx, c, version)
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "Can't read OTEL_RESOURCE_ATTRIBUTES.")
	}
	return newExport(exporter, about, version, log, c.Content), nil
}

func newExport(to sdk.SpanExporter, about *resource.Resource, version string, log *slog.Logger, content bool) *Export {
	p := sdk.NewTracerProvider(
		sdk.WithBatcher(&loggedExporter{SpanExporter: to, errors: retry.NewLog(log, "exporting traces")}),
		sdk.WithResource(about))
	var opts []Option
	if content {
		opts = append(opts, WithContent)
	}
	return &Export{provider: p, tracer: NewTracer(p, version, opts...)}
}

// describe returns the resource of the traces. Values from the environment take precedence over ours.
func describe(ctx context.Context, c Config, version string) (*resource.Resource, error) {
	ours := []attribute.KeyValue{
		attribute.String("service.name", implementation), attribute.String("service.version", version),
	}
	opts := []resource.Option{resource.WithAttributes(ours...), resource.WithTelemetrySDK(), resource.WithFromEnv()}
	if c.ServiceName != "" {
		opts = append(opts, resource.WithAttributes(attribute.String("service.name", c.ServiceName)))
	}
	return resource.New(ctx, opts...)
}

// Tracer returns the tracer for graphs; nil if nothing is exported.
func (e *Export) Tracer() graph.Tracer {
	if e == nil {
		return nil
	}
	return e.tracer
}

// Close sends the remaining spans and ends the export. It returns when that is done or ctx ends; spans that were not
// sent are lost.
func (e *Export) Close(ctx context.Context) error {
	if e == nil {
		return nil
	}
	if err := e.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("sending the last traces: %w", err)
	}
	return nil
}

// loggedExporter logs an exporter's errors instead of returning them to the SDK, which would pass them to a global
// handler. The SDK calls it from one goroutine at a time.
type loggedExporter struct {
	sdk.SpanExporter
	errors *retry.Log
}

// ExportSpans sends spans. It logs when sending begins to fail and when it works again.
func (l *loggedExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := l.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		err = core.Wrap(core.DeliveryFailed, err, "The collector did not accept %d spans.", len(spans))
	}
	l.errors.Report(err)
	return nil
}
