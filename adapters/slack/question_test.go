package slack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

// asking makes a card a question with a schema, which bob may answer.
func asking(t *testing.T, schema string) func(*core.Card) {
	t.Helper()
	q, err := question.New("Which?", json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *core.Card) { c.Tool, c.Question, c.Self = "people.ask", &q, true }
}

const order = `{"type":"object","required":["size","count","why"],"properties":{"size":{"oneOf":[{"const":"s",` +
	`"title":"Small"},{"const":"m","title":"Medium"}]},
	"count":{"type":"integer","title":"Count","minimum":3},"gift":{"type":"boolean"},"why":{"type":"string",
	"title":"Why?","minLength":2}}}`

// posted posts the card of a question and returns where it is.
func (r *running) posted(t *testing.T, schema string) (channel, ts string) {
	t.Helper()
	card := core.Card{
		Approval: "a1", State: core.Open, Approvers: []string{"slack:U2BOB"}, Quorum: 1,
		Requested: core.Actor{ID: "slack:U1ANN"}, Requester: "Ann",
	}
	asking(t, schema)(&card)
	d := core.Delivery{Post: core.Post{
		Key: "card/a1", Kind: core.PostCard, Approval: "a1", To: core.Address{Platform: "slack", Channel: "C1"},
	}, Card: &card}
	ref, _, err := r.p.Post(r.ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	channel, ts, _ = strings.Cut(string(ref), "/")
	return channel, ts
}

func TestAnOptionIsAnswered(t *testing.T) {
	const many = `{"enum":["a","b","c","d","e","f"]}`
	for name, c := range map[string]struct {
		schema string
		press  func(r *running, channel, ts string) *slacktest.Delivery
		want   int
	}{
		"a button": {`{"enum":["a","b"]}`, func(r *running, channel, ts string) *slacktest.Delivery {
			return r.bob.Clicks(channel, ts, "b")
		}, 2},
		"yes or no": {`{"type":"boolean"}`, func(r *running, channel, ts string) *slacktest.Delivery {
			return r.bob.Clicks(channel, ts, "Yes")
		}, 1},
		"a menu": {many, func(r *running, channel, ts string) *slacktest.Delivery {
			return r.bob.Chooses(channel, ts, "f")
		}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, setup{slack: cardOf(asking(t, c.schema))}, func(t *testing.T, r *running) {
				channel, ts := r.posted(t, c.schema)
				d := c.press(r, channel, ts)
				e := r.one(d)
				if e.Kind() != core.KindClick || e.Subject() != "a1" || e.Actor.ID != "slack:U2BOB" ||
					!strings.HasPrefix(e.ID, "vote/a1/U2BOB/") {
					t.Errorf("got %+v", e)
				}
				if got, want := r.click(e),
					(core.Click{
						Approval: "a1", Choice: core.Answer, Option: c.want, Card: core.Ref(channel + "/" + ts),
					}); got != want {
					t.Errorf("Parse gave %+v, want %+v", got, want)
				}
				if again := r.one(d.Again()); again.ID != e.ID {
					t.Errorf("delivered twice its ids are %q and %q", e.ID, again.ID)
				}
				if other := r.one(c.press(r, channel, ts)); other.ID == e.ID {
					t.Errorf("a second press is the same event %q", e.ID)
				}
			})
		})
	}
}

// TestAFormIsAnswered: what is wrong with it is shown at once, at the right fields, and nothing is stored.
func TestAFormIsAnswered(t *testing.T) {
	onBoth(t, setup{slack: cardOf(asking(t, order))}, func(t *testing.T, r *running) {
		root := r.ann.Posts("C1", "work", slacktest.WithoutEvent())
		b := r.button("C1", r.sealed("a1", "answer"), slacktest.InThread(root.TS))
		v := r.opened(b)
		for _, text := range []string{
			"# Answer", "Which?", "size: [radio_buttons] ○ Small ○ Medium", "Count: [number_input]",
			"gift: [radio_buttons] ○ Yes ○ No", "Why?: [plain_text_input]",
		} {
			if !strings.Contains(v.Shown(), text) {
				t.Errorf("bob does not see %q:\n%s", text, v.Shown())
			}
		}
		r.none(r.bob.Submits(map[string]string{"field_1": "2", "field_3": "  "}))
		v, open := r.Modal("U2BOB")
		want := map[string]string{
			"field_0": "This is required.", "field_1": "This must be 3 or more.", "field_3": "This must not be empty.",
		}
		if !open || fmt.Sprint(v.Errors) != fmt.Sprint(want) {
			t.Errorf("bob reads %q, want %q", v.Errors, want)
		}
		d := r.bob.Submits(
			map[string]string{"field_0": "Medium", "field_1": "3", "field_2": "No", "field_3": " it rains\non us"})
		e := r.one(d)
		if _, open := r.Modal("U2BOB"); open {
			t.Error("the form stays open")
		}
		if e.Kind() != core.KindClick || e.Subject() != "a1" || e.Address.Channel != "C1" ||
			e.Address.Thread != root.TS || e.Actor.ID != "slack:U2BOB" {
			t.Errorf("got %+v", e)
		}
		got := r.click(e)
		answer := `{"size":"m","count":3,"gift":false,"why":" it rains\non us"}`
		if got != (core.Click{Approval: "a1", Choice: core.Answer, Answer: answer}) {
			t.Errorf("Parse gave %+v", got)
		}
		if again := r.one(d.Again()); again.ID != e.ID || r.click(again) != got {
			t.Errorf("submitted twice it is %+v and %+v", e, again)
		}
	})
}

