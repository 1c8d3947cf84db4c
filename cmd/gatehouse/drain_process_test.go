package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gatehouse/core"
)

// aCommand is a real gatehouse that runs a command: its tool is a script that has the folder in DIR.
func aCommand(t *testing.T, script, more string, env ...string) (w *workbench, dir string, c *child) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"store.sh": "#!/bin/sh\n" + script,
		"tools.yaml": "version: 1\ntools: [{name: shop.store, description: d, risk: write, command: [./store.sh], " +
			"env: [PATH, DIR]" + more + "}]\n",
	} {
		noErr(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	w = newWorkbench(t,
		append([]string{"DIR=" + dir, "GATEHOUSE_TOOLS=" + filepath.Join(dir, "tools.yaml")}, env...)...)
	w.asks = "call shop.store {}"
	w.scenario(approving, end, 0, "")
	c = w.start(nil, "chat")
	w.until("the command", c, func() bool { return w.wrote(dir, "began") != "" })
	return w, dir, c
}

// wrote is what the command has written to a file of its folder; "" until it has.
func (w *workbench) wrote(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, name)) // it may not be there yet
	return string(text)
}

// outcome is what is recorded of the call; nil if nothing is.
func (w *workbench) outcome() *core.ToolResult {
	w.t.Helper()
	intent, err := w.store.LoadIntent(w.t.Context(), w.approvals()[0].ID)
	if err != nil || intent == nil {
		w.t.Fatalf("the intent: %+v, %v", intent, err)
	}
	return intent.Result
}

// asked is the beginning of a script that notes that it was asked to end, in the process itself and in one that it has
// started.
const asked = `(trap 'echo asked >>"$DIR/below"; exit' TERM; echo began >"$DIR/belowbegan"
	while :; do sleep 0.05; done) &
below=$!
trap 'echo asked >>"$DIR/ended"; %s' TERM
until [ -s "$DIR/belowbegan" ]; do sleep 0.01; done
echo run >>"$DIR/began"
`

// TestLaw5_ACommandIsEndedAfterTheDrain: a command that still runs when the time to drain is over is asked to end, with
// its group, and killed if it does not. Its outcome is unknown, whatever it prints last, and it does not run again, but
// for one that is idempotent.
func TestLaw5_ACommandIsEndedAfterTheDrain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, more, runs, reply string }{
		"it ends": {
			fmt.Sprintf(asked, "echo done; exit 0") + "while :; do sleep 0.05; done", "", "run\n", "is unknown",
		},
		"it is killed": {fmt.Sprintf(asked, ":") + "while :; do sleep 0.05; done", "", "run\n", "is unknown"},
		"it runs again": {
			fmt.Sprintf(asked, "exit 0") +
				`[ "$(wc -l <"$DIR/began")" -gt 1 ] || while :; do sleep 0.05; done; kill $below; echo done`,
			", idempotent: true", "run\nrun\n", "done",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, dir, gatehouse := aCommand(t, c.script, c.more, "GATEHOUSE_DRAIN_TIMEOUT=1s")
			noErr(t, gatehouse.cmd.Process.Signal(syscall.SIGTERM))
			w.until("the end of gatehouse", gatehouse, gatehouse.gone)
			if w.wrote(dir, "ended") != "asked\n" || w.wrote(dir, "below") != "asked\n" {
				t.Errorf("the command was asked %q, what it started %q: %s", w.wrote(dir, "ended"),
					w.wrote(dir, "below"), gatehouse.out)
			}
			switch r := w.outcome(); {
			case c.more != "" && r != nil:
				t.Errorf("the outcome is %+v, though it may run again", *r)
			case c.more == "" && (r == nil || r.Category != core.OutcomeUnknown):
				t.Errorf("the outcome is %+v", r)
			}
			next := w.start(nil, "chat")
			w.until("the answer", next, w.settled)
			next.ok(t)
			reply, _ := w.endedOnce("")
			if !strings.Contains(reply, c.reply) || w.wrote(dir, "began") != c.runs {
				t.Errorf("the reply is %q after the runs %q", reply, w.wrote(dir, "began"))
			}
		})
	}
}

// A command that ends within the time to drain has its result.
func TestACommandHasTheTimeToDrain(t *testing.T) {
	t.Parallel()
	w, dir, gatehouse := aCommand(t,
		`echo run >"$DIR/began"; until [ -e "$DIR/go" ]; do sleep 0.01; done; sleep 0.5; echo stored`, "",
		"GATEHOUSE_DRAIN_TIMEOUT=5m")
	noErr(t, gatehouse.cmd.Process.Signal(syscall.SIGTERM))
	noErr(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	w.until("the end of gatehouse", gatehouse, gatehouse.gone)
	if r := w.outcome(); r == nil || r.Category != "" || r.Content != "stored" {
		t.Errorf("the outcome is %+v", r)
	}
}

// TestAnUnknownOutcomeSaysThatTheCommandMayGoOn: after a crash nobody knows whether all that it started has ended.
func TestAnUnknownOutcomeSaysThatTheCommandMayGoOn(t *testing.T) {
	t.Parallel()
	w, _, gatehouse := aCommand(t, `echo run >"$DIR/began"; while :; do sleep 0.05; done`, "")
	gatehouse.kill()
	next := w.start(nil, "chat")
	w.until("the answer", next, w.settled)
	next.ok(t)
	if r := w.outcome(); r == nil || r.Category != core.OutcomeUnknown ||
		!strings.Contains(r.Content, "what it started may still be running") {
		t.Errorf("the outcome is %+v", r)
	}
}
