package slack_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// amendment reads an amendment's payload and checks its event.
func (r *running) amendment(e core.Event, of string) core.Amendment {
	r.t.Helper()
	var a core.Amendment
	if err := json.Unmarshal(e.Payload, &a); err != nil {
		r.t.Fatal(err)
	}
	if e.Kind() != core.KindAmend || e.Subject() != of ||
		e.ID != strings.Replace(of, "message/", "amend/", 1)+"/"+a.Revision || a.Revision == "" ||
		e.Conversation == "" {
		r.t.Errorf("got %+v of %s", e, of)
	}
	return a
}

func TestAnEditByItsAuthorIsAnAmendment(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *running) {
		bot := r.MentionOfBot()
		for name, where := range map[string]string{"C1": "C1", "direct": r.DMWith("U1ANN"), "G1": "G1"} {
			p := r.ann.Posts(where, bot+" add milk")
			first := r.one(p.Deliveries...)
			edit := r.ann.Edits(where, p.TS, bot+" add <@U2BOB>'s &lt;b&gt; cream")
			e := r.one(edit...)
			a := r.amendment(e, first.ID)
			if a.Text != "add @U2BOB's <b> cream" || e.Actor.ID != first.Actor.ID {
				t.Errorf("%s: the change reads %q, by %v", name, a.Text, e.Actor)
			}
			amended := first
			amended.Payload = a.Payload
			said := r.message(amended).Content
			if got := said.Own(); got != "add @bob's <b> cream" {
				t.Errorf("%s: the text is now %q", name, got)
			}
			if before := r.message(first).Content; before.IsList() != said.IsList() {
				t.Errorf("%s: it said %v, and now %v", name, before, said)
			}
			again := r.one(edit[0].Again())
			if again.ID != e.ID {
				t.Errorf("%s: delivered again its id is %q, not %q", name, again.ID, e.ID)
			}
			later := r.amendment(r.one(r.ann.Edits(where, p.TS, bot+" add oats")...), first.ID)
			if later.Revision <= a.Revision {
				t.Errorf("%s: the second change is %q, not after %q", name, later.Revision, a.Revision)
			}
		}
	})
}

