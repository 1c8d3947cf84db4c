package slack_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// An answer that Slack refuses as Markdown is sent as plain text, so that the person who asked gets it.
func TestAReplyThatSlackRefusesAsMarkdownIsSentAsPlainText(t *testing.T) {
	const answer = "# Head\n\n<!channel> see `a < b` and [this](https://evil.example) @here\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
	for _, word := range []string{"invalid_blocks", "msg_blocks_too_long", "invalid_attachments"} {
		t.Run(word, func(t *testing.T) {
			p, o := open(t, slacktest.Options{}, nil)
			o.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.Refused(word), When: func(c slacktest.Call) bool {
				return strings.Contains(c.Args["blocks"], `"markdown"`)
			}})
			ref, more, err := p.Post(t.Context(), core.Delivery{Post: core.Post{Key: "reply/1", Kind: core.PostReply, Text: answer, To: core.Address{Platform: "slack", Channel: o.dm()}}})
			if err != nil || more || ref == "" {
				t.Fatalf("got %q, %v, %v", ref, more, err)
			}
			if got := strings.ReplaceAll(o.Shown(), "\u2060", ""); !strings.Contains(got, "a < b") || !strings.Contains(got, "| 1 | 2 |") {
				t.Errorf("the text is %q", got)
			}
			if alarms := o.SideEffects(); len(alarms) > 0 {
				t.Errorf("it reaches %q", alarms)
			}
			if n := len(o.FromBot(o.dm())); n != 1 {
				t.Errorf("%d messages", n)
			}
		})
	}
}

// A card must keep its buttons, so it is not sent as plain text: the refusal is permanent, and its approvers get it in another way.
func TestACardThatSlackRefusesIsNotRedrawn(t *testing.T) {
	p, o := open(t, slacktest.Options{}, nil)
	o.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.Refused("invalid_blocks")})
	card, _ := adaptertest.Cards{}.Card(t.Context(), "a1", false)
	_, _, err := p.Post(t.Context(), core.Delivery{Post: core.Post{Key: "card/a1", Kind: core.PostCard, Approval: "a1", To: core.Address{Platform: "slack", Channel: "C1"}}, Card: &card})
	if core.CategoryOf(err) != core.DeliveryFailed {
		t.Errorf("got %v", err)
	}
}
