package adaptertest

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
)

func receives(t *testing.T, r *fixture) {
	first, second := r.say(t, "hello there"), r.say(t, "hello there")
	if first.ID == second.ID {
		t.Errorf("two messages with the same text have the same id %q", first.ID)
	}
	to, conversation := r.out.Conversation()
	for _, e := range []core.Event{first, second} {
		if e.Platform != r.Name() || e.Kind() != core.KindMessage || e.ID == "" {
			t.Errorf("got an event of platform %q, kind %q, id %q", e.Platform, e.Kind(), e.ID)
		}
		if e.Conversation != conversation || !strings.HasPrefix(string(e.Conversation), r.Name()+":") {
			t.Errorf("its conversation is %q, want %q", e.Conversation, conversation)
		}
		at := e.Address
		at.Message = "" // the message itself
		if at != to || at.Platform != r.Name() {
			t.Errorf("its address is %+v, want %+v", at, to)
		}
		if !strings.HasPrefix(e.Actor.ID, r.Name()+":") {
			t.Errorf("its actor is %q, want an id that begins with the platform", e.Actor.ID)
		}
		if !json.Valid(e.Payload) {
			t.Errorf("its payload is not JSON: %s", e.Payload)
		}
	}
}

func storedBeforeAcknowledged(t *testing.T, r *fixture) {
	acks, counts := r.out.(Acknowledger)
	r.ack = func() {
		if counts && acks.Acknowledged() != 0 {
			t.Error("acknowledged before it was stored")
		}
	}
	r.failStore(2)
	r.out.Say(t, "keep this")
	first, second := next(t, r.failed, "the first try"), next(t, r.failed, "the second try")
	stored := next(t, r.events, "the third try")
	if first.ID != second.ID || first.ID != stored.ID {
		t.Errorf("the tries have the ids %q, %q, %q, want the same id", first.ID, second.ID, stored.ID)
	}
	if counts {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		if Poll(ctx, func() bool { return acks.Acknowledged() == 1 }) != nil {
			t.Error("it was stored and not acknowledged")
		}
	}
}

func stopsWhileFailing(t *testing.T, r *fixture) {
	r.failStore(-1)
	r.out.Say(t, "this is never stored")
	next(t, r.failed, "the first try") // the fixture's cleanup now ends Run, which must return
}

func deliveredTwice(t *testing.T, r *fixture) {
	rep, ok := r.out.(Repeater)
	if !ok {
		t.Log("this fake can't repeat a delivery")
		return
	}
	first := r.say(t, "once")
	rep.Repeat(t)
	r.comesAgain(t, "the repeated message", first.ID)
	r.post(t, r.card("a1"))
	r.out.Click(t, core.Click{Approval: "a1", Choice: core.Approve})
	click := next(t, r.events, "the click")
	rep.Repeat(t)
	r.comesAgain(t, "the repeated click", click.ID, first.ID)
}

// comesAgain waits for an event that was delivered before. Earlier ones may be repeated with it.
func (r *fixture) comesAgain(t *testing.T, what, id string, earlier ...string) {
	t.Helper()
	_, recognized := r.out.(Recognizer)
	for {
		if recognized && len(r.events) == 0 {
			return
		}
		again := next(t, r.events, what)
		if again.ID == id {
			return
		}
		if !slices.Contains(earlier, again.ID) {
			t.Errorf("%s has the id %q, not %q", what, again.ID, id)
			return
		}
	}
}

func clicks(t *testing.T, r *fixture) {
	ids := map[string]bool{}
	for _, want := range []core.Click{
		{Approval: "a1", Choice: core.Approve}, {Approval: "a2", Choice: core.Deny},
		{Approval: "a3", Choice: core.Approve},
	} {
		r.post(t, r.card(string(want.Approval)))
		for range 2 { // a person may press twice: that is two clicks
			r.out.Click(t, want)
			e := next(t, r.events, "the click")
			if e.Kind() != core.KindClick || e.Subject() != string(want.Approval) || e.Actor.ID == "" {
				t.Fatalf("a click came as kind %q, subject %q, actor %q", e.Kind(), e.Subject(), e.Actor.ID)
			}
			if ids[e.ID] {
				t.Errorf("two clicks have the same id %q", e.ID)
			}
			ids[e.ID] = true
			if c := Click(t, e); c.Approval != want.Approval || c.Choice != want.Choice {
				t.Errorf("the click is %+v, want %+v", c, want)
			}
		}
	}
}

func parsesAgain(t *testing.T, r *fixture) {
	e := r.say(t, `it says "<b> & ünïcödé" 你好`)
	kept := e
	kept.Payload = slices.Clone(e.Payload)
	first, err := r.Parse(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if first.Message == nil || first.Message.Role != core.User || first.Message.Validate() != nil {
		t.Fatalf("Parse gave %+v", first)
	}
	if text := first.Message.Content.String(); !strings.Contains(text, "ünïcödé") || !strings.Contains(text, "你好") {
		t.Errorf("the message is now %q", text)
	}
	second, err := r.Parse(t.Context(), e)
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Errorf("the second Parse gave %+v, %v, the first %+v", second, err, first)
	}
	if !reflect.DeepEqual(e, kept) {
		t.Error("Parse has changed its event")
	}
}

func malformed(t *testing.T, r *fixture) {
	message := r.say(t, "hello")
	r.post(t, r.card("a1"))
	r.out.Click(t, core.Click{Approval: "a1", Choice: core.Approve})
	click := next(t, r.events, "the click")
	old, _ := r.Platform.(core.OldClicks)
	for _, payload := range []string{
		"", "null", "[]", "{", "42", `"text"`, "{}", `{"text":`, "{\"text\":\"\xff\"}", strings.Repeat("[", 5000),
		`{"text":5,"approval":[],"choice":{}}`,
	} {
		message.Payload, click.Payload = json.RawMessage(payload), json.RawMessage(payload)
		_, unread := r.Parse(t.Context(), message)
		_, unclear := core.ClickOf(click)
		faults := map[string]error{"Parse": unread, "ClickOf": unclear}
		if old != nil {
			_, faults["OldClick"] = old.OldClick(click)
		}
		for name, err := range faults {
			if b := core.BucketOf(core.CategoryOf(err)); err == nil || b != core.UserCorrectable ||
				core.MessageOf(err) == "" {
				t.Errorf("%s of %.20q gave %v, of the bucket %s; want a user-correctable error with a message", name,
					payload, err, b)
			}
		}
	}
}