func TestChangesOfOtherFieldsAreNotAmendments(t *testing.T) {
	r := start(t, setup{}).known()
	p := r.ann.Posts("C1", r.MentionOfBot()+" see https://example.org")
	r.one(p.Deliveries...)
	r.none(r.ann.Edits("C1", p.TS, r.MentionOfBot()+" see https://example.org")...)
	r.one(r.ann.Edits("C1", p.TS, r.MentionOfBot()+" see this")...)

	say := func(user, text string, more map[string]any) map[string]any {
		m := map[string]any{"type": "message", "user": user, "text": text, "ts": p.TS}
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	edited := map[string]any{"edited": map[string]any{"user": "U1ANN", "ts": "1700000009.000000"}}
	byBob := map[string]any{"edited": map[string]any{"user": "U2BOB", "ts": "1700000009.000000"}}
	ofBot := map[string]any{"bot_id": "B9", "edited": map[string]any{"user": "U1ANN", "ts": "1700000009.000000"}}
	for name, m := range map[string][2]any{
		"no edit by a person": {say("U1ANN", "b", nil), say("U1ANN", "a", nil)},
		"a bot's":             {say("U1ANN", "b", ofBot), say("U1ANN", "a", nil)},
		"our own":             {say(r.BotUserID(), "b", edited), say(r.BotUserID(), "a", nil)},
		"another author":      {say("U1ANN", "b", edited), say("U2BOB", "a", nil)},
		"another editor":      {say("U1ANN", "b", byBob), say("U1ANN", "a", nil)},
		"nothing before":      {say("U1ANN", "b", edited), nil},
		"metadata alone": {
			say("U1ANN",
				"a",
				map[string]any{
					"edited":   edited["edited"],
					"metadata": map[string]any{"event_type": "x", "event_payload": map[string]any{}},
				}), say("U1ANN", "a", nil),
		},
	} {
		d := r.Send(map[string]any{
			"type": "message", "subtype": "message_changed", "channel": "C1", "channel_type": "channel",
			"ts": "1700000010.000000", "event_ts": "1700000010.000000",
			"message": m[0], "previous_message": m[1],
		})
		if got := r.taken(d); len(got) != 0 {
			t.Errorf("%s: was passed to accept: %+v", name, got)
		}
	}
}

// TestWhatSlackAddsLaterIsAnAmendment: the preview of a link comes with a change of its own. It comes after the edit
// before it and before the next one, whatever the clocks say, and shows nothing on a card.
func TestWhatSlackAddsLaterIsAnAmendment(t *testing.T) {
	r := start(t, setup{}).known()
	bobs := r.bob.Posts("C1", "Quarter figures are in")
	p := r.ann.Posts("C1", r.MentionOfBot()+" see https://gate.slack.com/archives/C1/p1")
	first := r.one(p.Deliveries...)
	linked := slacktest.WithAttachments(r.Forward("C1", bobs.TS, false))
	amended := func(e core.Event) core.Amendment {
		t.Helper()
		a := r.amendment(e, first.ID)
		if !a.Added || a.Text != "" || e.Actor.ID != first.Actor.ID {
			t.Errorf("the amendment is %+v, by %v", a, e.Actor)
		}
		return a
	}
	one := amended(r.one(r.Unfurl("C1", p.TS, "", linked)...))
	again := first
	again.Payload = one.Payload
	said := r.message(again).Content
	if !strings.Contains(said.String(), "Quarter figures are in") || !strings.HasPrefix(said.Own(), "see https") {
		t.Errorf("the agent reads %q", said)
	}
	two := amended(r.one(r.Unfurl("C1", p.TS, "https://example.org")...))
	edit := r.amendment(r.one(r.ann.Edits("C1", p.TS, r.MentionOfBot()+" see that")...), first.ID)
	three := amended(r.one(r.Unfurl("C1", p.TS, "", linked)...)) // the message is marked as edited by now
	later := r.amendment(r.one(r.ann.Edits("C1", p.TS, r.MentionOfBot()+" see nothing")...), first.ID)
	for _, pair := range [][2]core.Amendment{{one, two}, {two, edit}, {edit, three}, {three, later}} {
		if pair[0].Revision >= pair[1].Revision {
			t.Errorf("%q is not before %q", pair[0].Revision, pair[1].Revision)
		}
	}
	answer := core.Post{
		Key: "k", To: core.Address{Platform: "slack", Channel: "C1"}, Kind: core.PostReply, Text: "done",
	}
	ref, _, err := r.p.Post(r.ctx, core.Delivery{Post: answer})
	if err != nil {
		t.Fatal(err)
	}
	_, ours, _ := strings.Cut(string(ref), "/")
	r.none(r.Unfurl("C1", ours, "https://example.org")...)
}

// TestAnEditOfATableIsAnAmendment: a table is the author's own words, though Slack's text does not have it.
func TestAnEditOfATableIsAnAmendment(t *testing.T) {
	r := start(t, setup{}).known()
	pasted := func(price string) map[string]any { return table([]string{"Item", "Price"}, []string{"apples", price}) }
	message := func(price, edited string) map[string]any {
		m := map[string]any{
			"type": "message", "user": "U1ANN", "text": "which is cheaper?", "ts": "1700000001.000100",
			"attachments": []any{pasted(price)},
		}
		if edited != "" {
			m["edited"] = map[string]any{"user": "U1ANN", "ts": edited}
		}
		return m
	}
	e := r.one(r.Send(map[string]any{
		"type": "message", "subtype": "message_changed", "channel": "C1", "channel_type": "channel",
		"ts": "1700000010.000000", "event_ts": "1700000010.000000",
		"message": message("3.20", "1700000010.000000"), "previous_message": message("3.10", ""),
	}))
	a := r.amendment(e, "message/T0GATE/C1/1700000001.000100")
	if a.Added || a.Text != "which is cheaper?\nItem | Price\napples | 3.20" {
		t.Errorf("the amendment is %+v", a)
	}
}

func TestADeletionWithdrawsTheMessage(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *running) {
		bot := r.MentionOfBot()
		p := r.ann.Posts("C1", bot+" add milk")
		first := r.one(p.Deliveries...)
		if a := r.amendment(r.one(r.ann.Deletes("C1", p.TS)...), first.ID); len(a.Payload) != 0 || a.Text != "" {
			t.Errorf("the amendment is %+v", a)
		}
		parent := r.ann.Posts("C1", bot+" add milk")
		first = r.one(parent.Deliveries...)
		r.one(r.bob.Posts("C1", "why?", slacktest.InThread(parent.TS)).Deliveries...)
		e := r.one(r.ann.Deletes("C1", parent.TS)...) // leaves a tombstone
		if a := r.amendment(e, first.ID); len(a.Payload) != 0 || e.Actor.ID != "slack:U1ANN" {
			t.Errorf("the tombstone is %+v, by %v", a, e.Actor)
		}
	})
}

func TestAnEditThatAddsAMentionIsAnEvent(t *testing.T) {
	r := start(t, setup{}).known()
	p := r.ann.Posts("C1", "add milk")
	r.none(p.Deliveries...)
	got := r.taken(r.ann.Edits("C1", p.TS, r.MentionOfBot()+" add milk")...)
	e, ok := got["message/T0GATE/C1/"+p.TS]
	if !ok || e.Kind() != core.KindMessage || e.Conversation != core.ConversationID("slack:T0GATE:C1:"+p.TS) ||
		e.FollowUp {
		t.Fatalf("got %+v", got)
	}
	if text := r.message(e).Content.Own(); text != "add milk" {
		t.Errorf("the text is %q", text)
	}
}

func TestADeletionOfABotsMessageIsIgnored(t *testing.T) {
	r := start(t, setup{}).known()
	ref, _, err := r.p.Post(r.ctx,
		core.Delivery{Post: core.Post{
			Key: "k", To: core.Address{Platform: "slack", Channel: "C1"}, Kind: core.PostReply, Text: "an answer",
		}})
	if err != nil {
		t.Fatal(err)
	}
	_, ts, _ := strings.Cut(string(ref), "/")
	r.none(r.bob.Deletes("C1", ts)...)
}
