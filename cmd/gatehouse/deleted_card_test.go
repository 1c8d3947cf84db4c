package main

import (
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
)

// remindSoon is a policy that reminds bob after some seconds.
const remindSoon = `version: 1
rules:
  - {name: notes, tools: ["note.*"], action: ask, approvers: ["slack:U2BOB"], remind: [2s], expires: never}
`

// cardsIn are the messages of a thread that have buttons.
func (s *testGateway) cardsIn(channel, thread string) (all []slacktest.Message) {
	for _, m := range s.slack.Thread(channel, thread) {
		if len(m.Buttons()) > 0 {
			all = append(all, m)
		}
	}
	return all
}

// TestADeletedCardIsShownAgain by !status and by a reminder: once, and its deletion has decided nothing.
func TestADeletedCardIsShownAgain(t *testing.T) {
	for _, by := range []string{"status", "a reminder"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"SLACK_SIGNING_SECRET": transports["HTTP"]["SLACK_SIGNING_SECRET"]}
			if by == "a reminder" {
				env["GATEHOUSE_APPROVERS"], env["GATEHOUSE_APPROVAL_POLICY"] = "", policyFile(t, remindSoon)
			}
			s := serveSlack(t, slacktest.Options{}, env)
			thread, card := s.asked("milk")
			id := s.openRequest()
			s.eve.Deletes("C1", card.TS)
			if by == "status" {
				s.ann.Posts("C1", "!status", slacktest.InThread(thread))
				s.reads("C1", thread, "Waiting for an approval: Add “milk” to the note book.")
			}
			again := s.card("C1", thread, "Add “milk” to the note book.")
			if again.TS == card.TS {
				t.Fatal("the deleted card is still there")
			}
			if s.openRequest() != id {
				t.Error("another request is open")
			}
			if by == "a reminder" {
				line := s.reads("C1", thread, "an approval is still needed")
				if link := "p" + strings.ReplaceAll(again.TS, ".", ""); !strings.Contains(mustJSON(line.Blocks), link) {
					t.Errorf("the reminder does not lead to %s:\n%s", link, mustJSON(line.Blocks))
				}
			} else {
				s.ann.Posts("C1", "!status", slacktest.InThread(thread)) // the card is there now
				twice := func() bool { return strings.Count(s.slack.DumpChannel("C1"), "Waiting for an approval") == 2 }
				waitUntil(t, twice, "the second status")
			}
			if cards := s.cardsIn("C1", thread); len(cards) != 1 {
				t.Errorf("%d cards have buttons\n%s", len(cards), s.slack.Dump())
			}
			s.bob.Clicks("C1", again.TS, "approve")
			s.reads("C1", thread, "Done: “milk”")
			s.shows("C1", again.TS, "pproved", 0)
		})
	}
}

func TestDiscordADeletedCardIsShownAgain(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d := serveDiscord(t, discordtest.Options{}, env)
		ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
		card := d.card(ask.ID, "Add “milk” to the note book.")
		id := d.openRequest()
		d.eve.Deletes(ask.ID, card.ID)
		d.ann.Posts(ask.ID, "!status")
		again := d.card(ask.ID, "Add “milk” to the note book.")
		if again.ID == card.ID || d.openRequest() != id {
			t.Fatalf("the card is %s and was %s", again.ID, card.ID)
		}
		d.bob.Clicks(ask.ID, again.ID, "Approve")
		d.reads(ask.ID, "Done: “milk”")
		d.shows(ask.ID, again.ID, "pproved")
	})
}
