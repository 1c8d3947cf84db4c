package slacktest_test

import (
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/slack/slacktest"
)

// TestAnInputIsFilledWithinItsLimit: Slack's, or the shorter one of the app.
func TestAnInputIsFilledWithinItsLimit(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	a := newApp(t, w.SigningSecret())
	w.SendTo(slacktest.Addresses{Interactions: a.URL})
	_, ts, err := w.api.PostMessage("C1", card("May I?"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		filled, most int
		ok           bool
	}{{3000, 0, true}, {3001, 0, false}, {10, 10, true}, {11, 10, false}} {
		d := w.bob.Clicks("C1", ts, "Deny")
		if err := d.Wait(w.ctx); err != nil {
			t.Fatal(err)
		}
		view := modal()
		input := slackgo.NewPlainTextInputBlockElement(nil, "reason").WithInitialValue(strings.Repeat("é", c.filled))
		if c.most > 0 {
			input = input.WithMaxLength(c.most)
		}
		view.Blocks.BlockSet[0].(*slackgo.InputBlock).Element = input
		if _, err := w.api.OpenView(d.TriggerID, view); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
