package main

import (
	"maps"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
)

// remembering is a policy that lets its one approver remember an approval of a note twice.
func remembering(approver string) string {
	return `
version: 1
rules:
  - name: notes
    tools: ["note.*"]
    risk: [write]
    action: ask
    approvers: ["` + approver + `"]
    remember: {for: 1h, uses: 2}
`
}

// TestSlackAnApprovalIsRemembered: for as many calls as the card says, each on a card that counts it, until somebody
// stops it; and not at all if it was approved for once.
func TestSlackAnApprovalIsRemembered(t *testing.T) {
	t.Parallel()
	env := maps.Clone(transports["HTTP"])
	env["GATEHOUSE_APPROVAL_POLICY"] = policyFile(t, remembering("slack:U2BOB"))
	s := serveSlack(t, slacktest.Options{}, env)
	thread, card := s.asked("milk")
	if text := shownOnSlack(card); !strings.Contains(text, "the same call in this conversation for 1 hour, 2 times") {
		t.Errorf("the card does not say what remembering it allows:\n%s", text)
	}
	again := func(text string) slacktest.Message {
		s.ann.Posts("C1", s.slack.MentionOfBot()+" note add milk", slacktest.InThread(thread))
		return s.card("C1", thread, text)
	}
	const asked, done = "Approval needed", "Done"
	s.bob.Clicks("C1", card.TS, "approve")
	s.shows("C1", card.TS, done, 0)

	card = again(asked) // it was approved for once
	s.bob.Clicks("C1", card.TS, "remember")
	s.shows("C1", card.TS, "It is remembered", 1)
	use := again("use 1 of 2")
	s.shows("C1", use.TS, done, 1)
	s.eve.Clicks("C1", use.TS, "forget")
	s.readsEphemeral("C1", "U3EVE", "Only the person who asked and the approvers can stop this.")
	s.ann.Clicks("C1", use.TS, "forget")
	s.shows("C1", use.TS, "use 1 of 2", 0)
	s.shows("C1", card.TS, done, 0)

	card = again(asked) // it was stopped
	s.bob.Clicks("C1", card.TS, "remember")
	s.shows("C1", card.TS, "It is remembered", 1)
	use = again("use 1 of 2")
	s.shows("C1", use.TS, done, 1)
	s.shows("C1", card.TS, ", once.", 1) // what is left
	s.ann.Posts("C1", s.slack.MentionOfBot()+" note add milk", slacktest.InThread(thread))
	s.reads("C1", thread, "use 2 of 2")
	s.shows("C1", use.TS, "use 1 of 2", 0) // nothing is left to be stopped
	s.shows("C1", card.TS, done, 0)
	if m, _ := s.slack.Message("C1", card.TS); strings.Contains(m.Shown(), "remembered") {
		t.Errorf("the card says that what is used up is remembered:\n%s", m.Shown())
	}
	again(asked) // it is used up
	s.ann.Posts("C1", s.slack.MentionOfBot()+" note list", slacktest.InThread(thread))
	s.reads("C1", thread, strings.TrimSpace(strings.Repeat("• milk\n", 5)))
}

// TestDiscordAnApprovalIsRemembered: with the buttons of Discord's card.
func TestDiscordAnApprovalIsRemembered(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		env["GATEHOUSE_APPROVAL_POLICY"] = policyFile(t, remembering("discord:"+deciderID))
		d := serveDiscord(t, discordtest.Options{}, env)
		ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
		card := d.card(ask.ID, "the same call in this conversation for 1 hour, 2 times")
		d.bob.Clicks(ask.ID, card.ID, "Approve and remember")
		d.reads(ask.ID, "Done")
		d.ann.Posts(ask.ID, d.discord.MentionOfBot()+" note add milk")
		use := d.card(ask.ID, "use 1 of 2")
		d.bob.Clicks(ask.ID, use.ID, "Stop remembering")
		waitUntil(t, func() bool {
			m, _ := d.discord.Message(ask.ID, use.ID)
			return strings.Contains(m.Shown(), "use 1 of 2") && len(m.Buttons()) == 0
		}, "the card without its button")
		d.ann.Posts(ask.ID, d.discord.MentionOfBot()+" note add milk")
		d.card(ask.ID, "Approval needed")
	})
}

// TestAnApprovalIsRememberedOverOpenHarness: with tokens of the protocol; each use is in the session's mail.
func TestAnApprovalIsRememberedOverOpenHarness(t *testing.T) {
	t.Parallel()
	policy := strings.Replace(remembering("openharness:ann"), "remember:", "self: true\n    remember:", 1)
	p, ann, _, _ := newTrio(t, "GATEHOUSE_APPROVAL_POLICY="+policyFile(t, policy))
	card := ann.must(ann.send(request("r1", "s1", "note add milk"))).card()
	done := ann.must(ann.send(with(request("r2", "s1", ""), card.choice("remember"))))
	if !strings.Contains(strings.Join(done.texts(), "\n"), "Done:") {
		t.Fatalf("the approval: %s", done.Raw)
	}
	again := ann.must(ann.send(request("r3", "s1", "note add milk")))
	if !strings.Contains(string(again.Raw), "use 1 of 2") {
		t.Fatalf("the next call: %s", again.Raw)
	}
	ann.header.Set("Prefer", "wait=20")
	done = ann.must(ann.send(with(request("r3.1", "s1", ""), used(again).Status)))
	// A call that was quick enough is told with the answer to its message, and then not once more.
	if told := strings.Join(append(again.texts(), done.texts()...), "\n"); strings.Count(told, "Done:") != 1 ||
		len(p.notesOf("ann", "s1")) != 2 {
		t.Fatalf("what became of it: %s, then %s", again.Raw, done.Raw)
	}
	var forget continuation
	for _, a := range used(again).Actions {
		if a.ID == "forget" {
			forget = a.Continuation
		}
	}
	forgot := ann.must(ann.send(with(request("r4", "s1", ""), forget)))
	third := ann.must(ann.send(request("r5", "s1", "note add milk")))
	if third.card().choice("approve").Token == "" || len(p.notesOf("ann", "s1")) != 2 {
		t.Errorf("after it was stopped (%s): %s", forgot.Raw, third.Raw)
	}
	word := ann.must(ann.send(request("r6", "s1", "Approved.")))
	if !strings.Contains(string(word.Raw), "Only the buttons decide") || len(p.notesOf("ann", "s1")) != 2 {
		t.Errorf("a word: %s", word.Raw)
	}
	p.app.kill()
}

// used is what an answer says about the card of a call that a remembered approval allowed.
func used(r reply) (about extension) {
	for _, d := range r.Answer.Response.Directives {
		if d.ActionType == "dev.gatehouse.approval" {
			about = d.own()
		}
	}
	return about
}
