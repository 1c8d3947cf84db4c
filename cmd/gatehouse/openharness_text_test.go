package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
)

// withoutApprovals adds to a request that the Shell can't show approvals.
func withoutApprovals(m map[string]any) map[string]any {
	m["capabilities"] = map[string]any{"openharness.ui.approval": false}
	return m
}

// asText fails unless the answer asks in texts alone, the last of which has all of these, and returns that directive.
func asText(t *testing.T, r reply, texts ...string) *directive {
	t.Helper()
	all := r.Answer.Response.Directives
	for _, d := range all {
		if d.ActionType != "render_message" {
			t.Fatalf("a Shell without approvals gets %s: %s", d.ActionType, r.Raw)
		}
	}
	if len(all) == 0 {
		t.Fatalf("nothing is asked: %s", r.Raw)
	}
	last := &all[len(all)-1]
	for _, text := range texts {
		if !strings.Contains(last.Payload.Text, text) {
			t.Errorf("%q is not in %q", text, last.Payload.Text)
		}
	}
	return last
}

// TestAShellWithoutApprovalsGetsText: what is asked, who may decide, and how; the commands that it names decide. A
// request of another Shell of the same session has the card.
func TestAShellWithoutApprovalsGetsText(t *testing.T) {
	t.Parallel()
	p, ann, _, eve := newTrio(t)
	asked := eve.must(eve.send(withoutApprovals(request("r1", "s1", "note add milk"))))
	id := p.approvals(core.Open)[0].ID
	told := asText(t, asked, "Approval needed", "Add “milk” to the note book.", "Tool: note.add", "Asked by: eve",
		"May decide: ann on the web, bob on the web",
		"To decide, open /approvals/"+string(id))
	if told.own().Withdraw.Token == "" || told.own().Status.Token == "" || len(told.own().Choices) != 0 {
		t.Errorf("who asked, and may not decide, has %s", asked.Raw)
	}
	asText(t, eve.must(eve.send(withoutApprovals(with(request("r2", "s1", ""), told.own().Status)))), "Approval needed")
	if card := eve.must(eve.send(with(request("r3", "s1", ""), told.own().Status))).card(); card == nil {
		t.Error("a Shell with approvals gets no card")
	}
	if _, err := p.decide("approve", "bob"); err != nil {
		t.Fatal(err)
	}
	eve.header.Set("Prefer", "wait=20")
	says(t, eve.must(eve.send(withoutApprovals(with(request("r4", "s1", ""), told.own().Status)))), "Done:")

	secret := "xoxb-" + "123456789012-123456789012-" + strings.Repeat("aB3", 8)
	told = asText(t, ann.must(ann.send(withoutApprovals(request("r1", "s1", "note add "+secret)))), "are hidden",
		"An approver can read them on gatehouse's page.")
	choices := choicesOf(told)
	if ids := fmt.Sprint(choices); ids != "[review deny]" {
		t.Fatalf("an approver's choices are %s", ids)
	}
	told = asText(t,
		ann.must(ann.send(withoutApprovals(with(request("r2", "s1", ""), told.own().Choices[0].Continuation)))),
		"are hidden")
	if ids := fmt.Sprint(choicesOf(told)); ids != "[approve deny]" {
		t.Fatalf("after the review the choices are %s", ids)
	}
	says(t, ann.must(ann.send(withoutApprovals(with(request("r3", "s1", ""), told.own().Choices[0].Continuation)))),
		"Done:")
	p.app.kill()
}

// choicesOf are the ids of the choices beside a text.
func choicesOf(d *directive) (ids []string) {
	for _, c := range d.own().Choices {
		ids = append(ids, c.ID)
	}
	return ids
}

// TestAShellWithoutApprovalsGetsQuestionsAsText, with their options and how to answer.
func TestAShellWithoutApprovalsGetsQuestionsAsText(t *testing.T) {
	t.Parallel()
	p, ann, _, _ := newTrio(t)
	told := asText(t, ann.must(ann.send(withoutApprovals(request("r1", "s1", "call people.ask "+abQuestion)))),
		"Which?\n1. a\n2. Bee", "Question from the bot, for ann on the web",
		"To decide, open /approvals/"+string(p.approvals(core.Open)[0].ID))
	if !slices.Equal(choicesOf(told), []string{"option-1", "option-2"}) {
		t.Errorf("the choices are %v", choicesOf(told))
	}
	typed := with(withoutApprovals(request("r2", "s1", "2")), told.own().Answer)
	says(t, ann.must(ann.send(typed)), `ann answered: "b"`)
	p.app.kill()
}

// TestAWaitThatEndsIsFollowed: a turn that takes longer than its request is answered by a noop, and its continuation by
// the turn's answer.
func TestAWaitThatEndsIsFollowed(t *testing.T) {
	t.Parallel()
	p, ann, _, _ := newTrio(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=1s")
	ann.header.Set("Prefer", "wait=0")
	first := ann.must(ann.send(request("r1", "s1", "hello")))
	all := first.Answer.Response.Directives
	if len(all) != 1 || all[0].ActionType != "noop" || !all[0].Payload.Pending || all[0].Payload.RunID == "" ||
		len(first.texts()) != 0 {
		t.Fatalf("an answer that is not there yet: %s", first.Raw)
	}
	if repeated := ann.must(
		ann.send(
			request("r1", "s1",
				"hello"))); repeated.Answer.Response.Directives[0].Payload.RunID != all[0].Payload.RunID {
		t.Errorf("repeated: %s", repeated.Raw)
	}
	ann.header.Set("Prefer", "wait=20")
	says(t, ann.must(ann.send(with(request("r2", "s1", ""), all[0].own().Status))), "hello")
	p.app.kill()
}
