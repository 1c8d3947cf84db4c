package otel

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"gatehouse/core"
	"gatehouse/core/retry"
)

// Metrics sends the metrics of a process to a collector. A nil Metrics sends none and can be used like any other.
type Metrics struct{ provider *sdk.MeterProvider }

// OpenMetrics makes the configured Metrics, of all that is gathered from all; nil if none are configured. version is
// the program's. They are sent each minute, or as OTEL_METRIC_EXPORT_INTERVAL says. The log gets one line when sending
// fails and one when it works again.
func OpenMetrics(
	ctx context.Context, c Config, version string, all prometheus.Gatherer, log *slog.Logger,
) (*Metrics, error) {
	yes, refused := c.wantsMetrics()
	if refused != nil {
		log.Warn("no metrics are exported", "category", core.Unsupported, "err", refused)
	}
	if !yes {
		return nil, nil
	}
	var opts []otlpmetrichttp.Option
	if to := c.metricsURL(); to != "" {
		opts = append(opts, otlpmetrichttp.WithEndpointURL(to))
	}
	sent, err := headers(cmp.Or(c.MetricsHeaders, c.Headers))
	if err == nil && len(sent) > 0 {
		opts = append(opts, otlpmetrichttp.WithHeaders(sent))
	}
	exporter, err := otlpmetrichttp.New(ctx, opts...)
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "Can't set up the export of metrics from the OTEL_EXPORTER_OTLP_* "+
			"variables.")
	}
	about, err := describe(ctx, c, version)
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "Can't read OTEL_RESOURCE_ATTRIBUTES.")
	}
	reader := sdk.NewPeriodicReader(&loggedMetrics{Exporter: exporter, errors: retry.NewLog(log, "exporting metrics")},
		sdk.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(gatherer{all, log}))))
	return &Metrics{sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithResource(about))}, nil
}

// Close sends the metrics once more and ends the export. It returns when that is done or ctx ends.
func (m *Metrics) Close(ctx context.Context) error {
	if m == nil {
		return nil
	}
	if err := m.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("sending the last metrics: %w", err)
	}
	return nil
}

// gatherer leaves out what can't be read now, as /metrics does, in place of an error for the SDK's global handler.
type gatherer struct {
	prometheus.Gatherer
	log *slog.Logger
}

// Gather gives what there is.
func (g gatherer) Gather() ([]*dto.MetricFamily, error) {
	found, err := g.Gatherer.Gather()
	if err != nil {
		g.log.Debug("some metrics can't be read", "err", err)
	}
	return found, nil
}

// loggedMetrics logs an exporter's errors instead of returning them to the SDK, which would pass them to a global
// handler. The SDK calls it from one goroutine at a time.
type loggedMetrics struct {
	sdk.Exporter
	errors *retry.Log
}

// Export sends metrics. It logs when sending begins to fail and when it works again.
func (l *loggedMetrics) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	err := l.Exporter.Export(ctx, all)
	if err != nil {
		err = core.Wrap(core.DeliveryFailed, err, "The collector did not accept the metrics.")
	}
	l.errors.Report(err)
	return nil
}
