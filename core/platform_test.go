package core_test

import (
	"context"
	"testing"

	"gatehouse/core"
)

func TestLaw5_AdaptersCannotBringSignals(t *testing.T) {
	var stored []core.Event
	accept := core.FromPlatform(func(_ context.Context, e core.Event) (core.Receipt, error) {
		stored = append(stored, e)
		return core.Receipt{Seq: 1, Fresh: true}, nil
	})
	event := func(id string, body core.EventBody) core.Event {
		return core.Event{Platform: "x", ID: id, Conversation: "x:room", Body: body}
	}
	for name, e := range map[string]core.Event{
		"a signal": event("message/1", core.SignalEvent{Approval: "a1"}),
		// the signal itself would then be known already, and never wake its turn
		"a message with a signal's id": event("signal/a1", core.MessageEvent{}),
		"an amendment of a signal":     event("amend/1", core.AmendEvent{Event: "signal/a1"}),
		"a request with a signal's id": event("signal/a1", core.AskAgainEvent{Approval: "a1"}),
		"a signal of nothing":          event("signal/", core.SignalEvent{}),
	} {
		if _, err := accept(t.Context(), e); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
	if len(stored) != 0 {
		t.Errorf("stored: %+v", stored)
	}
	for _, body := range []core.EventBody{
		core.MessageEvent{}, core.ResetEvent{}, core.ClickEvent{Approval: "a1"}, core.ControlEvent{Word: "stop"},
		core.RetryEvent{Failed: 1}, core.AskAgainEvent{Approval: "a1"}, core.AmendEvent{Event: "message/1"},
	} {
		if _, err := accept(t.Context(), event("other/1", body)); err != nil {
			t.Errorf("%T: %v", body, err)
		}
	}
	if len(stored) != 7 {
		t.Errorf("%d of 7 other events are stored", len(stored))
	}
}
