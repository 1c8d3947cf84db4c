package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/storagetest/failpoints"
)

// duringTool is the point while the tool runs, beside those of the store: it has noted its run and not yet answered.
const duringTool = "Tool.during"

// ownTool is a tool of GATEHOUSE_TOOLS, in a folder of its own. It appends each of its runs to a file, with the key of
// the call.
type ownTool struct {
	kind       string // command or http
	idempotent bool

	server  *httptest.Server // of the kind http: one for all benches, as a tool with another URL would be another tool
	benches *sync.Map        // *workbench by the file of its runs
}

// serve starts the server of a tool of the kind http.
func (o *ownTool) serve(t *testing.T) {
	o.benches = &sync.Map{}
	o.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ran := r.Header.Get("Ran")
		f, err := os.OpenFile(ran, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = fmt.Fprintln(f, r.Header.Get("Idempotency-Key"))
			_ = f.Close()
		}
		if os.Remove(killFile(ran)) == nil {
			w, _ := o.benches.Load(ran)
			w.(*workbench).latest.Load().kill()
		}
		_, _ = fmt.Fprint(rw, "stored")
	}))
	t.Cleanup(o.server.Close)
}

// killFile is the file that makes the next run kill the process, beside the file of the runs.
func killFile(ran string) string { return filepath.Join(filepath.Dir(ran), "kill") }

// bench makes a workbench whose processes have the tool. runs are the keys that it was run with.
func (o ownTool) bench(t *testing.T, e engine) (w *workbench, runs func() []string, killOnce func()) {
	t.Helper()
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	kill := killFile(ran)
	how := "command: [./store.sh]\n    env: [PATH, TOOL_RAN]"
	env := []string{"GATEHOUSE_TOOLS=" + filepath.Join(dir, "tools.yaml"), "TOOL_RAN=" + ran}
	if o.server != nil {
		how = "http: {method: POST, url: '" + o.server.URL +
			"/store', headers: {Ran: '{{TOOL_RAN}}'}, secrets: [TOOL_RAN]}"
		env = append(env, "GATEHOUSE_FETCH_HOSTS="+o.server.Listener.Addr().String())
	}
	for name, text := range map[string]string{
		"store.sh": "#!/bin/sh\necho \"$GATEHOUSE_CALL_KEY\" >>\"$TOOL_RAN\"\nrm \"" + kill +
			"\" 2>/dev/null && kill -9 $PPID\necho stored\n",
		"tools.yaml": "version: 1\ntools:\n  - name: shop.store\n    description: Stores a thing.\n    risk: write\n " +
			"   idempotent: " + fmt.Sprint(o.idempotent) +
			"\n    arguments: {type: object, properties: {what: {type: string}}, required: [what]}\n    summary: " +
			"Store {{what}}\n    " + how + "\n",
	} {
		noErr(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	w = e.workbench(t, env...)
	if o.server != nil {
		o.benches.Store(ran, w)
	}
	w.asks = `call shop.store {"what": "milk"}`
	runs = func() []string {
		text, _ := os.ReadFile(ran) // there is none before the first run
		return lines(string(text))
	}
	killOnce = func() {
		noErr(t, os.WriteFile(kill, nil, 0o600))
	}
	w.holds = func(point string) { o.wantRuns(w, point, runs()) }
	return w, runs, killOnce
}

// wantRuns checks what must hold after a kill at any point: one reply, every run with the key of the call; a tool that
// is not idempotent ran at most once, and its outcome is known unless only the intent is; an idempotent one has an
// outcome, always.
func (o ownTool) wantRuns(w *workbench, point string, runs []string) {
	w.t.Helper()
	reply, intent := w.endedOnce(point)
	for _, key := range runs {
		if key != string(intent.Approval) {
			w.t.Errorf("%s: it ran with the key %q, want %q", point, key, intent.Approval)
		}
	}
	onlyIntent := point == duringTool || slices.Contains(mustBeUnknown, point)
	if intent.Result.Category == core.OutcomeUnknown {
		if o.idempotent || slices.Contains(mustBeKnown, point) || len(runs) > 1 || !strings.Contains(reply, "unknown") {
			w.t.Errorf("%s: the outcome is reported as unknown after %d runs: %q", point, len(runs), reply)
		}
		return
	}
	if onlyIntent && !o.idempotent {
		w.t.Errorf("%s: only the intent was committed, and the reported outcome is %+v", point, *intent.Result)
	}
	most, least := 1, 1
	if o.idempotent && !slices.Contains(mustBeKnown, point) {
		most = 2
	}
	if o.idempotent && (point == duringTool || point == "FinishIntent.before") {
		least = 2
	}
	if len(runs) < least || len(runs) > most || reply != "stored" || intent.Result.Content != "stored" {
		w.t.Errorf("%s: %d runs, want %d to %d; reply %q, result %+v", point, len(runs), least, most, reply,
			*intent.Result)
	}
}

// TestLaw5_OwnToolsKilledAtEveryPoint kills a real process before and after every store call of a turn that runs a tool
// of GATEHOUSE_TOOLS, and while the tool runs.
func TestLaw5_OwnToolsKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, o := range []ownTool{
		{kind: "command"}, {kind: "command", idempotent: true}, {kind: "http"}, {kind: "http", idempotent: true},
	} {
		t.Run(fmt.Sprintf("%s idempotent %t", o.kind, o.idempotent), func(t *testing.T) {
			t.Parallel()
			if o.kind == "http" {
				o.serve(t)
			}
			w, runs, _ := o.bench(t, sqliteFile)
			w.scenario(approving, end, 0, "")
			if len(runs()) != 0 {
				t.Fatal("it ran before the resume")
			}
			approved := sqliteFile.startingWith(t, w.url)
			record := t.TempDir()
			w, _, _ = o.bench(t, approved)
			w.scenario("", "", 0, record)
			text, err := os.ReadFile(filepath.Join(record, resuming))
			noErr(t, err)
			passed := lines(string(text))
			for _, p := range must[resuming] {
				if !strings.HasPrefix(p, "AddNote.") && !slices.Contains(passed, p) {
					t.Errorf("%s is never passed, so the test proves nothing", p)
				}
			}
			for _, p := range append(failpoints.All(), duringTool) {
				if p != duringTool && (!slices.Contains(passed, p) || !wide(true, mustPass(resuming, p))) {
					continue
				}
				t.Run(p, func(t *testing.T) {
					t.Parallel()
					w, _, killOnce := o.bench(t, approved)
					if p == duringTool {
						killOnce()
					}
					w.scenario(resuming, p, 1, "")
				})
			}
		})
	}
}
