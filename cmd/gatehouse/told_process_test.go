package main

import (
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// elsewhere is a policy that notifies a channel that the bot is not in, and not the conversation.
const elsewhere = `
version: 1
rules:
  - {name: notes, action: ask, risk: [write], approvers: [slack:U2BOB, discord:` + otherID + `],
     expires: never, notify: [slack:C9]}
`

// TestLaw2_AChannelWithoutTheBot: the policy notifies a channel that refuses the card. The card in the conversation
// asks, and the approvers on both platforms get direct messages, from which they decide.
func TestLaw2_AChannelWithoutTheBot(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		p := newBothProcess(t, e, elsewhere)
		p.slack.AddChannel(slacktest.Channel{ID: "C9", Name: "ops", Members: []string{"U2BOB"}})
		p.open()
		(&discordProcess{p.serveProcess, p.discord}).waitConnected()
		thread, _ := p.asks("note add milk")
		direct := p.card(p.slack.DMWith("U2BOB"), "", "“milk”")
		p.discord.card(p.discord.discord.DMWith(otherID), "“milk”")
		p.reads("C1", thread, "May decide: <@U2BOB>\n")
		p.bob.Clicks(p.slack.DMWith("U2BOB"), direct.TS, "approve")
		p.reads("C1", thread, "Done: “milk” is in the note book.")
		p.until("the end", p.app, func() bool { return len(p.approvals(core.Approved)) == 1 })
	})
}
