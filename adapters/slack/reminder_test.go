package slack_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// TestAReminderIsALineThatLinksToTheCard, and mentions who may decide; it has no buttons. Where nobody knows the card,
// or people have deleted it, the reminder is the card.
func TestAReminderIsALineThatLinksToTheCard(t *testing.T) {
	p, o := open(t, slacktest.Options{}, nil)
	card := core.Card{
		Approval: "a1", State: core.Open, Tool: "note.add", Summary: "Add a note", Arguments: `{"text":"milk"}`,
		Requester: "Ann", Approvers: []string{"slack:U2BOB"}, Quorum: 1,
	}
	post := core.Post{
		Key: "card/a1", To: core.Address{Platform: "slack", Channel: "C1"}, Kind: core.PostCard, Approval: "a1",
	}
	send := func(d core.Delivery) slacktest.Message {
		t.Helper()
		if _, _, err := p.Post(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		all := o.FromBot("C1")
		return all[len(all)-1]
	}
	first := send(core.Delivery{Post: post, Card: &card})
	post.Key, post.Reminds, post.Occasion = "card/a1/remind", "card/a1", core.Reminder
	reminder := core.Delivery{Post: post, Card: &card, First: core.Ref("C1/" + first.TS)}
	line := send(reminder)
	for _, part := range []string{
		"🔔 Reminder: an approval is still needed: Add a note (", "May decide: <@U2BOB>", first.TS[:3],
	} {
		if !strings.Contains(line.Shown(), part) {
			t.Errorf("%q is not in %q", part, line.Shown())
		}
	}
	if strings.Contains(line.Shown(), "\n") || len(line.Buttons()) > 0 || len(line.Blocks) != 1 {
		t.Errorf("it is no line: %q %v", line.Shown(), line.Blocks)
	}
	reminder.First = ""
	if whole := send(reminder); len(whole.Buttons()) == 0 {
		t.Errorf("without its card the reminder shows %q", whole.Shown())
	}
	reminder.First = "C1/1.000001"
	if whole := send(reminder); len(whole.Buttons()) == 0 {
		t.Errorf("with a card that is gone the reminder shows %q", whole.Shown())
	}
}
