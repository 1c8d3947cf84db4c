package main

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/core"
)

// first is the only one of the replacements that a test gives, if it gives any.
func first(words []map[string]string) map[string]string {
	for _, all := range words {
		return all
	}
	return nil
}

// plainCard is a card whose own texts have no letter of English.
func plainCard(state core.ApprovalState, change func(*core.Delivery)) core.Delivery {
	noon := adaptertest.Noon
	who := func(n int) core.Actor {
		return core.Actor{ID: fmt.Sprintf("slack:U%d", n), Name: fmt.Sprintf("人%d", n)}
	}
	c := core.Card{
		Approval: "0199-22", State: state, Tool: "工具", Summary: "付款 20", Arguments: `{"数": 20}`,
		Before: `{"数": 2, "旧": 1}`,
		Asked:  core.Asked{Message: "请付款", Place: 2, Of: 3, Dropped: "人"}, Hidden: 1234,
		Requester: "人1", Requested: who(1),
		Approvers: []string{"openharness:7", core.LocalPerson, "slack:U8", "slack:S9"},
		Voters:    []core.Actor{who(2)}, Quorum: 7, Against: []core.Actor{who(3)}, Vetoes: 5, Risk: core.Dangerous,
		Changed:  "付款 2",
		Editable: true, Edits: 3, Editor: who(4), Deadline: noon.Add(time.Hour), Conversation: cardMailbox,
		Context: []core.Line{{Role: core.User, Text: "你好"}, {Role: core.Assistant, Text: ""}},
	}
	if state != core.Open {
		c.DecidedBy, c.Decided, c.DecidedAt, c.Reason, c.Voters = "人6", who(6), noon.Add(2*time.Minute), "好", nil
		c.Run, c.RunNote, c.RunAt = core.CallFailed, "没有", noon.Add(3*time.Minute)
	}
	d := core.Delivery{
		Post: core.Post{
			Key: "card/1", Conversation: cardMailbox, Kind: core.PostCard, Approval: c.Approval, LeftOut: 2,
		}, Card: &c, Late: true,
	}
	if change != nil {
		change(&d)
	}
	return d
}

// TestEveryTextOfACardCanBeReplaced: with a file that replaces all of them no word of a card is left, on any surface.
func TestEveryTextOfACardCanBeReplaced(t *testing.T) {
	t.Parallel()
	q := askedOf(t)
	asked := func(d *core.Delivery) {
		d.Card.Question = q
		d.Card.Question.Text,
			d.Card.Question.Fields[0].Choices[0].Title, d.Card.Question.Fields[0].Choices[1].Title = "几？", "一", "二"
	}
	run := func(state core.CallState) func(*core.Delivery) {
		return func(d *core.Delivery) { d.Card.Run = state }
	}
	cards := map[string]core.Delivery{
		"open": plainCard(core.Open, nil), "ordinary": plainCard(core.Open, func(d *core.Delivery) {
			d.Card.Risk, d.Card.Hidden, d.LeftOut = core.Ordinary, 1, 1
		}),
		"reminder": plainCard(core.Open, func(d *core.Delivery) {
			d.Occasion = core.Reminder
		}), "escalated": plainCard(core.Open, func(d *core.Delivery) {
			d.Occasion = core.Escalated
		}),
		"altered": plainCard(core.Open, func(d *core.Delivery) {
			d.Card.Altered = true
		}), "copy": plainCard(core.Open, func(d *core.Delivery) { d.Copy = true }),
		"long": plainCard(core.Open, func(d *core.Delivery) {
			d.Card.Arguments = `{"数": "` + strings.Repeat("长", 4000) + `"}`
		}),
		"none": plainCard(core.Open, func(d *core.Delivery) {
			d.Card.Arguments = "{}"
		}), "quiet": plainCard(core.Open, func(d *core.Delivery) { d.Quiet = true }),
		"nobody": plainCard(core.Open, func(d *core.Delivery) {
			d.Card.Requested, d.Card.Requester, d.Card.Editor = core.Actor{ID: "slack:x"}, "", core.Actor{}
			d.Card.Before = ""
		}),
		"many edits": plainCard(core.Open, func(d *core.Delivery) {
			d.Card.Before = `{"一":1,"二":1,"三":1,"四":1,"五":1,"六":1,"七":1}`
		}),
		"needs why": plainCard(core.Open, func(d *core.Delivery) { d.Card.NeedsWhy = true }),
		"question":  plainCard(core.Open, asked), "question again": plainCard(core.Open, func(d *core.Delivery) {
			asked(d)
			d.Occasion = core.Reminder
		}),
		"answered": plainCard(core.Answered, func(d *core.Delivery) {
			asked(d)
			d.Card.Answer = "二"
		}), "unanswered": plainCard(core.Expired, asked),
		"withdrawn": plainCard(core.Cancelled, asked), "denied": plainCard(core.Denied, nil),
		"expired": plainCard(core.Expired, nil), "cancelled": plainCard(core.Cancelled, nil),
		"failed": plainCard(core.Approved, nil), "done": plainCard(core.Approved, run(core.CallDone)),
		"running":  plainCard(core.Approved, run(core.CallRunning)),
		"not run":  plainCard(core.Approved, run(core.CallNotRun)),
		"in doubt": plainCard(core.Approved, run(core.CallUnknown)),
		"by two": plainCard(core.Approved, func(d *core.Delivery) {
			d.Card.Voters = []core.Actor{d.Card.Decided, d.Card.Editor}
		}),
		"folded": plainCard(core.Approved, func(d *core.Delivery) {
			d.Card.Arguments = `{"数": "` + strings.Repeat("长", 400) + `"}`
		}),
	}
	words := adaptertest.Marked()
	for name, d := range cards {
		shown := cardOnOpenHarness(t, d, words)
		for surface, text := range map[string]string{
			"slack":       adaptertest.TextsIn(t, postedToSlack(t, d, words)),
			"discord":     adaptertest.TextsIn(t, postedToDiscord(t, d, words).Components),
			"terminal":    cardAtTerminal(t, d, words),
			"openharness": fmt.Sprint(shown.Message, shown.Facts, shown.Choices), "chat": read(shown.HTML),
			"page": read(cardOnPage(t, d, words)),
		} {
			if left := adaptertest.Unmarked(unsaid.ReplaceAllString(text, ""), "UTC"); left != nil {
				t.Errorf("the %s card on %s says %q:\n%s", name, surface, left, text)
			}
		}
	}
}

// unsaid matches what is not said: ids, times and links as surfaces write them, what is typed at the terminal, and how
// much of a text is cut.
var unsaid = regexp.MustCompile(
	`openharness:oh/local/s1|openharness:\w+|slack:\w+|<t:\d+:\w>|https://\S+|/again|approve\b|\([\d,]+ more ` +
		`characters are [\w ]+\)`)

var article = regexp.MustCompile(`(?s)<article.*</article>`)

var tag = regexp.MustCompile(`(?s)<time.*?</time>|<[^>]*>`)

// read is what a reader of HTML sees of a card, but for its times.
func read(page string) string {
	return html.UnescapeString(tag.ReplaceAllString(article.FindString(page), " "))
}
