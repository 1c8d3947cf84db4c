package otel

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// Export is the traces of a process on their way to a collector. The nil Export is that of a process which exports none; it can be
// used like any other.
type Export struct {
	provider *sdk.TracerProvider
	tracer   *Tracer
}

// Open makes what the configuration asks for, nil where it asks for nothing. version is the program's. It connects to nobody yet:
// spans are collected and sent beside the turns, and dropped where they can't be sent, or are more than can be kept. Trouble with
// that is told to log, once.
func Open(ctx context.Context, c Config, version string, log *slog.Logger) (*Export, error) {
	yes, refused := c.wanted()
	if refused != nil {
		log.Warn("there are no traces", "category", core.Unsupported, "err", refused)
	}
	if !yes {
		return nil, nil
	}
	var opts []otlptracehttp.Option
	if to := c.url(); to != "" {
		opts = append(opts, otlptracehttp.WithEndpointURL(to))
	}
	sent, err := headers(first(c.TracesHeaders, c.Headers))
	if err == nil && len(sent) > 0 {
		opts = append(opts, otlptracehttp.WithHeaders(sent))
	}
	exporter, err := otlptracehttp.New(ctx, opts...)
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "The traces can't be exported as OTEL_EXPORTER_OTLP_* say.")
	}
	about, err := describe(ctx, c, version)
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "OTEL_RESOURCE_ATTRIBUTES can't be read.")
	}
	return newExport(exporter, about, version, log), nil
}

func newExport(to sdk.SpanExporter, about *resource.Resource, version string, log *slog.Logger) *Export {
	p := sdk.NewTracerProvider(sdk.WithBatcher(&quiet{SpanExporter: to, trouble: core.NewErrorLog(log, "exporting traces")}), sdk.WithResource(about))
	return &Export{provider: p, tracer: NewTracer(p, version)}
}

// describe says who the traces are of. What the environment says goes before what we say.
func describe(ctx context.Context, c Config, version string) (*resource.Resource, error) {
	ours := []attribute.KeyValue{attribute.String("service.name", implementation), attribute.String("service.version", version)}
	opts := []resource.Option{resource.WithAttributes(ours...), resource.WithTelemetrySDK(), resource.WithFromEnv()}
	if c.ServiceName != "" {
		opts = append(opts, resource.WithAttributes(attribute.String("service.name", c.ServiceName)))
	}
	return resource.New(ctx, opts...)
}

// Tracer is what the graphs are given: nil where nothing is exported, so that they pay nothing.
func (e *Export) Tracer() graph.Tracer {
	if e == nil {
		return nil
	}
	return e.tracer
}

// Close sends what is left and ends the export. It returns when that is done, or ctx ends; what could not be sent then is lost.
func (e *Export) Close(ctx context.Context) error {
	if e == nil {
		return nil
	}
	if err := e.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("sending the last traces: %w", err)
	}
	return nil
}

// quiet keeps an exporter's errors from the SDK, which would tell a handler that the whole process shares.
type quiet struct {
	sdk.SpanExporter
	mu      sync.Mutex
	trouble *core.ErrorLog
}

// ExportSpans sends spans; that it could not is told to the log, when it begins and when it is over.
func (q *quiet) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := q.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		err = core.Wrap(core.DeliveryFailed, err, "The collector did not take %d spans.", len(spans))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.trouble.Report(err)
	return nil
}
