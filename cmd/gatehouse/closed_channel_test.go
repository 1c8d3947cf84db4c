package main

import (
	"regexp"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
)

// closedFor is the beginning of what who asked reads where the channel was closed.
const closedFor = "What became of this could not be posted where you asked for it, so it follows here: " +
	"Add “milk” to the note book."

// ends are how a request may end at the command line, with what its turn says then.
var ends = map[string]string{"approve": "Done: “milk” is in the note book.", "deny": "Denied by"}

var firstID = regexp.MustCompile(`"id":\s*"([^"]+)"`)

// openRequest is the id of the only open request.
func (s *testGateway) openRequest() string {
	s.t.Helper()
	_, out := s.command("approvals", "list", "--json")
	id := firstID.FindStringSubmatch(out)
	if id == nil {
		s.t.Fatalf("no request is open: %s", out)
	}
	return id[1]
}

// TestWhoAskedLearnsTheEndWhereTheChannelWasArchived after the question, by direct messages.
func TestWhoAskedLearnsTheEndWhereTheChannelWasArchived(t *testing.T) {
	for decision, end := range ends {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
			s.asked("milk")
			id := s.openRequest()
			s.slack.Archive("C1")
			if code, out := s.command("approvals", decision, id); code != 0 {
				t.Fatalf("%d: %s", code, out)
			}
			s.reads(s.dm, "", closedFor)
			s.reads(s.dm, "", end)
			if n := len(s.slack.FromBot(s.dm)); n != 2 {
				t.Errorf("%d direct messages\n%s", n, s.slack.Dump())
			}
		})
	}
}

func TestDiscordWhoAskedLearnsTheEndWhereTheChannelWasRemoved(t *testing.T) {
	for decision, end := range ends {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			d := serveDiscord(t, discordtest.Options{}, nil)
			ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
			d.card(ask.ID, "Add “milk” to the note book.")
			id := d.openRequest()
			d.discord.RemoveChannel(channelID)
			if code, out := d.command("approvals", decision, id); code != 0 {
				t.Fatalf("%d: %s", code, out)
			}
			dm := d.discord.DMWith(askerID)
			d.reads(dm, closedFor)
			d.reads(dm, end)
		})
	}
}
