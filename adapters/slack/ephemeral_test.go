package slack_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// A person who has left the conversation in which they clicked gets a direct message, outside threads.
func TestPrivatePostsFallBackToDirectMessages(t *testing.T) {
	for _, thread := range []string{"", "root"} {
		p, o := open(t, slacktest.Options{}, nil)
		o.AddChannel(slacktest.Channel{ID: "C2", Name: "left", Members: []string{"U1ANN", o.BotUserID()}})
		if thread != "" {
			thread = o.ann.Posts("C2", "work", slacktest.WithoutEvent()).TS
		}
		_, _, err := p.Post(t.Context(), core.Delivery{Post: core.Post{
			Key: "private/1", Kind: core.PostPrivate, Text: "You may not decide this: https://example.com",
			Person: "slack:U2BOB",
			To:     core.Address{Platform: "slack", Channel: "C2", Thread: thread},
		}})
		if err != nil {
			t.Errorf("in the thread %q: %v", thread, err)
			continue
		}
		said := o.FromBot(o.DMWith("U2BOB"))
		if len(said) != 1 || !strings.Contains(said[0].Shown(), "You may not decide this") || said[0].ThreadTS != "" ||
			said[0].Unfurls {
			t.Errorf("in the thread %q: Bob reads %+v", thread, said)
		}
	}
}
