package dispatch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core"
)

// TestThePersonAtTheMachineIsToldOfDoctor: where a model fails; others can't run it.
func TestThePersonAtTheMachineIsToldOfDoctor(t *testing.T) {
	payload, _ := json.Marshal("hello")
	for _, local := range []bool{true, false} {
		b := newBench(t, setup{model: failing(1, core.ProviderUnavailable)})
		b.accept(core.Event{
			Conversation: "room:1", Body: core.MessageEvent{}, Payload: payload,
			Actor: core.Actor{ID: "room:ann", Name: "Ann", Local: local},
		})
		d := b.expect("I had trouble responding")
		if strings.Contains(d.Text, "gatehouse doctor") != local {
			t.Errorf("local %t: it says %q", local, d.Text)
		}
	}
}
