package otel

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// Config is the part of the standard variables that gatehouse reads for the export of traces and metrics, and a setting
// of its own. The SDK reads the others (sampler, batches, limits, timeouts, certificates, resource attributes) itself.
// The tags are those of the program's settings.
type Config struct {
	Disabled       bool   `envconfig:"OTEL_SDK_DISABLED" default:"false" help:"true: no traces, whatever else is set."`
	Exporter       string `envconfig:"OTEL_TRACES_EXPORTER" help:"otlp or none. Not set: otlp if there is an endpoint."`
	Endpoint       string `envconfig:"OTEL_EXPORTER_OTLP_ENDPOINT" secret:"url" help:"The collector, such as http://localhost:4318. Not set: no traces."`
	TracesEndpoint string `envconfig:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" secret:"url" help:"The full URL for traces, in place of the endpoint."`
	Protocol       string `envconfig:"OTEL_EXPORTER_OTLP_PROTOCOL" help:"http/protobuf, the only supported protocol."`
	TracesProtocol string `envconfig:"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" help:"The same, for traces only."`
	Headers        string `envconfig:"OTEL_EXPORTER_OTLP_HEADERS" secret:"true" help:"Headers for the collector, as key=value,key=value."`
	TracesHeaders  string `envconfig:"OTEL_EXPORTER_OTLP_TRACES_HEADERS" secret:"true" help:"The same, for traces only."`
	ServiceName    string `envconfig:"OTEL_SERVICE_NAME" help:"The name of this program in traces and metrics. Not set: gatehouse."`
	// Metrics have to be asked for: /metrics has them in any case.
	MetricsExporter string `envconfig:"OTEL_METRICS_EXPORTER" help:"otlp: metrics are sent to the collector, too. Not set, or none: they are not."`
	MetricsEndpoint string `envconfig:"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT" secret:"url" help:"The full URL for metrics, in place of the endpoint."`
	MetricsProtocol string `envconfig:"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL" help:"The same as the protocol, for metrics only."`
	MetricsHeaders  string `envconfig:"OTEL_EXPORTER_OTLP_METRICS_HEADERS" secret:"true" help:"The same as the headers, for metrics only."`
	Content         bool   `envconfig:"GATEHOUSE_TRACE_CONTENT" default:"false" help:"true: traces carry arguments and texts, with secrets masked. false: only the names of tools, sizes and categories."`
}

// Validate returns all faults, one line each, beginning with the key. An exporter or a protocol that is not supported
// is not a fault, because the variable may be meant for other programs: Open then logs that there are no traces.
func (c Config) Validate() []string {
	var faults []string
	for key, text := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.Endpoint, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.TracesEndpoint,
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": c.MetricsEndpoint,
	} {
		u, err := url.Parse(text)
		if text != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			// the value is left out: it may contain a password
			faults = append(faults, key+": this is not of the form http://HOST:PORT")
		}
	}
	for key, text := range map[string]string{
		"OTEL_EXPORTER_OTLP_HEADERS": c.Headers, "OTEL_EXPORTER_OTLP_TRACES_HEADERS": c.TracesHeaders,
		"OTEL_EXPORTER_OTLP_METRICS_HEADERS": c.MetricsHeaders,
	} {
		if _, err := headers(text); err != nil {
			faults = append(faults, key+": this is not of the form key=value,key=value")
		}
	}
	return faults
}

// wanted reports whether traces are exported. refused is the reason if the environment asks for traces that can't be
// exported.
func (c Config) wanted() (yes bool, refused error) {
	exporter := strings.ToLower(strings.TrimSpace(c.Exporter))
	protocol := cmp.Or(c.TracesProtocol, c.Protocol)
	switch {
	case c.Disabled || exporter == "none" || exporter == "" && cmp.Or(c.TracesEndpoint, c.Endpoint) == "":
		return false, nil
	case exporter != "" && exporter != "otlp":
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER is %q, and only otlp is supported", exporter)
	case protocol != "" && protocol != "http/protobuf":
		return false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q, and only http/protobuf is supported", protocol)
	}
	return true, nil
}

// wantsMetrics reports whether metrics are exported. refused is the reason if the environment asks for an export that
// there is not: one for Prometheus is /metrics.
func (c Config) wantsMetrics() (yes bool, refused error) {
	exporter := strings.ToLower(strings.TrimSpace(c.MetricsExporter))
	protocol := cmp.Or(c.MetricsProtocol, c.Protocol)
	switch {
	case c.Disabled || exporter == "" || exporter == "none" || exporter == "prometheus":
		return false, nil
	case exporter != "otlp":
		return false, fmt.Errorf("OTEL_METRICS_EXPORTER is %q, and only otlp is supported", exporter)
	case protocol != "" && protocol != "http/protobuf":
		return false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q, and only http/protobuf is supported", protocol)
	}
	return true, nil
}

// metricsURL returns the address to which metrics are sent; "" = the standard's default, a collector on this machine.
func (c Config) metricsURL() string {
	if c.MetricsEndpoint != "" || c.Endpoint == "" {
		return c.MetricsEndpoint
	}
	return strings.TrimRight(c.Endpoint, "/") + "/v1/metrics"
}

// url returns the address to which traces are sent; "" = the standard's default, a collector on this machine.
func (c Config) url() string {
	if c.TracesEndpoint != "" {
		return c.TracesEndpoint
	}
	if c.Endpoint == "" {
		return ""
	}
	return strings.TrimRight(c.Endpoint, "/") + "/v1/traces"
}

// headers parses key=value,key=value with percent-encoded values.
func headers(text string) (map[string]string, error) {
	all := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.TrimSpace(pair) == "" {
			continue
		}
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil {
			return nil, fmt.Errorf("a header is not of the form key=value")
		}
		all[key] = value
	}
	return all, nil
}
