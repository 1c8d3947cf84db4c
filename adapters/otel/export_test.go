package otel_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	api "go.opentelemetry.io/otel"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/otel"
	"gatehouse/core/graph"
)

// collected is the content of one request.
type collected struct {
	path, auth string
	*collector.ExportTraceServiceRequest
}

// receiver is a collector that answers with a status and passes on the requests that it answers with 200.
func receiver(t *testing.T, status int) (url string, got <-chan collected) {
	t.Helper()
	all := make(chan collected, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		request := &collector.ExportTraceServiceRequest{}
		if err == nil {
			err = proto.Unmarshal(body, request)
		}
		if err != nil {
			t.Error(err)
		}
		all <- collected{r.URL.Path, r.Header.Get("Authorization"), request}
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s.URL, all
}

func open(t *testing.T, c otel.Config, log *slog.Logger) *otel.Export {
	t.Helper()
	e, err := otel.Open(t.Context(), c, "v1", log)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func run(t *testing.T, e *otel.Export) {
	t.Helper()
	g := compile(t, one(nothing).Trace(e.Tracer()))
	if res := g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{ID: "inv"}); res.Status != graph.Completed {
		t.Fatal(res.Err)
	}
}

func TestTracesArriveAtTheCollector(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*otel.Config, string)
		path   string
	}{
		"endpoint": {func(c *otel.Config, url string) { c.Endpoint = url + "/otel/" }, "/otel/v1/traces"},
		"of traces": {func(c *otel.Config, url string) {
			c.Endpoint, c.TracesEndpoint = "http://nowhere.invalid", url+"/here"
		}, "/here"},
		"exporter, headers": {func(c *otel.Config, url string) {
			c.Endpoint, c.Exporter, c.Protocol = url, "OTLP", "http/protobuf"
		}, "/v1/traces"},
	} {
		t.Run(name, func(t *testing.T) {
			url, got := receiver(t, http.StatusOK)
			config := otel.Config{Headers: "authorization=Bearer%20xyz, x=1", ServiceName: "mybot"}
			c.change(&config, url)
			var log adaptertest.Log
			e := open(t, config, slog.New(slog.NewJSONHandler(&log, nil)))
			run(t, e)
			if err := e.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			r := <-got
			about := map[string]string{}
			for _, a := range r.ResourceSpans[0].Resource.Attributes {
				about[a.Key] = a.Value.GetStringValue()
			}
			if r.path != c.path || r.auth != "Bearer xyz" || about["service.name"] != "mybot" ||
				about["service.version"] != "v1" {
				t.Errorf("%s, %q, %v", r.path, r.auth, about)
			}
			if spans := r.ResourceSpans[0].ScopeSpans[0].Spans; len(spans) != 2 || log.String() != "" {
				t.Errorf("%d spans, log %s", len(spans), &log)
			}
		})
	}
}

func TestNoTracesWithoutAnExporter(t *testing.T) {
	for name, c := range map[string]struct {
		config otel.Config
		says   string
	}{
		"nothing set":    {otel.Config{Headers: "a=b", ServiceName: "x"}, ""},
		"none":           {otel.Config{Endpoint: "http://localhost:4318", Exporter: " none "}, ""},
		"disabled":       {otel.Config{Endpoint: "http://localhost:4318", Disabled: true}, ""},
		"other exporter": {otel.Config{Exporter: "console"}, "only otlp is supported"},
		"other protocol": {otel.Config{
			Endpoint: "http://localhost:4317", TracesProtocol: "grpc", Protocol: "http/protobuf",
		}, "only http/protobuf is supported"},
	} {
		var log adaptertest.Log
		e := open(t, c.config, slog.New(slog.NewJSONHandler(&log, nil)))
		if e.Tracer() != nil {
			t.Errorf("%s: there is a tracer", name)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if said := log.String(); (said == "") != (c.says == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: the log is %q", name, said)
		}
		run(t, e)
	}
}

func TestACollectorFailureIsLoggedOnce(t *testing.T) {
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1") // every span is a batch of its own
	api.SetErrorHandler(api.ErrorHandlerFunc(func(err error) {
		t.Errorf("the process's error handler was called: %v", err)
	}))
	url, got := receiver(t, http.StatusBadRequest)
	var log adaptertest.Log
	e := open(t, otel.Config{Endpoint: url}, slog.New(slog.NewJSONHandler(&log, nil)))
	for range 5 {
		run(t, e)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if n := len(got); n < 2 {
		t.Fatalf("%d requests: the test would prove nothing", n)
	}
	if said := log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "exporting traces fails") ||
		!strings.Contains(said, `"category":"delivery_failed"`) {
		t.Errorf("the log is %s", said)
	}
}

func TestCloseDoesNotWaitForAHangingCollector(t *testing.T) {
	free := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-free }))
	defer s.Close()
	defer close(free)
	var log adaptertest.Log
	e := open(t, otel.Config{Endpoint: s.URL}, slog.New(slog.NewJSONHandler(&log, nil)))
	run(t, e)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := e.Close(ctx); err == nil {
		t.Error("Close reported no error although spans were not sent")
	}
}

func TestConfigValidate(t *testing.T) {
	bad := otel.Config{
		Endpoint: "localhost:4318", TracesEndpoint: "http://u:hunter2@", Headers: "novalue", TracesHeaders: "a=%zz",
	}
	faults := strings.Join(bad.Validate(), "\n")
	if strings.Count(faults, "\n") != 3 || strings.Contains(faults, "hunter2") {
		t.Errorf("faults:\n%s", faults)
	}
	good := otel.Config{
		Endpoint: "https://u:p@host:4318/x", Headers: " a=b , c=d%20e,", Exporter: "console", Protocol: "grpc",
	}
	if faults := good.Validate(); len(faults) != 0 {
		t.Errorf("faults %v", faults)
	}
}
