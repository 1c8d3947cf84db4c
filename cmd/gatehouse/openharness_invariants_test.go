package main

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
)

const (
	annsToken = "anns-token-0123456789"
	bobsToken = "bobs-token-0123456789"
	evesToken = "eves-token-0123456789"
)

// newTrio starts gatehouse with ann and bob, who may approve, and eve, who may not.
func newTrio(t *testing.T, env ...string) (p *serveProcess, ann, bob, eve *shell) {
	t.Helper()
	p = newEngine(t, sqliteFile, []string{"ann!=" + annsToken, "bob!=" + bobsToken, "eve=" + evesToken}, env...)
	return p, newShell(t, p.at, annsToken), newShell(t, p.at, bobsToken), newShell(t, p.at, evesToken)
}

// TestLaw7_ATokenDecidesForItsPrincipalOnce sends tokens of somebody else, of another session or run, used and forged
// ones. All have the same answer, and the run still waits; then the right one counts.
func TestLaw7_ATokenDecidesForItsPrincipalOnce(t *testing.T) {
	t.Parallel()
	p, ann, bob, eve := newTrio(t)
	card := ann.must(ann.send(request("r1", "s1", "note add milk"))).card()
	other := ann.must(ann.send(request("r2", "s2", "note add eggs"))).card()
	approve, deny := card.choice("approve"), card.choice("deny")
	forged := approve
	forged.Token = "ctok_forged" + forged.Token[11:]
	elsewhere := approve
	elsewhere.Run = other.Payload.RunID
	unknownRun := approve
	unknownRun.Run = "run_that_never_was"
	var answers []string
	for name, try := range map[string]func() reply{
		"forged":             func() reply { return ann.send(with(request("f1", "s1", ""), forged)) },
		"of another run":     func() reply { return ann.send(with(request("f2", "s1", ""), elsewhere)) },
		"of an unknown run":  func() reply { return ann.send(with(request("f3", "s1", ""), unknownRun)) },
		"in another session": func() reply { return ann.send(with(request("f4", "s2", ""), approve)) },
		"by an approver":     func() reply { return bob.send(with(request("f5", "s1", ""), approve)) },
		"by somebody":        func() reply { return eve.send(with(request("f6", "s1", ""), approve)) },
		"a status of bob's":  func() reply { return bob.send(with(request("f7", "s1", ""), card.own().Status)) },
	} {
		got := try()
		if got.Status != http.StatusConflict || got.code() != "continuation_invalid" {
			t.Errorf("%s: %d %s", name, got.Status, got.Raw)
		}
		answers = append(answers, got.Answer.Response.Error.Message)
	}
	if slices.Sort(answers); len(slices.Compact(answers)) != 1 {
		t.Errorf("the refusals tell tokens apart: %q", answers)
	}
	if notes := p.notesOf("ann", "s1"); len(notes) != 0 {
		t.Fatalf("a wrong token changed something: %q", notes)
	}
	done := ann.must(ann.send(with(request("r3", "s1", "never mind"), approve)))
	if !strings.Contains(strings.Join(done.texts(), "\n"), "Done:") {
		t.Fatalf("the right token: %s", done.Raw)
	}
	if again := ann.send(with(request("r3", "s1", "never mind"), approve)); !bytes.Equal(again.Raw, done.Raw) {
		t.Errorf("repeated, the answer differs:\n%s\n%s", done.Raw, again.Raw)
	}
	ann.refused(ann.send(with(request("r4", "s1", ""), approve)), http.StatusConflict, "continuation_invalid")
	ann.refused(ann.send(with(request("r5", "s1", ""), deny)), http.StatusConflict, "continuation_invalid")
	ann.refused(ann.send(with(request("r3", "s1", ""), deny)), http.StatusConflict, "request_id_conflict")
	if notes := p.notesOf("ann", "s1"); fmt.Sprint(notes) != "[milk]" {
		t.Errorf("the notes are %q", notes)
	}
	if n := p.messagesOf("ann", "s1"); n != 1 {
		t.Errorf("%d messages; what came with a continuation is no message", n)
	}
}

