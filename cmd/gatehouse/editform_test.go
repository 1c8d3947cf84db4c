package main

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
)

// editable is a policy whose one approver may change the arguments of notes.
func editable(approver string) string {
	return `
version: 1
rules:
  - name: notes
    tools: ["note.*"]
    risk: [write]
    action: ask
    approvers: ["` + approver + `"]
    edit: true
`
}

// TestSlackArgumentsAreChangedInAForm: the card shows what they are now, a press of its earlier buttons counts for
// nothing, and the call runs as changed.
func TestSlackArgumentsAreChangedInAForm(t *testing.T) {
	t.Parallel()
	env := maps.Clone(transports["HTTP"])
	env["GATEHOUSE_APPROVAL_POLICY"] = policyFile(t, editable("slack:U2BOB"))
	s := serveSlack(t, slacktest.Options{}, env)
	thread, card := s.asked("milk")
	s.bob.Clicks("C1", card.TS, "edit")
	if _, err := s.slack.WaitForModal(s.ctx(), "U2BOB"); err != nil {
		t.Fatalf("%v\n%s", err, s.slack.Dump())
	}
	before, _ := s.slack.FindButton("C1", card.TS, "approve")
	form := func(ok func(slacktest.View) bool, what string) {
		t.Helper()
		waitUntil(t, func() bool {
			v, open := s.slack.Modal("U2BOB")
			return open && ok(v)
		}, what)
	}
	// What is refused comes back with the sentence; the form stays as it was typed.
	for typed, fault := range map[string]string{
		`{"text": butter}`: "line 1, column 10", `["butter"]`: "in braces", `{"text": 5}`: "text",
		`{"text": "milk"}`: "These are the present arguments",
	} {
		s.bob.Submits(map[string]string{"arguments": typed})
		form(func(v slacktest.View) bool {
			return strings.Contains(v.Errors["arguments"], fault)
		}, fault+" in the form")
	}
	// Curly quotes come back mended.
	s.bob.Submits(map[string]string{"arguments": `{“text”: “butter”}`})
	form(func(v slacktest.View) bool { return v.CallbackID == "edit_mended" }, "the mended form")
	if v, _ := s.slack.Modal("U2BOB"); !strings.Contains(fmt.Sprint(v.Blocks), `{"text": "butter"}`) ||
		!strings.Contains(fmt.Sprint(v.Blocks), "Curly quotes") {
		t.Errorf("the form does not hold what was probably meant: %v", v.Blocks)
	}
	s.bob.Submits(map[string]string{"arguments_mended": `{"text": "butter"}`})
	s.shows("C1", card.TS, "Changed by", len(card.Buttons()))
	s.bob.Presses(before)
	s.readsEphemeral("C1", "U2BOB", "The arguments were changed after this card was drawn")
	s.bob.Clicks("C1", card.TS, "approve")
	s.reads("C1", thread, "Done. An approver changed the arguments to")
	s.ann.Posts("C1", s.slack.MentionOfBot()+" note list", slacktest.InThread(thread))
	s.reads("C1", thread, "• butter")
}

// TestDiscordArgumentsAreChangedInAForm does the same on Discord, where what can't be read as arguments changes
// nothing.
func TestDiscordArgumentsAreChangedInAForm(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		env["GATEHOUSE_APPROVAL_POLICY"] = policyFile(t, editable("discord:"+deciderID))
		d := serveDiscord(t, discordtest.Options{}, env)
		ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
		card := d.card(ask.ID, "Add “milk” to the note book.")
		d.bob.Clicks(ask.ID, card.ID, "Edit")
		form, err := d.discord.WaitForModal(d.ctx(), deciderID)
		if err != nil {
			t.Fatalf("%v\n%s", err, d.discord.Dump())
		}
		d.bob.SubmitsAgain(form, map[string]string{"arguments": `{"text": butter}`})
		d.readsEphemeral(ask.ID, deciderID, "nothing was changed")
		again := func(typed, text, filled string) (message string) {
			t.Helper()
			d.bob.SubmitsAgain(form, map[string]string{"arguments": typed})
			m, err := d.discord.WaitForEphemeral(d.ctx(), ask.ID, deciderID, text)
			noErr(t, err)
			d.bob.Clicks(ask.ID, m.ID, "Edit")
			reopened, err := d.discord.WaitForModal(d.ctx(), deciderID)
			noErr(t, err)
			if shown := fmt.Sprintf("%+v", reopened); !strings.Contains(shown, filled) {
				t.Errorf("the form is not filled with %s: %s", filled, shown)
			}
			return m.ID
		}
		again(`{"text": 5}`, "text", `{"text": 5}`)
		stale := again(`{“text”: “butter”}`, "Curly quotes", `{"text": "butter"}`)
		d.bob.SubmitsAgain(form, map[string]string{"arguments": `{"text": "butter"}`})
		waitUntil(t, func() bool {
			m, _ := d.discord.Message(ask.ID, card.ID)
			return strings.Contains(m.Shown(), "Changed by") && !m.Buttons()[0].Disabled
		}, "the card with the new arguments")
		d.bob.Clicks(ask.ID, stale, "Edit") // what was typed before the change can't take its place unseen
		reopened, err := d.discord.WaitForModal(d.ctx(), deciderID)
		noErr(t, err)
		d.bob.SubmitsAgain(reopened, map[string]string{"arguments": `{"text": "oil"}`})
		d.readsEphemeral(ask.ID, deciderID, "The arguments were changed after this card was drawn")
		d.bob.Clicks(ask.ID, card.ID, "Approve")
		d.reads(ask.ID, "Done. An approver changed the arguments to")
		d.ann.Posts(ask.ID, d.discord.MentionOfBot()+" note list")
		d.reads(ask.ID, "• butter")
	})
}
