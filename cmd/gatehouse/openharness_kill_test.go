package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
)

// ask sends a request under its id until it is answered with success. The process is started again if it has killed
// itself.
func (p *serveProcess) ask(s *shell, m map[string]any) reply {
	p.t.Helper()
	body, err := json.Marshal(m)
	noErr(p.t, err)
	var got reply
	p.untilRestarting("the answer to "+string(body), func() bool {
		got, err = s.try(http.MethodPost, strings.NewReader(string(body)))
		return err == nil && got.Status == http.StatusOK && got.Answer.Response.Status == "success"
	})
	return got
}

// outcome asks for the outcome of a run that goes on.
func (p *serveProcess) outcome(s *shell, got reply) reply {
	p.t.Helper()
	for _, d := range got.Answer.Response.Directives {
		if d.own().Kind == "working" {
			s.header.Set("Prefer", "wait=5")
			return p.outcome(s, p.ask(s, with(request("", "s1", ""), d.own().Status)))
		}
	}
	return got
}

// openHarnessScenario is an approval by a Shell that repeats each request until it is answered. The process is killed
// at the n-th pass of a point, and started again.
func openHarnessScenario(t *testing.T, e engine, point string, nth int, record string) {
	p := newServeProcess(t, e, "GATEHOUSE_TOKENS=ann!=anns-token-0123456789", "GATEHOUSE_AGENT=demo")
	p.conversation = "openharness:oh/ann/s1"
	p.open(armed(point, nth, record)...)
	s := newShell(t, p.at, "anns-token-0123456789")
	asked := p.outcome(s, p.ask(s, request("r1", "s1", "note add milk")))
	token := asked.card().choice("approve")
	if token.Token == "" {
		t.Fatalf("no card: %s", asked.Raw)
	}
	decision := with(request("r2", "s1", ""), token)
	done := p.outcome(s, p.ask(s, decision))
	p.untilRestarting("the end", p.settled)
	if !slices.ContainsFunc(done.texts(), func(text string) bool {
		return strings.Contains(text, "Done:") || strings.Contains(text, "unknown")
	}) {
		t.Errorf("%s: the decision was answered with %s", point, done.Raw)
	}
	if again := p.ask(s, decision); fmt.Sprint(again.texts()) != fmt.Sprint(done.texts()) {
		t.Errorf("%s: repeated, the decision is answered with %q, before with %q", point, again.texts(), done.texts())
	}
	if next := p.ask(s, request("r3", "s1", "hello")); slices.ContainsFunc(next.texts(), func(text string) bool {
		return strings.Contains(text, "Done:")
	}) {
		t.Errorf("%s: the next answer has what was said before: %s", point, next.Raw)
	}
	p.app.kill()
	p.wantOneNote(point)
	messages := 0
	for _, ev := range p.events(core.EventFilter{Conversation: p.conversation}) {
		if ev.Kind() == core.KindMessage {
			messages++
		}
	}
	if messages != 2 {
		t.Errorf("%s: %d messages were stored, want 2", point, messages)
	}
}

// TestLaw2_OpenHarnessKilledAtEveryPoint kills the process before and after every store call of an approval, so also
// between the commit of a request and its answer: the same request_id recovers the answer.
func TestLaw2_OpenHarnessKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "points")
	openHarnessScenario(t, sqliteFile, "", 0, record)
	for point, nths := range passes(t, record, adapterActs...) {
		for _, nth := range slices.Compact([]int{nths[0], nths[len(nths)-1]}) {
			t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
				t.Parallel()
				openHarnessScenario(t, sqliteFile, point, nth, "")
			})
		}
	}
}

// TestLaw2_OpenHarnessLostAnswerOnPostgres does it at one point on Postgres: after the commit of the request.
func TestLaw2_OpenHarnessLostAnswerOnPostgres(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		openHarnessScenario(t, e, "AcceptClaim.after", 1, "")
	})
}
