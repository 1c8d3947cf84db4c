package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	wire "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

// pushed is an OpenTelemetry collector that keeps the metrics it received last, by their names.
type pushed struct {
	mu       sync.Mutex
	by       string // the service's name
	metrics  map[string]*wire.Metric
	requests int
}

// ServeHTTP receives OTLP over HTTP; traces are taken and forgotten.
func (p *pushed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := &collector.ExportMetricsServiceRequest{}
	if r.URL.Path != "/v1/metrics" {
		return
	}
	if err == nil {
		err = proto.Unmarshal(body, request)
	}
	if err != nil || r.Header.Get("Authorization") != "Bearer abc" {
		http.Error(w, "not metrics of ours", http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	p.metrics = map[string]*wire.Metric{}
	for _, resource := range request.ResourceMetrics {
		for _, a := range resource.Resource.Attributes {
			if a.Key == "service.name" {
				p.by = a.Value.GetStringValue()
			}
		}
		for _, scope := range resource.ScopeMetrics {
			for _, m := range scope.Metrics {
				p.metrics[m.Name] = m
			}
		}
	}
}

// value is the sum of a counter's or a gauge's points that have all of these labels, as key=value.
func (p *pushed) value(name string, labels ...string) (sum float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.metrics[name]
	for _, point := range append(m.GetSum().GetDataPoints(), m.GetGauge().GetDataPoints()...) {
		has := map[string]bool{}
		for _, a := range point.Attributes {
			has[a.Key+"="+a.Value.GetStringValue()] = true
		}
		all := true
		for _, l := range labels {
			all = all && has[l]
		}
		if all {
			sum += point.GetAsDouble()
		}
	}
	return sum
}

// TestMetricsArePushed: with OTEL_METRICS_EXPORTER=otlp the collector gets what /metrics has, as often as it is asked
// for; without, it gets nothing.
func TestMetricsArePushed(t *testing.T) {
	t.Parallel()
	for exporter, want := range map[string]bool{"otlp": true, "": false, "none": false} {
		t.Run("exporter "+exporter, func(t *testing.T) {
			t.Parallel()
			var got pushed
			server := httptest.NewServer(&got)
			t.Cleanup(server.Close)
			p := newSlackProcess(t, "GATEHOUSE_AGENT=demo", "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL,
				"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20abc", "OTEL_METRICS_EXPORTER="+exporter,
				"OTEL_METRIC_EXPORT_INTERVAL=100", "OTEL_SERVICE_NAME=mybot")
			p.open()
			p.ann.Says("calc 1+1")
			p.reads(p.dm, "", "1+1 = 2")
			if want {
				p.until("a turn in the metrics", p.app, func() bool {
					return got.value("gatehouse_turns_total", "outcome=replied") == 1 &&
						got.value("gatehouse_tool_calls_total", "tool=demo.calc", "result=ok") == 1
				})
				told := scrape(t, p.at)
				for key := range told {
					name, _, _ := strings.Cut(key, "{")
					got.mu.Lock()
					if got.metrics[name] == nil && !strings.HasPrefix(name, "go_") {
						t.Errorf("%s is not pushed", name)
					}
					got.mu.Unlock()
				}
				if got.by != "mybot" || got.value("gatehouse_platform_up", "platform=slack") != 2 {
					t.Errorf("%s pushes %v", got.by, got.metrics)
				}
			}
			p.signal(syscall.SIGTERM)
			p.app.quit(t)
			if (got.requests > 0) != want {
				t.Errorf("%d requests", got.requests)
			}
			if out := p.app.out.String(); strings.Contains(out, "metrics were not sent") {
				t.Errorf("the log says\n%s", out)
			}
		})
	}
}
