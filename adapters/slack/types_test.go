package slack_test

import (
	"context"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// TestPostsHaveTheTypesOfSlacksSDK posts all that a platform can be told to say, in a channel, in a thread and to one
// person, and edits it: each request has the type that Slack's own SDK gives it.
func TestPostsHaveTheTypesOfSlacksSDK(t *testing.T) {
	slacktest.NeedsTypes(t)
	var card *core.Card
	p, o := open(t, slacktest.Options{}, func(o *core.Deps) {
		o.Cards = adaptertest.CardFunc(func(context.Context, core.ApprovalID, bool) (core.Card, error) {
			return *card, nil
		})
	})
	root := o.ann.Posts("C1", "work", slacktest.WithoutEvent())
	samples := adaptertest.Samples{
		Ann: core.Actor{ID: "slack:U1ANN", Name: "Ann"}, Bob: core.Actor{ID: "slack:U2BOB", Name: "Bob"},
		Approvers: []string{"slack:U2BOB", "slack:S3OPS", "local"}, Prefixes: []string{"slack:S", "slack:U"},
		From:         core.Address{Platform: "slack", Channel: "C1", Thread: root.TS},
		Conversation: core.ConversationID("slack:" + o.TeamID() + ":C1:" + root.TS),
		Broadcast:    "<!channel>",
		Hostile:      "<!channel> [safe](https://evil.example) ``` <https://evil.example|safe> *_~` &lt;@U1&gt; \x00",
		Reply:        "Hello **you**", Notice: "Stopped.\nNothing waits.",
		Context: []core.Line{{Role: core.User, Text: "hello"}, {Role: core.Assistant, Text: "hello yourself"}},
	}
	for _, d := range samples.Drive(t) {
		card = d.Card
		for more := true; more; d.Part++ {
			var ref core.Ref
			var err error
			if ref, more, err = p.Post(t.Context(), d); err != nil {
				t.Fatalf("%s: part %d: %v", d.Key, d.Part, err)
			}
			if d.Kind == core.PostPrivate {
				continue
			}
			if err := p.Edit(t.Context(), ref, d); err != nil {
				t.Fatalf("%s: editing part %d: %v", d.Key, d.Part, err)
			}
		}
	}
	checked := slacktest.TypeCheck(t, o.Server)
	for _, method := range []string{"chat.postMessage", "chat.update", "chat.postEphemeral"} {
		if checked[method] == 0 {
			t.Errorf("no %s was compared: %v", method, checked)
		}
	}
	t.Log(checked)
}
