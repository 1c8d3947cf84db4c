package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core/llm/llmtest"
)

// mcpPingKey is the variable with how often a child's MCP servers are asked whether they live.
const mcpPingKey = "TEST_MCP_PING"

func init() { mcpPing, _ = time.ParseDuration(os.Getenv(mcpPingKey)) }

// faultsShown are the faults, by the name of the file of their series.
var faultsShown = map[string]func(t *testing.T){
	"platform_down":   showPlatformDown,
	"model_down":      showModelDown,
	"tool_failing":    showToolFailing,
	"mcp_silent":      showMCPSilent,
	"database_locked": showDatabaseLocked,
	"clock_off":       showClockOff,
	"post_in_doubt":   showPostInDoubt,
	"stuck_queue":     showStuckQueue,
	"dead_letters":    showDeadLetters,
}

// TestFaultsShow: a metric shows each fault of a running process within a minute, and the alert on it fires on what the
// process told.
func TestFaultsShow(t *testing.T) {
	t.Parallel()
	for name, show := range faultsShown {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t)
		})
	}
}

// is reports whether a metric has a value.
func is(name string, value float64) func(map[string]float64) bool {
	return func(now map[string]float64) bool {
		got, told := now[name]
		return told && got == value
	}
}

func showPlatformDown(t *testing.T) {
	p := newSlackProcess(t, "GATEHOUSE_AGENT=echo")
	p.open()
	p.readyAgain()
	r := watch(t, p.at, "GatehousePlatformDown")
	p.slack.Inject(slacktest.Fault{Trouble: slacktest.ServerError(503)})
	p.ann.Says("hello")
	r.shows(is(`gatehouse_platform_up{direction="outbound",platform="slack"}`, 0))
	r.fires()
}

func showModelDown(t *testing.T) {
	fake := vendors["OpenAI"](t)
	p := newSlackProcess(t)
	for key, value := range fake.env {
		p.env = append(p.env, key+"="+value)
	}
	p.open()
	fake.Then(fake.say("Hello."))
	p.ann.Says("hello")
	p.reads(p.dm, "", "Hello.")
	r := watch(t, p.at, "GatehouseModelDown")
	fake.Think(func(llmtest.Received) llmtest.Answer { return fake.fail(http.StatusServiceUnavailable, "", "away") })
	p.ann.Says("are you there?")
	r.shows(is(`gatehouse_model_up{model="gpt-test"}`, 0))
	r.fires()
}

func showToolFailing(t *testing.T) {
	p := newSlackProcess(t, "GATEHOUSE_AGENT=demo")
	p.open()
	p.ann.Says("calc 1+1")
	p.reads(p.dm, "", "1+1 = 2")
	r := watch(t, p.at, "GatehouseToolsFail")
	for n := range 5 {
		failed := float64(n + 1)
		p.ann.Says("calc 1/0")
		r.shows(is(`gatehouse_tool_calls_total{result="tool_arguments",tool="demo.calc"}`, failed))
	}
	r.fires()
}

func showMCPSilent(t *testing.T) {
	server, _ := pingServer(t)
	behind, err := url.Parse(server)
	noErr(t, err)
	var silent atomic.Bool
	gone := make(chan struct{})
	answers := httputil.NewSingleHostReverseProxy(behind)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if silent.Load() {
			<-gone
			return
		}
		answers.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	t.Cleanup(func() { close(gone) })
	file := serversFile(t, filepath.Join(t.TempDir(), "mcp.json"), map[string]string{"files": front.URL})
	p := newSlackProcess(t, "GATEHOUSE_AGENT=demo", "GATEHOUSE_MCP_CONFIG="+file, mcpPingKey+"=3s")
	p.open()
	awaitServer(t, p.at, "files")
	r := watch(t, p.at, "GatehouseMCPServerDown")
	silent.Store(true)
	r.shows(is(`gatehouse_mcp_server_up{server="files"}`, 0))
	r.fires()
}

func showDatabaseLocked(t *testing.T) {
	p := newSlackProcess(t, "GATEHOUSE_AGENT=echo")
	p.open()
	p.readyAgain()
	r := watch(t, p.at, "GatehouseDatabaseFaults")
	db, err := sql.Open("sqlite3", strings.TrimPrefix(p.url, "sqlite:")+"?_busy_timeout=10000&_txlock=immediate")
	noErr(t, err)
	defer db.Close()
	tx, err := db.Begin()
	noErr(t, err)
	defer func() { _ = tx.Rollback() }()
	r.shows(func(now map[string]float64) bool {
		return now[`gatehouse_store_errors_total{category="store_busy"}`] > 0
	})
	r.fires()
}

func showClockOff(t *testing.T) {
	var behind atomic.Int64
	p := newSlackProcessWith(t, sqliteFile, slacktest.Options{Now: func() time.Time {
		return time.Now().Add(-time.Duration(behind.Load()))
	}}, "GATEHOUSE_AGENT=echo")
	p.open()
	p.readyAgain()
	r := watch(t, p.at, "GatehouseClockOff")
	behind.Store(int64(90 * time.Second))
	p.ann.Says("what time is it?")
	r.shows(func(now map[string]float64) bool { return now[`gatehouse_clock_skew_seconds{source="slack"}`] > 60 })
	r.fires()
}

func showPostInDoubt(t *testing.T) {
	p := newSlackProcess(t, "GATEHOUSE_AGENT=echo")
	p.open()
	p.readyAgain()
	r := watch(t, p.at, "GatehousePostsInDoubt")
	for _, endpoint := range []string{"conversations.history", "conversations.replies"} {
		p.slack.Inject(slacktest.Fault{Endpoint: endpoint, Trouble: slacktest.ServerError(503)})
	}
	p.slack.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.AnswerLost(), Times: 1})
	p.ann.Says("hello")
	r.shows(is("gatehouse_posts_doubtful", 1))
	r.fires()
}

// The message waits since ten minutes ago, by the clock of the database.
func showStuckQueue(t *testing.T) {
	clock := filepath.Join(t.TempDir(), "clock")
	p := newSlackProcess(t, "GATEHOUSE_AGENT=echo", clockKey+"="+clock)
	p.open()
	p.readyAgain()
	r := watch(t, p.at, "GatehouseQueueStuck")
	noErr(t, p.store.SetPaused(t.Context(), true))
	noErr(t, os.WriteFile(clock, []byte("-10m"), 0o600))
	p.ann.Says("hello")
	r.shows(func(now map[string]float64) bool { return now["gatehouse_queue_oldest_seconds"] > 300 })
	r.fires()
}

// The process dies each time that it stores the end of the turn.
func showDeadLetters(t *testing.T) {
	p := newSlackProcess(t, "GATEHOUSE_AGENT=echo")
	p.open()
	p.readyAgain()
	r := watch(t, p.at, "GatehouseDeadLetters")
	p.app.kill()
	p.open(killKey+"=Finish.before", nthKey+"=1")
	p.ann.Says("hello")
	for deaths := 1; ; deaths++ {
		app := p.app
		p.until(fmt.Sprint("death ", deaths), app, app.gone)
		if deaths == 5 {
			break
		}
		p.open(killKey+"=Finish.before", nthKey+"=1")
	}
	p.open()
	r.shows(is("gatehouse_deadletters", 1))
	r.fires()
}
