package dispatch_test

import (
	"testing"
	"time"

	"gatehouse/approvals"
	"gatehouse/approvals/policy"
	"gatehouse/core"
)

// expired has ann ask for a note, and lets nobody decide in time.
func (b *bench) expired() core.Card {
	b.t.Helper()
	b.say("room:1", "note add milk")
	card := b.asked()
	if err := approvals.NewService(b.store, b.store).Expire(b.t.Context(), card.Approval); err != nil {
		b.t.Fatal(err)
	}
	b.disp.Nudge()
	b.expect("The approval expired without a decision.")
	return card
}

// pressAgain presses the button "Ask again" as a person.
func (b *bench) pressAgain(id core.ApprovalID, who string) core.Receipt {
	b.t.Helper()
	return b.accept(
		core.Event{
			ID: "again/" + string(id) + "/" + who, Conversation: "room:1", Body: core.AskAgainEvent{Approval: id},
			Actor: core.Actor{ID: who, Name: who},
		})
}

// briefly is a policy whose approvals expire at once.
var briefly = setup{policy: policy.Defaults{Approvers: []string{"room:bob"}, Timeout: time.Nanosecond}.Rule}

func TestAskAgainAddsTheMessageOnceMore(t *testing.T) {
	b := newBench(t, briefly)
	card := b.expired()
	b.accept(core.Event{Conversation: "room:1", Body: core.ResetEvent{}})
	b.expect("This is a new conversation.")
	press := b.pressAgain(card.Approval, "room:ann")
	second := b.asked()
	if second.Approval == card.Approval || second.Summary != card.Summary || second.Requester != card.Requester {
		t.Errorf("asked again for %+v", second)
	}
	if e := b.ended(press.Seq); e.End.Kind != core.EndDecided {
		t.Errorf("%+v", e.End)
	}
	if r := b.pressAgain(card.Approval, "room:ann"); r.Fresh || r.Seq != press.Seq {
		t.Errorf("a second press is another event: %+v", r)
	}
	a, err := b.store.LoadApproval(t.Context(), second.Approval)
	if err != nil || a.Session != "room:1@2" || a.Requester.ID != "room:ann" {
		t.Errorf("it is asked as %s in %s (%v)", a.Requester.ID, a.Session, err)
	}
	first, err := b.store.LoadApproval(t.Context(), card.Approval)
	if err != nil || first.State != core.Expired {
		t.Errorf("the first is %s (%v)", first.State, err)
	}
	for { // the card was redrawn when it expired, and is now drawn without its button
		d := b.redrawn()
		if d.Card == nil || d.Card.Approval != card.Approval {
			continue
		}
		if d.Pressed && d.Card.State == core.Expired {
			return
		}
	}
}

func TestAskAgainIsRefusedPrivately(t *testing.T) {
	b := newBench(t, setup{})
	b.say("room:1", "note add milk")
	card := b.asked()
	refused := func(id core.ApprovalID, who, want string, category core.Category) {
		t.Helper()
		press := b.pressAgain(id, who)
		if d := b.heard(); d.Kind != core.PostPrivate || d.Person != who || d.Text != want {
			t.Errorf("%s hears %+v, want %q", who, d, want)
		}
		if e := b.ended(press.Seq); e.End.Kind != core.EndIgnored || e.End.Category != category {
			t.Errorf("%+v", e.End)
		}
	}
	refused(card.Approval, "room:ann", "This is waiting for a decision.", core.Invalid)
	refused(card.Approval, "room:bob", "Only the person who asked can ask again.", core.NotAllowed)
	refused("none", "room:ann", "There is no approval none.", core.NotFound)
	if d := len(b.room.edited); d != 0 {
		t.Errorf("%d cards were redrawn", d)
	}
}

func TestAskAgainForWhatIsNoLongerStoredIsRefusedPrivately(t *testing.T) {
	b := newBench(t, briefly)
	card := b.expired()
	deadline := time.Now().Add(patience)
	for err := error(nil); ; {
		if err = b.store.DeleteSession(t.Context(), "room:1@1"); err == nil {
			break
		}
		// the turn has replied, and is about to end
		if core.CategoryOf(err) != core.Invalid || time.Now().After(deadline) {
			t.Fatal(err)
		}
		settle()
	}
	b.pressAgain(card.Approval, "room:ann")
	if d := b.heard(); d.Kind != core.PostPrivate ||
		d.Text != "The request is no longer stored. Please write it again." {
		t.Errorf("%+v", d)
	}
}
