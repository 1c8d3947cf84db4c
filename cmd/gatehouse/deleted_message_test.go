package main

import (
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
)

// TestADeletedMessageWithdrawsWhatItAskedFor, and its card says so.
func TestADeletedMessageWithdrawsWhatItAskedFor(t *testing.T) {
	t.Run("Slack", func(t *testing.T) {
		t.Parallel()
		s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
		thread, card := s.asked("milk")
		s.ann.Deletes("C1", thread)
		s.shows("C1", card.TS, "the message was deleted", 0)
		s.ann.Posts("C1", s.slack.MentionOfBot()+" note list", slacktest.InThread(thread))
		s.reads("C1", thread, "The note book is empty.")
		if said := s.slack.DumpChannel("C1"); strings.Contains(said, "Done:") || strings.Contains(said, "ancelled:") {
			t.Errorf("it was answered:\n%s", said)
		}
	})
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d := serveDiscord(t, discordtest.Options{}, env)
		ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
		card := d.card(ask.ID, "Add “milk” to the note book.")
		d.ann.Deletes(channelID, ask.ID)
		d.shows(ask.ID, card.ID, "the message was deleted")
		d.ann.Posts(ask.ID, d.discord.MentionOfBot()+" note list")
		d.reads(ask.ID, "The note book is empty.")
	})
}

// TestADeletedMessageWhoseCallHasBegun: the call goes on, and its author alone learns what it did.
func TestADeletedMessageWhoseCallHasBegun(t *testing.T) {
	done := results["it is done"]
	t.Run("Slack", func(t *testing.T) {
		t.Parallel()
		env, began, end := longCall(t, "5m")
		env["SLACK_SIGNING_SECRET"] = transports["HTTP"]["SLACK_SIGNING_SECRET"]
		s := serveSlack(t, slacktest.Options{}, env)
		ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" call shop.pay {}")
		card := s.card("C1", ask.TS, "Pay the bill.")
		s.bob.Clicks("C1", card.TS, "approve")
		waitForFile(t, began)
		s.ann.Deletes("C1", ask.TS)
		noErr(t, s.slack.WaitDelivered(s.ctx()))
		end(done.says)
		s.readsEphemeral("C1", "U1ANN", "This was done before: Pay the bill.")
		for _, m := range s.slack.Thread("C1", ask.TS) {
			if strings.Contains(m.Shown(), "done before") {
				t.Errorf("everybody reads %q", m.Shown())
			}
		}
	})
	t.Run("Discord", func(t *testing.T) {
		t.Parallel()
		env, began, end := longCall(t, "5m")
		d := serveDiscord(t, discordtest.Options{}, env)
		direct := d.ann.Says("calc 1+1").Channel
		d.reads(direct, "1+1 = 2")
		ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" call shop.pay {}")
		card := d.card(ask.ID, "Pay the bill.")
		d.bob.Clicks(ask.ID, card.ID, "Approve")
		waitForFile(t, began)
		before := d.stored("events")
		d.ann.Deletes(channelID, ask.ID)
		waitUntil(t, func() bool { return d.stored("events") > before }, "the deletion")
		end(done.says)
		d.reads(direct, "This was done before: Pay the bill.")
		if said := d.discord.DumpChannel(ask.ID); strings.Contains(said, "done before") {
			t.Errorf("everybody reads it:\n%s", said)
		}
	})
}
