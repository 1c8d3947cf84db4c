package slack_test

import (
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// TestAnswersFromTheField are read back from what Slack got.
func TestAnswersFromTheField(t *testing.T) {
	adaptertest.FieldAnswers(t, func(t *testing.T, text string) {
		p, o := open(t, slacktest.Options{}, nil)
		d := core.Delivery{Post: core.Post{
			Key: "reply/1", Kind: core.PostReply, Text: text, To: core.Address{Platform: "slack", Channel: "C1"},
		}}
		if _, more, err := p.Post(t.Context(), d); err != nil || more {
			t.Fatal(more, err)
		}
		got := slack.ReadReply(t, o.FromBot("C1")[0].Blocks)
		adaptertest.SameLeaves(t, text, slack.ReplyLeaves(text), slack.AsLines(got))
	})
}