// TestWhoMayNotApproveGetsNoToken: the requester without rights gets the card, its state, and a way to withdraw it, and
// nothing that decides.
func TestWhoMayNotApproveGetsNoToken(t *testing.T) {
	t.Parallel()
	p, _, _, eve := newTrio(t)
	asked := eve.must(eve.send(request("r1", "s1", "note add milk")))
	card := asked.card()
	if card == nil || len(card.Payload.Choices) != 0 || card.own().Status.Token == "" || card.Payload.Message == "" {
		t.Fatalf("the card: %s", asked.Raw)
	}
	if len(asked.texts()) == 0 {
		t.Errorf("no message precedes the card: %s", asked.Raw)
	}
	waits := eve.must(eve.send(with(request("r2", "s1", ""), card.own().Status)))
	if waits.card() == nil || len(waits.card().Payload.Choices) != 0 {
		t.Errorf("the state: %s", waits.Raw)
	}
	if _, err := p.decide("approve", "bob"); err != nil {
		t.Fatal(err)
	}
	eve.header.Set("Prefer", "wait=20")
	done := eve.must(eve.send(with(request("r3", "s1", ""), card.own().Status)))
	if !strings.Contains(strings.Join(done.texts(), "\n"), "Done:") {
		t.Fatalf("after the approval: %s", done.Raw)
	}
	again := eve.must(eve.send(with(request("r4", "s1", ""), card.own().Status)))
	if fmt.Sprint(again.texts()) != fmt.Sprint(done.texts()) {
		t.Errorf("a status token is read-only, and its answers were %q and %q", done.texts(), again.texts())
	}
	next := eve.must(eve.send(request("r5", "s1", "hello")))
	if strings.Contains(strings.Join(next.texts(), "\n"), "Done:") {
		t.Errorf("what a poll gave out comes again: %s", next.Raw)
	}
}

// decide decides the open approval with the command line.
func (p *serveProcess) decide(verb, as string) (core.ApprovalID, error) {
	p.t.Helper()
	open := p.approvals(core.Open)
	if len(open) != 1 {
		return "", fmt.Errorf("%d approvals are open", len(open))
	}
	c := p.start(nil, "approvals", verb, string(open[0].ID), "--as", as)
	c.ok(p.t)
	return open[0].ID, nil
}

// TestLaw2_RepliesAfterAResumeComeOnce: somebody else approves while no request waits; the next answer begins with what
// was said, once.
func TestLaw2_RepliesAfterAResumeComeOnce(t *testing.T) {
	t.Parallel()
	p, _, _, eve := newTrio(t)
	eve.must(eve.send(request("r1", "s1", "note add milk")))
	if _, err := p.decide("approve", "bob"); err != nil {
		t.Fatal(err)
	}
	p.until("the turn ends", p.app, p.settled)
	next := eve.must(eve.send(request("r2", "s1", "hello")))
	if texts := next.texts(); len(texts) != 2 || !strings.Contains(texts[0], "Done:") {
		t.Fatalf("the next answer has %q", texts)
	}
	if again := eve.must(eve.send(request("r2", "s1", "hello"))); !bytes.Equal(again.Raw, next.Raw) {
		t.Errorf("repeated, the answer differs:\n%s\n%s", next.Raw, again.Raw)
	}
	if third := eve.must(eve.send(request("r3", "s1", "hello"))); len(third.texts()) != 1 {
		t.Errorf("a later answer has %q", third.texts())
	}
}

// TestRequestIDs: the same id and content is one message, also at the same time; another content is a conflict; another
// principal's is another request; without an id nothing is known.
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	p, ann, bob, _ := newTrio(t)
	answers := make(chan reply, 20)
	for range cap(answers) {
		go func() { answers <- ann.send(request("r1", "s1", "hello")) }()
	}
	first := ann.must(<-answers)
	for range cap(answers) - 1 {
		if next := <-answers; !bytes.Equal(next.Raw, first.Raw) {
			t.Errorf("one request_id, two answers:\n%s\n%s", first.Raw, next.Raw)
		}
	}
	if n := p.messagesOf("ann", "s1"); n != 1 {
		t.Errorf("%d messages", n)
	}
	ann.refused(ann.send(request("r1", "s1", "hello!")), http.StatusConflict, "request_id_conflict")
	ann.refused(ann.send(request("r1", "s2", "hello")), http.StatusConflict, "request_id_conflict")
	bob.must(bob.send(request("r1", "s1", "hello!")))
	ann.must(ann.send(request("", "s1", "hello")))
	ann.must(ann.send(request("", "s1", "hello")))
	if n := p.messagesOf("ann", "s1"); n != 3 {
		t.Errorf("%d messages", n)
	}
}

// TestSessionsOfPrincipals: names that look alike in a path are different conversations.
func TestSessionsOfPrincipals(t *testing.T) {
	t.Parallel()
	p, ann, _, _ := newTrio(t)
	for i, session := range []string{"a/b", "a%2Fb", "../bob/s1", "a", "slack:T1:C1", "s 1"} {
		ann.must(ann.send(request(fmt.Sprint("r", i), session, "hello")))
	}
	named := map[core.ConversationID]bool{}
	for _, e := range p.events(core.EventFilter{Platform: "openharness"}) {
		if named[e.Conversation] = true; !strings.HasPrefix(string(e.Conversation), "openharness:oh/ann/") ||
			strings.Count(string(e.Conversation), "/") != 2 {
			t.Errorf("the conversation is %q", e.Conversation)
		}
	}
	if len(named) != 6 {
		t.Errorf("the conversations are %v", named)
	}
}
