package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gatehouse/core/llm/llmtest"
)

// promServer is a server of Prometheus that scrapes a process twice a second.
type promServer struct {
	t  *testing.T
	at string
}

// newPrometheus starts the server that is beside promtool; it ends with the test.
func newPrometheus(t *testing.T, target string) *promServer {
	t.Helper()
	tool := os.Getenv(promtoolKey)
	if tool == "" {
		t.Skipf("%s is not set", promtoolKey)
	}
	folder, address := t.TempDir(), freeAddress(t)
	config := filepath.Join(folder, "prometheus.yml")
	noErr(t, os.WriteFile(config, fmt.Appendf(nil, `
global: {scrape_interval: 500ms}
scrape_configs:
  - {job_name: gatehouse, static_configs: [{targets: [%q]}]}
`, strings.TrimPrefix(target, "http://")), 0o600))
	c := exec.Command(filepath.Join(filepath.Dir(tool), "prometheus"), "--config.file="+config,
		"--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+address, "--log.level=warn")
	out := &transcript{}
	c.Stdout, c.Stderr = out, out
	noErr(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			t.Logf("Prometheus printed:\n%s", out)
		}
	})
	return &promServer{t, "http://" + address}
}

// series counts the series with a number that a query has now. The fault is the query's.
func (p *promServer) series(query string) (n int, fault string) {
	p.t.Helper()
	answer, err := http.Get(p.at + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return 0, "" // it does not listen yet
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusServiceUnavailable {
		return 0, "" // it has not read its data yet
	}
	var said struct {
		Error string
		Data  struct {
			Result []struct{ Value [2]any }
		}
	}
	noErr(p.t, json.NewDecoder(answer.Body).Decode(&said))
	for _, one := range said.Data.Result {
		if value, _ := one.Value[1].(string); value != "NaN" {
			n++
		}
	}
	return n, said.Error
}

// has waits until a query has a series.
func (p *promServer) has(query string) {
	p.t.Helper()
	waitUntil(p.t, func() bool {
		n, fault := p.series(query)
		if fault != "" {
			p.t.Fatalf("%s: %s", query, fault)
		}
		return n > 0
	}, query)
}

// panel is a panel of the dashboard.
type panel struct {
	ID          int
	Type        string
	Title       string
	Description string
	Targets     []struct{ Expr string }
}

// dashboard reads the panels.
func dashboard(t *testing.T) (all []panel) {
	t.Helper()
	var board struct{ Panels []panel }
	noErr(t, json.Unmarshal([]byte(readFile("deploy/dashboard.json")), &board))
	ids := map[int]bool{}
	for _, one := range board.Panels {
		if ids[one.ID] {
			t.Errorf("two panels have the id %d", one.ID)
		}
		ids[one.ID] = true
		if one.Type == "row" {
			continue
		}
		if one.Description == "" || len(one.Targets) == 0 {
			t.Errorf("%q does not say what it is, or asks for nothing", one.Title)
		}
		all = append(all, one)
	}
	return all
}

// TestTheDashboardShowsWhatHappens runs every query of the dashboard on a Prometheus that scraped a gateway with
// messages, approvals, a model, tools, a forged request and a database that failed for a while. Each has a number.
func TestTheDashboardShowsWhatHappens(t *testing.T) {
	t.Parallel()
	broken, servers := filepath.Join(t.TempDir(), "broken"), filepath.Join(t.TempDir(), "mcp.json")
	noErr(t, os.WriteFile(servers, []byte(`{"mcpServers": {"files": {"command": "/no/such/program"}}}`), 0o600))
	v := vendors["OpenAI"](t)
	env := []string{failKey + "=" + broken, "GATEHOUSE_MCP_CONFIG=" + servers}
	for key, value := range v.env {
		env = append(env, key+"="+value)
	}
	p := newSlackProcess(t, env...)
	p.open()
	prom := newPrometheus(t, p.at)
	// A rate needs a counter that has been there before, so all comes twice.
	for round := range 2 {
		what := fmt.Sprintf("apples of round %d", round)
		v.Then(v.call(toolCall("c1", "note.add", fmt.Sprintf(`{"text":%q}`, what))), llmtest.OpenAISay("Noted: "+what))
		p.ann.Says("note " + what)
		card := p.card(p.dm, "", "Add “"+what+"” to the note book.")
		noErr(t, p.bob.Clicks(p.dm, card.TS, "approve").Wait(t.Context()))
		p.reads(p.dm, "", "Noted: "+what)
		forged, err := http.Post(p.at+"/slack/events", "application/json", strings.NewReader("{}"))
		noErr(t, err)
		forged.Body.Close()
		times := strconv.Itoa(round + 1)
		prom.has(`sum(gatehouse_approvals_total) >= ` + times)
		prom.has(`sum(gatehouse_turns_total{outcome="replied"}) >= ` + times)
		prom.has(`sum(gatehouse_events_total{result="unsigned"}) >= ` + times)
	}
	v.Then(llmtest.OpenAISay("I am back."))
	noErr(t, os.WriteFile(broken, nil, 0o600))
	p.ann.Says("are you there?")
	prom.has("gatehouse_store_errors_total")
	noErr(t, os.Remove(broken))

	page := readFile("README.md")
	for _, one := range dashboard(t) {
		for _, target := range one.Targets {
			prom.has(strings.NewReplacer("$__rate_interval", "1m", "$job", "gatehouse").Replace(target.Expr))
			for _, name := range regexp.MustCompile(`gatehouse_[a-z_]+`).FindAllString(target.Expr, -1) {
				if name = strings.TrimSuffix(name, "_bucket"); !strings.Contains(page, name) {
					t.Errorf("%s is on the dashboard, and not on the page of metrics", name)
				}
			}
		}
	}
}
