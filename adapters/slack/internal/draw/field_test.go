package draw_test

import (
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/internal/draw"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// TestAnswersFromTheField are read back from what Slack got.
func TestAnswersFromTheField(t *testing.T) {
	adaptertest.FieldAnswers(t, func(t *testing.T, text string) {
		o := slacktest.New(slacktest.Options{Fatalf: t.Errorf})
		t.Cleanup(o.Close)
		o.AddChannel(slacktest.Channel{ID: "C1", Members: []string{o.BotUserID()}})
		signer := adaptertest.Signer(t, "a key for the tests, which is long")
		p := slack.New(core.Deps{Signer: signer}, slack.Config{BotToken: o.BotToken(), APIURL: o.APIURL()})
		d := core.Delivery{Post: core.Post{
			Key: "reply/1", Kind: core.PostReply, Text: text, To: core.Address{Platform: "slack", Channel: "C1"},
		}}
		if _, more, err := p.Post(t.Context(), d); err != nil || more {
			t.Fatal(more, err)
		}
		got := draw.ReadReply(t, o.FromBot("C1")[0].Blocks)
		adaptertest.SameLeaves(t, text, draw.ReplyLeaves(text), draw.AsLines(got))
	})
}
