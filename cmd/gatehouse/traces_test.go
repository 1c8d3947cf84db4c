package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
)

// spans is an OpenTelemetry collector that keeps the spans it receives.
type spans struct {
	mu  sync.Mutex
	all []*wire.Span
	by  []string // the service names
}

// ServeHTTP receives OTLP over HTTP.
func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := &collector.ExportTraceServiceRequest{}
	if err == nil {
		err = proto.Unmarshal(body, request)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Authorization") != "Bearer abc" {
		http.Error(w, "not traces of ours", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, a := range resource.Resource.Attributes {
			if a.Key == "service.name" {
				s.by = append(s.by, a.Value.GetStringValue())
			}
		}
		for _, scope := range resource.ScopeSpans {
			s.all = append(s.all, scope.Spans...)
		}
	}
}

// segment returns the spans received since the last call, by their paths, such as "invocation/model".
func (s *spans) segment(t *testing.T) map[string]*wire.Span {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	byID, found := map[string]*wire.Span{}, map[string]*wire.Span{}
	for _, one := range s.all {
		byID[string(one.SpanId)] = one
	}
	for _, one := range s.all {
		path := strings.TrimPrefix(one.Name, "openarmature.")
		for p := byID[string(one.ParentSpanId)]; p != nil; p = byID[string(p.ParentSpanId)] {
			path = strings.TrimPrefix(p.Name, "openarmature.") + "/" + path
		}
		if found[path] != nil {
			path += " again"
		}
		found[path] = one
	}
	s.all = nil
	return found
}