func TestATextIsAnswered(t *testing.T) {
	r := start(t, setup{slack: cardOf(asking(t, `{"type":"string"}`))}).known()
	channel, ts := r.posted(t, `{"type":"string"}`)
	b, _ := r.FindButton(channel, ts, "Answer")
	r.opened(b)
	if got := r.click(r.one(r.bob.Submits(map[string]string{"field_0": "12"}))); got.Answer != `"12"` ||
		got.Choice != core.Answer {
		t.Errorf("Parse gave %+v", got)
	}
}

// TestNoFormForAQuestion that is not theirs, or waits no more, or is none.
func TestNoFormForAQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*core.Card)
		want   string
	}{
		"somebody else": {func(c *core.Card) {
			c.Approvers = []string{"slack:U9"}
		}, "This question is for somebody else."},
		"answered": {func(c *core.Card) {
			c.State, c.DecidedBy, c.DecidedAt = core.Answered, "Ann", time.Unix(1_800_000_000, 0)
		}, "This was answered by Ann at 2027-01-15 08:00 UTC."},
		"expired": {func(c *core.Card) {
			c.State, c.DecidedAt = core.Expired, time.Unix(1_800_000_000, 0)
		}, "This question expired at 2027-01-15 08:00 UTC. Please ask again."},
		"no question": {func(c *core.Card) {
			c.Question = nil
		}, "This button does not fit the card any more, so nothing was done."},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, setup{slack: cardOf(func(card *core.Card) {
				asking(t, order)(card)
				c.change(card)
			})}).known()
			r.none(r.bob.Presses(r.button("C1", r.sealed("a1", "answer"))))
			if text := r.told("C1", "U2BOB", 1); text != c.want {
				t.Errorf("bob reads %q", text)
			}
			if _, open := r.Modal("U2BOB"); open {
				t.Error("a form is open")
			}
		})
	}
}

// TestALateFormSaysSo and stays open, with what was typed; nothing is stored.
func TestALateFormSaysSo(t *testing.T) {
	var answered atomic.Bool
	o := cardOf(asking(t, order))
	open := o.Cards
	o.Cards = adaptertest.CardFunc(func(ctx context.Context, id core.ApprovalID, full bool) (core.Card, error) {
		c, err := open.Card(ctx, id, full)
		if answered.Load() {
			c.State = core.Answered
		}
		return c, err
	})
	r := start(t, setup{slack: o}).known()
	r.opened(r.button("C1", r.sealed("a1", "answer")))
	answered.Store(true)
	r.none(r.bob.Submits(map[string]string{"field_1": "1"}))
	if v, open := r.Modal("U2BOB"); !open || !strings.Contains(v.Errors["field_0"], "This was answered by somebody") {
		t.Errorf("bob reads %q", v.Errors)
	}
}

func TestAFormWhoseQuestionCanNotBeLookedUpIsNotAcknowledged(t *testing.T) {
	var down atomic.Bool
	o := cardOf(asking(t, order))
	open := o.Cards
	o.Cards = adaptertest.CardFunc(func(ctx context.Context, id core.ApprovalID, full bool) (core.Card, error) {
		if down.Load() {
			return core.Card{}, core.Errorf(core.StoreBusy, "The store is busy.")
		}
		return open.Card(ctx, id, full)
	})
	r := start(t, setup{fake: slacktest.Options{AckWithin: 1e8}, slack: o}).known()
	r.opened(r.button("C1", r.sealed("a1", "answer")))
	down.Store(true)
	r.refused(r.bob.Submits(map[string]string{"field_1": "4"}))
	if text := r.told("C1", "U2BOB", 1); text != wording.BuiltIn.PressUnread {
		t.Errorf("bob reads %q", text)
	}
}

func TestForgedOptionsAreRefused(t *testing.T) {
	r := start(t, setup{slack: cardOf(asking(t, order))}).known()
	for name, menu := range map[string][2]string{
		"a block of somebody else": {"a1~answer", "1"}, "another button": {r.sealed("a1", "approve"), "1"},
		"no place": {r.sealed("a1", "answer"), "x"},
		"place 0":  {r.sealed("a1", "answer"), "0"}, "place 26": {r.sealed("a1", "answer"), "26"},
		"place 01": {r.sealed("a1", "answer"), "01"},
	} {
		option := map[string]any{"value": menu[1], "text": map[string]any{"type": "plain_text", "text": "x"}}
		body, err := json.Marshal(map[string]any{
			"type": "block_actions", "team": map[string]any{"id": r.TeamID()}, "user": map[string]any{"id": "U2BOB"},
			"channel":          map[string]any{"id": "C1"},
			"gatehouse_answer": "\"x\"",
			"actions": []any{map[string]any{
				"type": "static_select", "block_id": menu[0], "action_id": "answer", "action_ts": "1.2",
				"selected_option": option,
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if status, _ := r.send("/slack/interactions", formOf(string(body)), nil); status != 200 {
			t.Errorf("%s: answered %d", name, status)
		}
		if got := r.taken(); len(got) != 0 {
			t.Errorf("%s: stored %+v", name, got)
		}
	}
}
