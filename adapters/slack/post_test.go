package slack_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// An answer that Slack refuses as it was drawn is sent as plain text, so that the person who asked gets it.
func TestAReplyThatSlackRefusesIsSentAsPlainText(t *testing.T) {
	const answer = "# Head\n\n<!channel> see `a < b` and [this](https://evil.example) @here\n\n| a | b " +
		"|\n|---|---|\n| 1 | 2 |\n"
	for _, word := range []string{
		"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "invalid_attachments",
		"invalid_arguments", "markdown_text_conflict", "some_new_code",
	} {
		t.Run(word, func(t *testing.T) {
			p, o := open(t, slacktest.Options{}, nil)
			o.Inject(
				slacktest.Fault{
					Endpoint: "chat.postMessage", Trouble: slacktest.Refused(word), When: func(c slacktest.Call) bool {
						return strings.Contains(c.Args["blocks"], `"table"`)
					},
				})
			ref, more, err := p.Post(t.Context(),
				core.Delivery{Post: core.Post{
					Key: "reply/1", Kind: core.PostReply, Text: answer,
					To: core.Address{Platform: "slack", Channel: o.dm()},
				}})
			if err != nil || more || ref == "" {
				t.Fatalf("got %q, %v, %v", ref, more, err)
			}
			if got := strings.ReplaceAll(o.Shown(), "\u2060", ""); !strings.Contains(got, "a < b") ||
				!strings.Contains(got, "1 | 2") {
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

// Slack takes one table in a message.
func TestTwoTablesAreSentAsTwoMessages(t *testing.T) {
	const answer = "**A**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n**B**\n\n| c | d |\n|---|---|\n| 3 | 4 |\n\nThat is " +
		"all."
	p, o := open(t, slacktest.Options{}, nil)
	d := core.Delivery{Post: core.Post{
		Key: "reply/1", Kind: core.PostReply, Text: answer, To: core.Address{Platform: "slack", Channel: "C1"},
	}}
	for more := true; more; d.Part++ {
		var err error
		if _, more, err = p.Post(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	said := o.FromBot("C1")
	if len(said) != 2 {
		t.Fatalf("%d messages", len(said))
	}
	first, second := said[0], said[1]
	if !strings.Contains(first.Shown(), "| 1 | 2 |") || strings.Contains(first.Shown(), "B") ||
		!strings.HasPrefix(second.Shown(), "B") || !strings.Contains(second.Shown(), "That is all.") {
		t.Errorf("they show %q and %q", first.Shown(), second.Shown())
	}
	for _, m := range said {
		if m.Blocks[1]["type"] != "table" {
			t.Errorf("%q was not sent with a table", m.Shown())
		}
	}
}

// refuseBlocks makes Slack refuse every message that has blocks.
func (o *fakeWorkspace) refuseBlocks() *slacktest.Injected {
	return o.Inject(slacktest.Fault{Trouble: slacktest.Refused("some_new_code"), When: func(c slacktest.Call) bool {
		return strings.HasPrefix(c.Method, "chat.") && c.Args["blocks"] != "[]"
	}})
}

func TestWhatSlackRefusesWithBlocksIsSentAsText(t *testing.T) {
	const said = "2 < 3 & *done* <!channel> <@U1ANN> @here\nand the rest"
	for name, post := range map[string]core.Post{
		"notice": {Kind: core.PostNotice}, "error": {Kind: core.PostError, Bucket: core.RetryableTransient},
		"steps":              {Kind: core.PostSteps},
		"private":            {Kind: core.PostPrivate, Person: "slack:U1ANN"},
		"private, elsewhere": {Kind: core.PostPrivate, Person: "slack:U2BOB"},
	} {
		t.Run(name, func(t *testing.T) {
			p, o := open(t, slacktest.Options{}, nil)
			o.refuseBlocks()
			post.Key, post.Text, post.To = "key/1", said, core.Address{Platform: "slack", Channel: o.dm()}
			ref, _, err := p.Post(t.Context(), core.Delivery{Post: post, Late: true})
			if err != nil || ref == "" {
				t.Fatalf("got %q, %v", ref, err)
			}
			messages := append(append(o.FromBot(o.dm()), o.Ephemerals(o.dm(), "U1ANN")...),
				o.FromBot(o.DMWith("U2BOB"))...)
			if len(messages) != 1 {
				t.Fatalf("%d messages", len(messages))
			}
			m := messages[0]
			if got := strings.ReplaceAll(m.Text, "\u2060", ""); !strings.Contains(got, "comes late") ||
				!strings.Contains(got, "2 &lt; 3 &amp; *done* &lt;!channel&gt; &lt;@U1ANN&gt; @here\nand the rest") {
				t.Errorf("the text is %q", got)
			}
			if reaches := m.Reaches(); len(reaches) > 0 || m.Unfurls && post.Kind != core.PostPrivate {
				t.Errorf("it reaches %+v", reaches)
			}
		})
	}
}

func TestAnEditThatSlackRefusesWithBlocksIsMadeAsText(t *testing.T) {
	p, o := open(t, slacktest.Options{}, nil)
	card, _ := adaptertest.Cards().Card(t.Context(), "a1", false)
	d := core.Delivery{Post: core.Post{
		Key: "card/a1", Kind: core.PostCard, Approval: "a1", To: core.Address{Platform: "slack", Channel: "C1"},
	}, Card: &card}
	ref, _, err := p.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	o.refuseBlocks()
	if err := p.Edit(t.Context(), ref, d); core.CategoryOf(err) != core.DeliveryFailed ||
		!strings.Contains(o.FromBot("C1")[0].Shown(), "[Approve]") {
		t.Errorf("an open card: %v; it shows %q", err, o.FromBot("C1")[0].Shown())
	}
	card.State = core.Denied
	if err := p.Edit(t.Context(), ref, d); err != nil {
		t.Fatal(err)
	}
	if shown := o.FromBot("C1")[0].Shown(); !strings.Contains(shown, "Denied") ||
		!strings.Contains(shown, "Add the note a1") || strings.Contains(shown, "[Approve]") {
		t.Errorf("the closed card shows %q", shown)
	}
}

func TestAnEditOfADeletedMessageSaysSo(t *testing.T) {
	card, _ := adaptertest.Cards().Card(t.Context(), "a1", false)
	for _, d := range []core.Delivery{
		{Post: core.Post{Key: "card/a1", Kind: core.PostCard, Approval: "a1"}, Card: &card},
		{Post: core.Post{Key: "steps/1", Kind: core.PostSteps, Text: "demo.calc"}},
	} {
		var log adaptertest.Log
		p, o := open(t, slacktest.Options{}, func(s *core.Deps) { s.Log = log.Logger() })
		d.To = core.Address{Platform: "slack", Channel: "C1"}
		ref, _, err := p.Post(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		o.ann.Deletes("C1", o.FromBot("C1")[0].TS)
		if err := p.Edit(t.Context(), ref, d); core.CategoryOf(err) != core.NotFound || len(log.Warnings()) != 0 {
			t.Errorf("%s: %v; the log has %s", d.Key, err, log.String())
		}
	}
}

// Other words would meet the same refusal.
func TestARefusalThatIsNotAboutTheMessageIsNotAnsweredWithPlainText(t *testing.T) {
	for _, word := range []string{
		"channel_not_found", "is_archived", "not_in_channel", "restricted_action", "missing_scope", "invalid_auth",
		"ratelimited", "internal_error", "messages_tab_disabled",
	} {
		p, o := open(t, slacktest.Options{}, nil)
		o.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.Refused(word)})
		_, _, err := p.Post(t.Context(),
			core.Delivery{Post: core.Post{
				Key: "reply/1", Kind: core.PostReply, Text: "hello", To: core.Address{Platform: "slack", Channel: "C1"},
			}})
		if n := o.CountCalls("chat.postMessage"); err == nil || n != 1 {
			t.Errorf("%s: %d calls, %v", word, n, err)
		}
	}
}

// A card must keep its buttons, so it is not sent as plain text: the refusal is permanent, and its approvers get it in
// another way.
func TestACardThatSlackRefusesIsNotRedrawn(t *testing.T) {
	p, o := open(t, slacktest.Options{}, nil)
	o.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.Refused("invalid_blocks")})
	card, _ := adaptertest.Cards().Card(t.Context(), "a1", false)
	_, _, err := p.Post(t.Context(),
		core.Delivery{Post: core.Post{
			Key: "card/a1", Kind: core.PostCard, Approval: "a1", To: core.Address{Platform: "slack", Channel: "C1"},
		}, Card: &card})
	if core.CategoryOf(err) != core.DeliveryFailed {
		t.Errorf("got %v", err)
	}
}
