package otel

import (
	"fmt"
	"net/url"
	"strings"
)

// Config is what the standard variables say of the export of traces. Those that are not here (sampler, batches, limits, timeouts,
// certificates, resource attributes) the SDK reads from the environment itself. The tags are those of the program's settings.
type Config struct {
	Disabled       bool   `envconfig:"OTEL_SDK_DISABLED" default:"false" help:"true: no traces, whatever else is set."`
	Exporter       string `envconfig:"OTEL_TRACES_EXPORTER" help:"otlp, or none; not set: otlp where there is an endpoint."`
	Endpoint       string `envconfig:"OTEL_EXPORTER_OTLP_ENDPOINT" secret:"url" help:"The collector, such as http://localhost:4318; none: no traces."`
	TracesEndpoint string `envconfig:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" secret:"url" help:"Instead, the whole URL that traces go to."`
	Protocol       string `envconfig:"OTEL_EXPORTER_OTLP_PROTOCOL" help:"http/protobuf, the only one that is spoken."`
	TracesProtocol string `envconfig:"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" help:"Instead, for traces alone."`
	Headers        string `envconfig:"OTEL_EXPORTER_OTLP_HEADERS" secret:"true" help:"Headers for the collector, as key=value,key=value."`
	TracesHeaders  string `envconfig:"OTEL_EXPORTER_OTLP_TRACES_HEADERS" secret:"true" help:"Instead, for traces alone."`
	ServiceName    string `envconfig:"OTEL_SERVICE_NAME" help:"What traces call this program; gatehouse where nothing says otherwise."`
}

// Validate reports everything that can't be meant, one line each. What another program may mean (an exporter or a protocol that is
// not spoken here) is no fault: Open says that there are no traces.
func (c Config) Validate() []string {
	var faults []string
	for key, text := range map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.Endpoint, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.TracesEndpoint} {
		u, err := url.Parse(text)
		if text != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			faults = append(faults, key+": this is not of the form http://HOST:PORT") // its value may hold a password
		}
	}
	for key, text := range map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": c.Headers, "OTEL_EXPORTER_OTLP_TRACES_HEADERS": c.TracesHeaders} {
		if _, err := headers(text); err != nil {
			faults = append(faults, key+": this is not of the form key=value,key=value")
		}
	}
	return faults
}

// wanted says whether traces are to be exported; refused is why they can't be, where they were asked for.
func (c Config) wanted() (yes bool, refused error) {
	exporter := strings.ToLower(strings.TrimSpace(c.Exporter))
	protocol := first(c.TracesProtocol, c.Protocol)
	switch {
	case c.Disabled || exporter == "none" || exporter == "" && first(c.TracesEndpoint, c.Endpoint) == "":
		return false, nil
	case exporter != "" && exporter != "otlp":
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER is %q, and only otlp is spoken", exporter)
	case protocol != "" && protocol != "http/protobuf":
		return false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q, and only http/protobuf is spoken", protocol)
	}
	return true, nil
}

// url is where traces go; "" = the standard's default, this machine's collector.
func (c Config) url() string {
	if c.TracesEndpoint != "" {
		return c.TracesEndpoint
	}
	if c.Endpoint == "" {
		return ""
	}
	return strings.TrimRight(c.Endpoint, "/") + "/v1/traces"
}

// headers reads key=value,key=value, the values percent-encoded.
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

// first gives the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
