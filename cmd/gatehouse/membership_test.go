package main

import (
	"net/http"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
)

// ops is the user group of Slack that decides.
func ops(members ...string) slacktest.Group {
	return slacktest.Group{ID: "S1OPS", Handle: "ops", Members: members}
}

// serveOps starts a gateway whose approvers are the group, with bob in it.
func serveOps(t *testing.T) *testGateway {
	t.Helper()
	env := map[string]string{"GATEHOUSE_APPROVERS": "slack:S1OPS"}
	for k, v := range transports["HTTP"] {
		env[k] = v
	}
	s := serveSlack(t, slacktest.Options{}, env)
	s.slack.AddGroup(ops("U2BOB"))
	s.ready(http.StatusOK)
	return s
}

// TestLaw7_ARemovedMemberDoesNotDecide: bob has just decided one request as a member of the group; a moment later he
// is removed.
func TestLaw7_ARemovedMemberDoesNotDecide(t *testing.T) {
	t.Parallel()
	s := serveOps(t)
	thread, card := s.asked("milk")
	s.bob.Clicks("C1", card.TS, "approve")
	s.reads("C1", thread, "Done: “milk”")
	thread, card = s.asked("eggs")
	s.slack.AddGroup(ops())
	s.bob.Clicks("C1", card.TS, "approve")
	s.readsEphemeral("C1", "U2BOB", "not an approver")
	s.slack.AddGroup(ops("U2BOB", "U3EVE"))
	s.eve.Clicks("C1", card.TS, "approve")
	s.reads("C1", thread, "Done: “eggs”")
}

// TestLaw7_APressIsRefusedWhereSlackCantSay: nothing that Slack said before takes the place of its answer, and the
// next press decides.
func TestLaw7_APressIsRefusedWhereSlackCantSay(t *testing.T) {
	for name, trouble := range map[string]slacktest.Trouble{
		"it fails": slacktest.ServerError(503), "it is silent": slacktest.Held(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveOps(t)
			thread, card := s.asked("milk")
			s.bob.Clicks("C1", card.TS, "approve")
			s.reads("C1", thread, "Done: “milk”")
			thread, card = s.asked("eggs")
			down := s.slack.Inject(slacktest.Fault{Endpoint: "usergroups.users.list", Trouble: trouble})
			pressed := time.Now()
			if press := s.bob.Clicks("C1", card.TS, "approve"); !press.Acked() {
				if err := s.slack.WaitDelivered(s.ctx()); err != nil || !press.Acked() {
					t.Fatalf("the press is not acknowledged: %v", err)
				}
			}
			s.readsEphemeral("C1", "U2BOB", "Slack can't say whether you are in @ops; press again.")
			if waited := time.Since(pressed); waited < 5*time.Second {
				t.Errorf("Slack was asked for %s only", waited)
			}
			s.shows("C1", card.TS, "Add “eggs”", len(card.Buttons()))
			down.Lift()
			s.bob.Clicks("C1", card.TS, "approve")
			s.reads("C1", thread, "Done: “eggs”")
		})
	}
}

// bobAsks has bob, whom the list lets decide his own requests, ask in his direct messages, where a press comes
// without roles.
func (d *discordGateway) bobAsks(note string) (channel string, card discordtest.Message) {
	d.t.Helper()
	d.bob.Says("note add " + note)
	channel = d.discord.DMWith(deciderID)
	return channel, d.card(channel, "Add “"+note+"” to the note book.")
}

// TestLaw7_ALostRoleDoesNotDecide: the same for the roles of Discord, in direct messages.
func TestLaw7_ALostRoleDoesNotDecide(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d := serveDiscord(t, discordtest.Options{}, env)
		channel, card := d.bobAsks("milk")
		d.bob.Clicks(channel, card.ID, "Approve")
		d.reads(channel, "Done: “milk”")
		channel, card = d.bobAsks("eggs")
		d.discord.AddRole(guildID, discordtest.Role{ID: roleID, Name: "deciders"})
		d.bob.Clicks(channel, card.ID, "Approve")
		d.readsEphemeral(channel, deciderID, "and others decide it")
	})
}

// TestLaw7_APressIsRefusedWhereDiscordCantSay, unless it came with the roles.
func TestLaw7_APressIsRefusedWhereDiscordCantSay(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d := serveDiscord(t, discordtest.Options{}, env)
		channel, card := d.bobAsks("milk")
		ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add eggs")
		shared := d.card(ask.ID, "Add “eggs” to the note book.")
		down := d.discord.Inject(discordtest.Fault{
			Endpoint: "GET /guilds/{guild}/members/{user}", Trouble: discordtest.ServerError(503),
		})
		d.bob.Clicks(ask.ID, shared.ID, "Approve") // signed with his roles
		d.reads(ask.ID, "Done: “eggs”")
		d.bob.Clicks(channel, card.ID, "Approve") // what the press before said does not count for this one
		d.readsEphemeral(channel, deciderID, "Discord can't say whether you are in @deciders; press again.")
		waitUntil(t, func() bool {
			_, found := d.discord.FindButton(channel, card.ID, "Approve")
			return found
		}, "the card's buttons are back")
		down.Lift()
		d.bob.Clicks(channel, card.ID, "Approve")
		d.reads(channel, "Done: “milk”")
	})
}
