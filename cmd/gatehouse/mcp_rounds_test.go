package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gatehouse/core"
)

// roundServer is an MCP server of the version 2026-07-28 alone, by hand. Its tool answers the calls one after the other
// by what is given.
type roundServer struct {
	t    *testing.T
	mu   sync.Mutex
	said []func(params map[string]any) string // to each tools/call: the result, as JSON
	task string                               // what tasks/get says
	seen []string                             // method and what matters of it
	held chan struct{}                        // if there is one, tasks/get is answered once it is closed
}

// newRoundServer starts the server and writes an mcp.json for it; env names that.
func newRoundServer(t *testing.T) (s *roundServer, env string) {
	s = &roundServer{t: t}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	config := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(config, fmt.Appendf(nil, `{"mcpServers":{"jobs":{"type":"http","url":%q}}}`, h.URL),
		0o600); err != nil {
		t.Fatal(err)
	}
	return s, "GATEHOUSE_MCP_CONFIG=" + config
}

func (s *roundServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params map[string]any
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if s.held != nil && m.Method == "tasks/get" {
		s.mu.Lock()
		s.seen = append(s.seen, "a poll")
		s.mu.Unlock()
		<-s.held
	}
	result, failed := s.answer(r, m.Method, m.Params)
	if failed != "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":%q}}`, m.ID, failed)
		return
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func (s *roundServer) answer(r *http.Request, method string, params map[string]any) (result, failed string) {
	meta, _ := params["_meta"].(map[string]any)
	if r.Header.Get("Mcp-Method") != method || meta["io.modelcontextprotocol/protocolVersion"] != "2026-07-28" {
		return "", "only 2026-07-28 is spoken here"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	can, _ := json.Marshal(meta["io.modelcontextprotocol/clientCapabilities"])
	switch method {
	case "server/discover":
		return `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`, ""
	case "tools/list":
		return `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"build",` +
				`"inputSchema":{"type":"object"}}]}`,
			""
	case "tools/call":
		n := 0
		for _, line := range s.seen {
			if strings.HasPrefix(line, "tools/call") {
				n++
			}
		}
		key := meta["gatehouse/call-key"]
		if key == nil || !strings.Contains(string(can), `"io.modelcontextprotocol/tasks":{}`) ||
			!strings.Contains(string(can), `"form":{}`) {
			s.t.Errorf("a call with the key %v and the capabilities %s", key, can)
		}
		args, _ := json.Marshal(params["arguments"])
		answers, _ := json.Marshal(params["inputResponses"])
		s.seen = append(s.seen, fmt.Sprintf("tools/call %s %v %s", args, params["requestState"], answers))
		if n >= len(s.said) {
			return `{"content":[{"type":"text","text":"built"}]}`, ""
		}
		said := s.said[n]
		return said(params), ""
	case "tasks/get", "tasks/update", "tasks/cancel":
		if r.Header.Get("Mcp-Name") != params["taskId"] ||
			!strings.Contains(string(can), `"io.modelcontextprotocol/tasks":{}`) {
			s.t.Errorf("%s of the task %v with the header %q and the capabilities %s", method, params["taskId"],
				r.Header.Get("Mcp-Name"), can)
		}
		answers, _ := json.Marshal(params["inputResponses"])
		s.seen = append(s.seen, fmt.Sprintf("%s %v %s", method, params["taskId"], answers))
		switch method {
		case "tasks/update":
			s.task = working
		case "tasks/cancel":
			s.task = `{"resultType":"complete","taskId":"t 1","status":"cancelled"}`
		default:
			return s.task, ""
		}
		return `{"resultType":"complete"}`, ""
	}
	return "", "unknown method"
}

// saw reports how many requests began with a text, and the last of them.
func (s *roundServer) saw(prefix string) (n int, last string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.seen {
		if strings.HasPrefix(line, prefix) {
			n, last = n+1, line
		}
	}
	return n, last
}

func (s *roundServer) set(task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task = task
}

const (
	working   = `{"resultType":"complete","taskId":"t-1","status":"working","ttlMs":null,"pollIntervalMs":1}`
	completed = `{"resultType":"complete","taskId":"t-1","status":"completed","result":{"content":[{"type":"text",` +
		`"text":"built in the end"}]}}`
	asksName = `"inputRequests":{"q1":{"method":"elicitation/create","params":{"mode":"form","message":"Which ` +
		`branch?","requestedSchema":{"type":"object",` +
		`"properties":{"branch":{"type":"string","format":"uri"},"api_token":{"type":"string"}},` +
		`"required":["branch"]}}}}`
)

// saysResult is an answer of the server.
func saysResult(result string) func(map[string]any) string {
	return func(map[string]any) string { return result }
}

// approved sends a call and its approval, whose answer nobody awaits. again asks for the answer.
func approved(p *serveProcess, ann *shell) (again func() reply) {
	awaitServer(p.t, p.at, "jobs")
	card := ann.must(ann.send(request("r1", "s1", `call jobs.build {"n": 1.50}`))).card()
	decision := with(request("r2", "s1", ""), card.choice("approve"))
	body, _ := json.Marshal(decision)
	go func() { _, _ = ann.try(http.MethodPost, strings.NewReader(string(body))) }()
	return func() reply { return p.outcome(ann, p.ask(ann, decision)) }
}

// TestLaw5_ATaskOfAServerGoesOnAfterAKill: the call is sent once, and its task polled to its end by the next process.
func TestLaw5_ATaskOfAServerGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	s, env := newRoundServer(t)
	s.said, s.task = []func(map[string]any) string{saysResult(strings.Replace(working, `"complete"`, `"task"`, 1))},
		working
	p, ann, _, _ := newTrio(t, env)
	again := approved(p, ann)
	p.until("the task is polled", p.app, func() bool { n, _ := s.saw("tasks/get"); return n > 0 })
	p.app.kill()
	polled, _ := s.saw("tasks/get")
	p.open()
	p.until("polling goes on", p.app, func() bool { n, _ := s.saw("tasks/get"); return n > polled })
	s.set(completed)
	if got := again(); !slices.ContainsFunc(got.texts(), func(text string) bool {
		return strings.Contains(text, "built in the end")
	}) {
		t.Errorf("%s", got.Raw)
	}
	if n, call := s.saw("tools/call"); n != 1 || call != `tools/call {"n":1.5} <nil> null` {
		t.Errorf("%d calls, the last %s", n, call)
	}
}

// TestLaw5_APollThatIsNotAnsweredDoesNotHoldTheEnd: gatehouse ends once its time to drain is over, and polling goes on
// afterwards.
func TestLaw5_APollThatIsNotAnsweredDoesNotHoldTheEnd(t *testing.T) {
	t.Parallel()
	s, env := newRoundServer(t)
	s.held = make(chan struct{})
	release := sync.OnceFunc(func() { close(s.held) })
	t.Cleanup(release)
	s.said, s.task = []func(map[string]any) string{saysResult(strings.Replace(working, `"complete"`, `"task"`, 1))},
		completed
	config := strings.TrimPrefix(env, "GATEHOUSE_MCP_CONFIG=")
	text, _ := os.ReadFile(config)
	if err := os.WriteFile(config, bytes.Replace(text, []byte(`"type"`), []byte(`"timeout":"1h","type"`), 1),
		0o600); err != nil {
		t.Fatal(err)
	}
	p, ann, _, _ := newTrio(t, env, "GATEHOUSE_DRAIN_TIMEOUT=100ms")
	again := approved(p, ann)
	p.until("the task is polled", p.app, func() bool { n, _ := s.saw("a poll"); return n > 0 })
	p.signal(syscall.SIGTERM)
	p.until("the end", p.app, p.app.gone)
	release()
	p.open()
	says(t, again(), "built in the end")
	if n, _ := s.saw("tools/call"); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// TestLaw5_AServersQuestionIsAnsweredByPeople: after a restart, under the one approval of the call, whose arguments
// stay; then the call's task asks, too.
func TestLaw5_AServersQuestionIsAnsweredByPeople(t *testing.T) {
	t.Parallel()
	s, env := newRoundServer(t)
	s.said = []func(map[string]any) string{
		saysResult(`{"resultType":"input_required","requestState":"state 1",` + asksName + `}`),
		saysResult(strings.Replace(working, `"complete"`, `"task"`, 1)),
	}
	s.task = `{"resultType":"complete","taskId":"t-1","status":"input_required","pollIntervalMs":1,"inputRequests":{` +
		`"sure":{"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object",` +
		`"properties":{}}}},` +
		`"page":{"method":"elicitation/create","params":{"mode":"url","message":"Log in",` +
		`"url":"https://example.com"}}}}`
	p, ann, _, _ := newTrio(t, env)
	asked := approved(p, ann)()
	says(t, asked, "The MCP server jobs (not gatehouse) asks this for its tool jobs.build")
	says(t, asked, "Which branch?")
	says(t, asked, "Never type a password, key or token here.")
	p.app.kill()
	p.open()
	send := func(id string, to reply, value any) reply {
		return p.outcome(ann,
			p.ask(ann, answering(with(request(id, "s1", ""), to.card().own().Answer), "answer", value)))
	}
	asked = send("r3", asked, map[string]any{"branch": "main"})
	if n, call := s.saw("tools/call"); n != 2 ||
		call != `tools/call {"n":1.5} state 1 {"q1":{"action":"accept","content":{"branch":"main"}}}` {
		t.Errorf("%d calls, the last %s", n, call)
	}
	says(t, asked, "Sure?")
	p.app.kill()
	p.open()
	done := make(chan reply)
	go func() { done <- send("r4", asked, true) }()
	p.until("the answer arrives", p.app, func() bool { n, _ := s.saw("tasks/update"); return n == 1 })
	s.set(completed)
	says(t, <-done, "built in the end")
	if _, update := s.saw(
		"tasks/update"); update != `tasks/update t-1 {"page":{"action":"decline"},"sure":{"action":"accept"}}` {
		t.Errorf("the task got %s", update)
	}
	p.app.kill()
	if n := len(p.approvals(core.Approved)); n != 1 {
		t.Errorf("%d approvals", n)
	}
	if n := len(p.approvals(core.Answered)); n != 2 {
		t.Errorf("%d answered questions", n)
	}
}

// TestLaw5_ARoundThatIsCutOffIsUnknown: killed between a round's send and its answer, the round is not sent again.
func TestLaw5_ARoundThatIsCutOffIsUnknown(t *testing.T) {
	t.Parallel()
	s, env := newRoundServer(t)
	p, ann, _, _ := newTrio(t, env)
	s.said = []func(map[string]any) string{
		saysResult(`{"resultType":"input_required","requestState":"state 1",` + asksName + `}`),
		func(map[string]any) string { p.latest.Load().kill(); return `{}` },
	}
	asked := approved(p, ann)()
	got := p.outcome(ann,
		p.ask(ann,
			answering(with(request("r3", "s1", ""), asked.card().own().Answer),
				"answer", map[string]any{"branch": "main"})))
	says(t, got, "unknown")
	if n, _ := s.saw("tools/call"); n != 2 {
		t.Errorf("%d calls", n)
	}
}

// TestStopCancelsATask: the server is told, and the person that it was cancelled.
func TestStopCancelsATask(t *testing.T) {
	t.Parallel()
	s, env := newRoundServer(t)
	s.said, s.task = []func(map[string]any) string{saysResult(strings.Replace(working, `"complete"`, `"task"`, 1))},
		working
	p, ann, _, _ := newTrio(t, env)
	approved(p, ann)
	p.until("the task is polled", p.app, func() bool { n, _ := s.saw("tasks/get"); return n > 0 })
	if _, err := p.store.Stop(t.Context(), "openharness:oh/ann/s1", core.Actor{ID: "openharness:ann"}); err != nil {
		t.Fatal(err)
	}
	p.until("the task is cancelled", p.app, func() bool { n, _ := s.saw("tasks/cancel"); return n == 1 })
	p.until("the turn ends", p.app, p.settled)
	if got := p.workbench.outcome(); got == nil || got.Category != core.ToolFailed ||
		!strings.Contains(got.Content, "was cancelled") {
		t.Errorf("%+v", got)
	}
}

// A call whose server was removed, or replaced by another, while its question was open is not said to have done
// nothing: it was sent. The other server does not get the answer.
func TestLaw5_ACallOfRoundsOfARemovedServerIsUnknown(t *testing.T) {
	t.Parallel()
	for _, replaced := range []bool{false, true} {
		t.Run(fmt.Sprint("replaced ", replaced), func(t *testing.T) {
			t.Parallel()
			s, env := newRoundServer(t)
			s.said = []func(
				map[string]any) string{saysResult(`{"resultType":"input_required","requestState":"state 1",` +
				asksName + `}`)}
			other, otherEnv := newRoundServer(t)
			p, ann, _, _ := newTrio(t, env)
			asked := approved(p, ann)()
			p.app.kill()
			text, err := []byte(`{"mcpServers":{}}`), error(nil)
			if replaced {
				text, err = os.ReadFile(strings.TrimPrefix(otherEnv, "GATEHOUSE_MCP_CONFIG="))
			}
			if err = errors.Join(err,
				os.WriteFile(strings.TrimPrefix(env, "GATEHOUSE_MCP_CONFIG="), text, 0o600)); err != nil {
				t.Fatal(err)
			}
			p.open()
			got := p.outcome(ann,
				p.ask(ann,
					answering(with(request("r3", "s1", ""), asked.card().own().Answer),
						"answer", map[string]any{"branch": "main"})))
			says(t, got, "unknown")
			n, _ := s.saw("tools/call")
			others, _ := other.saw("")
			if n != 1 || others != 0 || strings.Contains(string(got.Raw), "nothing was done") {
				t.Errorf("%d and %d calls, and the answer %s", n, others, got.Raw)
			}
		})
	}
}

// roundsKilled are passes of the store's points while a call asks a person, and then becomes a task; and whether its
// outcome is unknown after a kill there: only if a message was on its way, or may have been.
var roundsKilled = map[string][]bool{
	"BeginIntent.before": {false, false}, "BeginIntent.after": {true, false}, // the call; going on with the answer
	// what is asked; the second round is sent; the task
	"KeepIntent.before": {true, false, true}, "KeepIntent.after": {false, true, false},
	"FinishIntent.before": {false}, "FinishIntent.after": {false}, "Finish.before": {false, false, false},
	"Finish.after": {false, false, false},
}

// TestLaw5_ACallOfRoundsKilledAtEveryPoint: no round is sent twice, and what can go on does.
func TestLaw5_ACallOfRoundsKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	for point, passes := range roundsKilled {
		for n, unknown := range passes {
			t.Run(fmt.Sprint(point, " ", n+1), func(t *testing.T) {
				t.Parallel()
				s, env := newRoundServer(t)
				s.said, s.task = []func(map[string]any) string{
					saysResult(`{"resultType":"input_required","requestState":"state 1",` + asksName + `}`),
					saysResult(strings.Replace(working, `"complete"`, `"task"`, 1)),
				}, completed
				p := newServeProcess(t, sqliteFile, "GATEHOUSE_TOKENS=ann!="+annsToken, "GATEHOUSE_AGENT=demo", env)
				p.open(armed(point, n+1, "")...)
				awaitServer(t, p.at, "jobs")
				ann := newShell(t, p.at, annsToken)
				asked := p.outcome(ann, p.ask(ann, request("r1", "s1", "call jobs.build {}")))
				got := p.outcome(ann, p.ask(ann, with(request("r2", "s1", ""), asked.card().choice("approve"))))
				if card := got.card(); card != nil {
					got = p.outcome(ann,
						p.ask(ann,
							answering(with(request("r3", "s1", ""), card.own().Answer),
								"answer", map[string]any{"branch": "main"})))
				}
				want := map[bool]string{true: "unknown", false: "built in the end"}[unknown]
				says(t, got, want)
				first, _ := s.saw("tools/call {} <nil>")
				second, _ := s.saw("tools/call {} state 1")
				if first != 1 && point+fmt.Sprint(n) != "BeginIntent.after0" || second > 1 {
					t.Errorf("the call was sent %d times, and its second round %d times", first, second)
				}
			})
		}
	}
}
