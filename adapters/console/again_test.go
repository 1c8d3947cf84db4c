package console_test

import (
	"context"
	"strings"
	"testing"

	"gatehouse/adapters/console"
	"gatehouse/core"
)

// TestWhatExpiredIsAskedForAgain by a word that does what the button "Ask again" does, until it was asked again.
func TestWhatExpiredIsAskedForAgain(t *testing.T) {
	var out output
	var events []core.Event
	for _, pressed := range []bool{false, true} {
		c := console.New(console.Options{In: strings.NewReader("/again\n"), Out: &out})
		card := core.Card{Approval: "a1", State: core.Expired, Tool: "note.add", Summary: "Add milk"}
		d := core.Delivery{Post: core.Post{Kind: core.PostCard, Key: "card/a1"}, Card: &card}
		if _, _, err := c.Post(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if d.Pressed = pressed; pressed {
			if err := c.Edit(t.Context(), "", d); err != nil {
				t.Fatal(err)
			}
		}
		accept := func(_ context.Context, e core.Event) (core.Receipt, error) {
			events = append(events, e)
			return core.Receipt{}, nil
		}
		if err := c.Run(t.Context(), accept); err != nil {
			t.Fatal(err)
		}
	}
	if len(events) != 1 || events[0].ID != "again/a1/console:local" ||
		events[0].Body != (core.AskAgainEvent{Approval: "a1"}) {
		t.Errorf("%+v", events)
	}
	if !strings.Contains(out.String(), "type /again\n") ||
		!strings.Contains(out.String(), "No request here has expired") {
		t.Error(out.String())
	}
}
