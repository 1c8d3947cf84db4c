package main

import (
	"maps"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
)

// TestSlackTheSameRequestAgain: each has a card of its own, which says which of them it is and links to the first; a
// press decides one of them. After a denial the next card says by whom and why.
func TestSlackTheSameRequestAgain(t *testing.T) {
	t.Parallel()
	env := maps.Clone(transports["HTTP"])
	env["GATEHOUSE_APPROVAL_POLICY"] = policyFile(t, editable("slack:U2BOB"))
	s := serveSlack(t, slacktest.Options{}, env)
	thread, first := s.asked("milk")
	again := func() { s.ann.Posts("C1", s.slack.MentionOfBot()+" note add milk", slacktest.InThread(thread)) }
	again()
	second := s.card("C1", thread, "2 of 2")
	if text := second.Shown(); !strings.Contains(text, "The same as the request of ") ||
		!strings.Contains(text, "https://") {
		t.Errorf("the second card names the first without a link:\n%s", text)
	}
	again()
	third := s.card("C1", thread, "3 of 3")
	s.shows("C1", second.TS, "2 of 3", len(second.Buttons()))

	s.bob.Clicks("C1", second.TS, "reason")
	if _, err := s.slack.WaitForModal(s.ctx(), "U2BOB"); err != nil {
		t.Fatal(err)
	}
	s.bob.Submits(map[string]string{"reason": "too much"})
	s.shows("C1", second.TS, "Denied", 0)
	s.shows("C1", third.TS, "2 of 2", len(third.Buttons()))
	s.shows("C1", first.TS, "Approval needed", len(first.Buttons()))
	again()
	last := s.card("C1", thread, "3 of 3")
	for _, part := range []string{"The same was denied by ", "U2BOB", "too much"} {
		if !strings.Contains(last.Shown(), part) {
			t.Errorf("the card after a denial does not say %q:\n%s", part, last.Shown())
		}
	}
}

// TestDiscordTheSameRequestAgain: likewise.
func TestDiscordTheSameRequestAgain(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		env["GATEHOUSE_APPROVAL_POLICY"] = policyFile(t, editable("discord:"+deciderID))
		d := serveDiscord(t, discordtest.Options{}, env)
		ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
		first := d.card(ask.ID, "Add “milk” to the note book.")
		d.ann.Posts(ask.ID, d.discord.MentionOfBot()+" note add milk")
		second := d.card(ask.ID, "2 of 2")
		if text := second.Shown(); !strings.Contains(text, "/"+first.ID) {
			t.Errorf("the second card does not link to the first:\n%s", text)
		}
		d.bob.Clicks(ask.ID, second.ID, "Approve")
		d.reads(ask.ID, "Done")
		if m, _ := d.discord.Message(ask.ID, first.ID); !strings.Contains(m.Shown(), "Approval needed") {
			t.Errorf("a press decided two requests:\n%s", m.Shown())
		}
	})
}

// TestALookAlikeIsMarked: letters of another alphabet are named on the card, and approving takes a second step.
func TestALookAlikeIsMarked(t *testing.T) {
	t.Parallel()
	s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
	_, card := s.asked("https://pаypal.com")
	approve, _ := s.slack.FindButton("C1", card.TS, "approve")
	if text := card.Shown(); !strings.Contains(text, "pаypal (а is U+0430)") || approve.Confirm == "" {
		t.Errorf("no mark, or no second step (%q):\n%s", approve.Confirm, text)
	}
	_, card = s.asked("👩 привет, café")
	approve, _ = s.slack.FindButton("C1", card.TS, "approve")
	if text := card.Shown(); strings.Contains(text, "another alphabet") || approve.Confirm != "" {
		t.Errorf("what is as it seems is marked:\n%s", text)
	}
}

// TestSlackAWordDecidesNothing: a message that is only a word of a decision, while a card is open, is answered with a
// link to the card. The agent does not hear it. Longer text, and a word when nothing is open, is for the agent.
func TestSlackAWordDecidesNothing(t *testing.T) {
	t.Parallel()
	env := maps.Clone(transports["HTTP"])
	s := serveSlack(t, slacktest.Options{}, env)
	thread, card := s.asked("milk")
	for _, word := range []string{"approve", "Approved!", " DENY ", "denied.", "*approve*", "approved…", "👍 Approve"} {
		before := len(s.slack.Thread("C1", thread))
		s.bob.Posts("C1", s.slack.MentionOfBot()+" "+word, slacktest.InThread(thread))
		waitUntil(t, func() bool { return len(s.slack.Thread("C1", thread)) >= before+2 }, "an answer to "+word)
		all := s.slack.Thread("C1", thread)
		if text := all[len(all)-1].Shown(); !strings.Contains(text, "Only the buttons decide") ||
			!strings.Contains(text, "https://") {
			t.Errorf("%s is answered with:\n%s", word, text)
		}
	}
	s.shows("C1", card.TS, "Approval needed", len(card.Buttons()))
	s.bob.Posts("C1", s.slack.MentionOfBot()+" approve it please", slacktest.InThread(thread))
	s.reads("C1", thread, "did not understand that")
	s.bob.Clicks("C1", card.TS, "approve")
	s.reads("C1", thread, "Done")
	s.bob.Posts("C1", s.slack.MentionOfBot()+" approve", slacktest.InThread(thread)) // nothing is open
	waitUntil(t, func() bool {
		heard := 0
		for _, m := range s.slack.Thread("C1", thread) {
			if strings.Contains(m.Shown(), "did not understand that") {
				heard++
			}
		}
		return heard == 2
	}, "the agent's answer")
}

// TestDiscordAWordDecidesNothing, and letters that look like others make the second step there, too.
func TestDiscordAWordDecidesNothing(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d := serveDiscord(t, discordtest.Options{}, env)
		ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add https://pаypal.com")
		card := d.card(ask.ID, "pаypal (а is U+0430)")
		d.ann.Posts(ask.ID, d.discord.MentionOfBot()+" Approved.")
		d.reads(ask.ID, "Only the buttons decide")
		d.bob.Clicks(ask.ID, card.ID, "Approve")
		if _, err := d.discord.WaitForModal(d.ctx(), deciderID); err != nil { // the second step
			t.Fatal(err)
		}
		d.bob.Submits(map[string]string{"confirm": "approve"})
		d.reads(ask.ID, "Done")
	})
}
