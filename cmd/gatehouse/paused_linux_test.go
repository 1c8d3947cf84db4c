package main

import (
	"context"
	"syscall"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
)

// TestPressesDuringAPauseOfTheProcessCount stops the process, as a paused machine would, for longer than Slack waits
// for an acknowledgement, and than the process waits for a sign of life of Slack's. The press is in a buffer then, and
// Slack does not send it again.
func TestPressesDuringAPauseOfTheProcessCount(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"socket", "http"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			p := &slackProcess{serveProcess: newServeProcess(t, sqliteFile, "GATEHOUSE_APPROVERS=slack:U2BOB")}
			fake := slacktest.Start(t, slacktest.Options{
				Wait: func(ctx context.Context, _ int) { p.waitUp(ctx) }, PingEvery: 50 * time.Millisecond,
				AckWithin: 3 * time.Second,
			})
			p.testGateway = &testGateway{t: t, slack: fake, base: p.at}
			p.people()
			p.env = append(p.env, "SLACK_BOT_TOKEN="+fake.BotToken(), "SLACK_API_URL="+fake.APIURL(),
				"SLACK_CHANNEL_RPS=0")
			if over == "http" {
				p.env = append(p.env, "SLACK_SIGNING_SECRET="+fake.SigningSecret())
				fake.SendTo(slacktest.Addresses{
					Events: p.base + "/slack/events", Interactions: p.base + "/slack/interactions",
					Commands: p.base + "/slack/commands",
				})
			} else {
				p.env = append(p.env, "SLACK_APP_TOKEN="+fake.AppToken())
			}
			p.open()
			ask := p.ann.Posts("C1", fake.MentionOfBot()+" note add milk")
			card := p.card("C1", ask.TS, "Asked by")
			button, there := fake.FindButton("C1", card.TS, "approve")
			if !there {
				t.Fatal("the card has no button")
			}
			if over == "socket" {
				waitUntil(t, func() bool { return fake.Sockets()[0].State().Pongs > 4 }, "some pings")
			}
			p.signal(syscall.SIGSTOP)
			press := p.bob.Presses(button)
			waitUntil(t, press.Over, "Slack gives the press up")
			p.signal(syscall.SIGCONT)
			p.reads("C1", ask.TS, "Done:")
		})
	}
}
