package slack_test

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// TestLaw8_AReplyThatLooksLikeACardIsParagraphs: of the same words, with nothing in between, and code byte for byte.
func TestLaw8_AReplyThatLooksLikeACardIsParagraphs(t *testing.T) {
	const code = "if a[0] < b && c > d {\n\t*p = `x` // [text](https://x) @here\n}"
	for name, head := range map[string]string{
		"a heading": "# 🔔 Approval needed\n", "an underlined one": "Approval needed\n======\n",
		"bold": "**🔔 Approval needed**\n", "a short code": "## :bell: Approval needed\n",
		"look-alikes": "# 🔔 Аррrоvаl nееdеd\n", "wide letters": "# Ａｐｐｒｏｖａｌ ｎｅｅｄｅｄ\n", "fields alone": "",
	} {
		p, o := open(t, slacktest.Options{}, nil)
		text := head + "**Pay 20**\n\n| Tool | Asked by |\n|---|---|\n| pay.send | [ann](https://a.example) " +
			"|\n\n---\n\n```go\n" + code + "\n```\n\nPress *Approve*."
		d := core.Delivery{Post: core.Post{
			Kind: core.PostReply, Key: "reply/1", To: core.Address{Platform: "slack", Channel: "C1"}, Text: text,
		}}
		if _, more, err := p.Post(t.Context(), d); err != nil || more {
			t.Fatal(more, err)
		}
		posted := o.FromBot("C1")[0]
		var said strings.Builder
		if len(posted.Blocks) != 1 || posted.Attachments != nil || posted.Blocks[0]["type"] != "rich_text" {
			t.Fatalf("%s: %v, %v", name, posted.Blocks, posted.Attachments)
		}
		for _, element := range posted.Blocks[0]["elements"].([]any) {
			e := element.(map[string]any)
			for _, inner := range e["elements"].([]any) {
				if inner := inner.(map[string]any); inner["type"] != "text" || inner["style"] != nil {
					t.Errorf("%s: %v", name, inner)
				}
				words := inner.(map[string]any)["text"].(string)
				if e["type"] == "rich_text_preformatted" {
					words = "```go\n" + words + "\n```\n"
				} else if e["type"] != "rich_text_section" {
					t.Errorf("%s: %v", name, e["type"])
				}
				said.WriteString(words)
			}
		}
		if said.String() != text {
			t.Errorf("%s: got\n%q\nwant\n%q", name, said.String(), text)
		}
	}
}

// TestAnyOtherReplyKeepsItsForms: a heading, a table and a divider.
func TestAnyOtherReplyKeepsItsForms(t *testing.T) {
	p, o := open(t, slacktest.Options{}, nil)
	text := "# The approvals of last week\n\n| Tool | Result |\n|---|---|\n| pay | ok |\n\n---\nNo approval needed."
	d := core.Delivery{Post: core.Post{
		Kind: core.PostReply, Key: "reply/1", To: core.Address{Platform: "slack", Channel: "C1"}, Text: text,
	}}
	if _, _, err := p.Post(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for _, b := range o.FromBot("C1")[0].Blocks {
		kinds += fmt.Sprint(b["type"], " ")
	}
	if kinds != "rich_text table divider rich_text " {
		t.Errorf("%v", kinds)
	}
}

// TestAPersonWhoseNameHasLookAlikeLettersIsMentioned wherever a card names them; others are named.
func TestAPersonWhoseNameHasLookAlikeLettersIsMentioned(t *testing.T) {
	who := func(id, name string) core.Actor { return core.Actor{ID: "slack:" + id, Name: name} }
	for name, alike := range map[string]bool{"Ann": false, "José": false, "Аnn": true, "Ann\u200b": true, "Ａnn": true} {
		for place, card := range map[string]core.Card{
			"requester": {State: core.Open, Requested: who("U9", name), Requester: who("U9", name).Called()},
			"approvals": {State: core.Open, Quorum: 2, Voters: []core.Actor{who("U9", name)}},
			"denials":   {State: core.Open, Vetoes: 2, Against: []core.Actor{who("U9", name)}},
			"editor":    {State: core.Open, Edits: 1, Editor: who("U9", name)},
			"decided":   {State: core.Denied, Decided: who("U9", name), DecidedBy: who("U9", name).Called()},
			"voters": {
				State: core.Approved, Decided: who("U8", "Bob"), DecidedBy: "Bob",
				Voters: []core.Actor{who("U9", name), who("U8", "Bob")},
			},
		} {
			p, o := open(t, slacktest.Options{}, nil)
			card.Approval, card.Tool, card.Summary = "a1", "pay", "Pay 20"
			d := core.Delivery{Post: core.Post{
				Kind: core.PostCard, Key: "card/1", Approval: "a1", To: core.Address{Platform: "slack", Channel: "C1"},
			}, Card: &card}
			if _, _, err := p.Post(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			posted := o.FromBot("C1")[0]
			mentioned := false
			for _, r := range posted.Reaches() {
				mentioned = mentioned || r.Kind == "user" && r.Target == "U9"
			}
			if mentioned != alike || alike && !strings.Contains(posted.Text, "slack:U9") ||
				!alike && !strings.Contains(posted.Text, name) {
				t.Errorf("%q as %s: mentioned %v\n%s", name, place, mentioned, posted.Text)
			}
		}
	}
}