func paths(segment map[string]*wire.Span) string {
	var all []string
	for path := range segment {
		all = append(all, path)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func attr(s *wire.Span, key string) string {
	for _, a := range s.GetAttributes() {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// TestATurnIsTracedAcrossProcesses: one process asks for an approval and ends, and another one resumes the turn.
func TestATurnIsTracedAcrossProcesses(t *testing.T) {
	var got spans
	server := httptest.NewServer(&got)
	defer server.Close()
	w := newWorkbench(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL,
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20abc", "OTEL_SERVICE_NAME=mybot")
	talk := func(lines ...string) (printed string) {
		c := w.start(nil, "chat")
		for _, line := range lines {
			c.typeLine(line)
		}
		c.ok(t) // it sends its spans before it ends
		return c.out.String()
	}

	talk("note add sk-0123456789abcdef0123456789abcdef")
	asking := got.segment(t)
	if p := paths(asking); p != "invocation invocation/ask invocation/gate invocation/model invocation/tools" {
		t.Fatalf("spans %s", p)
	}
	approval := w.approvals(core.Open)[0]
	paused := asking["invocation"]
	for path, s := range asking {
		outcome, signal := attr(s, "openarmature.outcome"), attr(s, "openarmature.suspension.signal_id")
		if suspended := path == "invocation" || path == "invocation/gate"; suspended != (outcome == "suspended") ||
			(signal == string(approval.ID)) != (path == "invocation/gate") {
			t.Errorf("%s: outcome %q, signal %q", path, outcome, signal)
		}
		if s.Status.GetCode() != wire.Status_STATUS_CODE_OK ||
			attr(s, "openarmature.session_id") != string(approval.Session) ||
			attr(s, "openarmature.correlation_id") == "" {
			t.Errorf("%s: %v", path, s)
		}
		if strings.Contains(s.String(), "sk-01234") || strings.Contains(s.String(), "note book") {
			t.Errorf("%s shows what was asked for: %v", path, s)
		}
	}
	if attr(paused, "openarmature.invocation_id") != string(approval.Invocation) || len(paused.Links) != 0 {
		t.Errorf("the paused segment: %v", paused)
	}

	talk("/status", "approve") // a part of the arguments is hidden
	resuming := got.segment(t)
	if p := paths(resuming); p != "invocation invocation/act invocation/act/gatehouse.tool.call invocation/model" {
		t.Fatalf("spans %s", p)
	}
	resumed := resuming["invocation"]
	if attr(resumed, "openarmature.invocation_id") != string(approval.Invocation) ||
		attr(resumed, "openarmature.outcome") != "" ||
		attr(resumed, "openarmature.correlation_id") != attr(paused, "openarmature.correlation_id") {
		t.Errorf("the resumed segment: %v", resumed)
	}
	if len(resumed.Links) != 1 || string(resumed.Links[0].TraceId) != string(paused.TraceId) ||
		string(resumed.Links[0].SpanId) != string(paused.SpanId) {
		t.Errorf("the resumed segment links to %v, not to %x %x", resumed.Links, paused.TraceId, paused.SpanId)
	}

	printed := talk("calc 1/0") // a failed tool is logged
	reading := got.segment(t)
	line := logged(t, printed, "tool failed")
	tools := reading["invocation/tools/gatehouse.tool.call"]
	want := map[string]string{
		"trace_id": hex.EncodeToString(tools.GetTraceId()), "span_id": hex.EncodeToString(tools.GetSpanId()),
		"session":                     string(approval.Session),
		"openarmature.session_id":     string(approval.Session),
		"openarmature.correlation_id": attr(tools, "openarmature.correlation_id"), "tool": "demo.calc",
	}
	for key, value := range want {
		if line[key] != value {
			t.Errorf("the log line has %s %v, want %s", key, line[key], value)
		}
	}
	if !slices.Equal(slices.Compact(got.by), []string{"mybot"}) {
		t.Errorf("services %v", got.by)
	}
}

// TestTracesCarryContentIfTheyShould: with the setting the span of a pause has its call, without secrets; without it
// the call's name and size.
func TestTracesCarryContentIfTheyShould(t *testing.T) {
	for content, want := range map[string]bool{"": false, "false": false, "true": true} {
		var got spans
		server := httptest.NewServer(&got)
		w := newWorkbench(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL,
			"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20abc", "GATEHOUSE_TRACE_CONTENT="+content)
		c := w.start(nil, "chat")
		c.typeLine("note add bananas and sk-0123456789abcdef0123456789abcdef")
		c.ok(t)
		asking := got.segment(t)
		server.Close()
		text := fmt.Sprint(asking)
		if strings.Contains(text, "bananas") != want || strings.Contains(text, "sk-01234") {
			t.Errorf("with %q the spans are %s", content, text)
		}
		if tool := attr(asking["invocation/gate"], "openarmature.suspension.approval.call.tool"); tool != "note.add" {
			t.Errorf("with %q the tool is %q in %v", content, tool, asking["invocation/gate"])
		}
	}
}

// logged finds a line of a process's log.
func logged(t *testing.T, printed, msg string) map[string]any {
	t.Helper()
	for _, text := range lines(printed) {
		var line map[string]any
		if json.Unmarshal([]byte(text), &line) == nil && line["msg"] == msg {
			return line
		}
	}
	t.Fatalf("no log line %q in:\n%s", msg, printed)
	return nil
}

// TestWithoutAnExporterATurnIsNotTraced: the gateway's graph has no tracer, so no span is made, and none is stored with
// a paused turn. Log lines still carry the ids of their turn.
func TestWithoutAnExporterATurnIsNotTraced(t *testing.T) {
	for _, key := range source.Keys() {
		if strings.HasPrefix(key, "OTEL_") {
			t.Setenv(key, "")
		}
	}
	w := newProg(t)
	cfg, _, err := source.Load()
	noErr(t, err)
	g, err := newGateway(newShared(cfg, w.store, cli.NewLogger(io.Discard, 0, "json")), "test", nil)
	noErr(t, err)
	if g.traces != nil || g.traces.Tracer() != nil {
		t.Error("there is a provider")
	}
	w.chat("note add milk")
	paused, err := w.store.LoadPaused(t.Context(), w.approvals(core.Open)[0].Invocation, "")
	if err != nil || paused == nil || paused.Trace != "" {
		t.Errorf("the paused turn has a span: %+v, %v", paused, err)
	}
	_, _, stderr := w.prog(strings.NewReader("n\ncalc 1/0\n"), "chat")
	line := logged(t, stderr, "tool failed")
	if line["trace_id"] != nil || line["session"] != "console:default@1" || line["invocation"] == nil ||
		line["openarmature.correlation_id"] == nil {
		t.Errorf("the log line %v", line)
	}
}

// TestACollectorThatIsAwayHurtsNoTurn: turns work if nothing listens at the collector's address.
func TestACollectorThatIsAwayHurtsNoTurn(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	w := newProg(t)
	code, out, stderr := w.prog(strings.NewReader("note add milk\ny\ncalc 1+1\n"), "chat")
	if code != cli.ExitDone || !strings.Contains(out, "1+1 = 2") || len(w.notes()) != 1 {
		t.Errorf("exit code %d, %q, notes %q", code, out, w.notes())
	}
	if strings.Count(stderr, "exporting traces fails") != 1 {
		t.Errorf("the log:\n%s", stderr)
	}
}

// TestACollectorThatHangsDoesNotHoldTheDrain: the remaining spans are lost, and nothing else.
func TestACollectorThatHangsDoesNotHoldTheDrain(t *testing.T) {
	free := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-free }))
	defer server.Close()
	defer close(free)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("GATEHOUSE_DRAIN_TIMEOUT", "50ms")
	w := newProg(t)
	code, out, stderr := w.prog(strings.NewReader("calc 1+1\n"), "chat")
	if code != cli.ExitDone || !strings.Contains(out, "1+1 = 2") ||
		strings.Count(stderr, "the last traces were not sent") != 1 {
		t.Errorf("exit code %d, %q, the log:\n%s", code, out, stderr)
	}
}

// generative checks the attributes of OpenTelemetry's conventions for generative AI.
func generative(t *testing.T, v fakeVendor, segment map[string]*wire.Span) {
	t.Helper()
	vendor, model, _ := strings.Cut(v.env["GATEHOUSE_MODEL"], ":")
	for path, want := range map[string]map[string]string{
		"invocation": {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "console:default@1"},
		"invocation/model/llm.complete again": {
			"gen_ai.operation.name": "chat", "gen_ai.provider.name": vendor, "gen_ai.request.model": model,
			"gen_ai.response.model": "some", "gen_ai.response.finish_reasons": "stop",
			"gen_ai.usage.input_tokens": "some", "gen_ai.usage.output_tokens": "some",
		},
		"invocation/tools/gatehouse.tool.call": {
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "demo.calc", "gen_ai.tool.call.id": "c1",
			"gen_ai.tool.type": "function", "gatehouse.tool.name": "demo.calc",
		},
	} {
		for key, value := range want {
			i := slices.IndexFunc(segment[path].GetAttributes(), func(a *common.KeyValue) bool { return a.Key == key })
			if i < 0 {
				t.Errorf("%s has no %s", path, key)
				continue
			}
			got := segment[path].Attributes[i].Value
			said := got.GetStringValue()
			if list := got.GetArrayValue().GetValues(); len(list) == 1 {
				said = list[0].GetStringValue()
			}
			if got.GetIntValue() > 0 || value == "some" && said != "" {
				said = "some"
			}
			if said != value {
				t.Errorf("%s has %s %v, want %s", path, key, got, value)
			}
		}
	}
	failed := segment["invocation/model/llm.complete"]
	if attr(failed, "error.type") != string(core.ProviderUnavailable) ||
		attr(failed, "gen_ai.provider.name") != vendor {
		t.Errorf("the attempt that failed: %v", failed)
	}
}

// TestAModelsCallsAreTraced: each attempt of a call of a model, and each call of a tool, is a span below its node,
// without a text of the conversation.
func TestAModelsCallsAreTraced(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		var got spans
		server := httptest.NewServer(&got)
		defer server.Close()
		env := []string{
			"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL, "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20abc",
		}
		for key, value := range v.env {
			env = append(env, key+"="+value)
		}
		v.Then(v.fail(http.StatusServiceUnavailable, "overloaded_error", "busy"),
			v.call(toolCall("c1", "demo.calc", `{"expression":"4711*2"}`)), v.say("It is 9422."))
		c := newWorkbench(t, env...).start(nil, "chat")
		c.typeLine("what is twice 4711?")
		c.ok(t)
		segment := got.segment(t)
		want := "invocation invocation/model invocation/model again invocation/model/llm.complete " +
			"invocation/model/llm.complete again invocation/tools invocation/tools/gatehouse.tool.call"
		if p := paths(segment); p != want {
			t.Fatalf("spans %s; want %s", p, want)
		}
		for path, s := range segment {
			s.StartTimeUnixNano, s.EndTimeUnixNano = 0, 0 // numbers that may hold any other
			if strings.Contains(s.String(), "4711") || strings.Contains(s.String(), "9422") {
				t.Errorf("%s shows what was said: %v", path, s)
			}
		}
		generative(t, v, segment)
	})
}
