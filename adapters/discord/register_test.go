package discord

import (
	"slices"
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// registersAs registers the commands several times, and fails unless it changes something exactly as often as wanted.
func (w *rig) registersAs(changes ...bool) {
	w.t.Helper()
	for i, want := range changes {
		if changed, err := w.d.registerCommands(w.ctx()); err != nil || changed != want {
			w.t.Errorf("time %d: %v, %v", i, changed, err)
		}
	}
}

func TestCommandsAreRegisteredOnce(t *testing.T) {
	w := newRig(t, nil)
	w.registersAs(true, false, false)
	if got := w.Commands(); len(got) != 4 || w.CountCalls(discordtest.CreateCommand) != 4 {
		t.Errorf("%v, by %d calls", got, w.CountCalls(discordtest.CreateCommand))
	}
}

// An application that was used before keeps its commands, an entry point among them.
func TestOtherCommandsAreKept(t *testing.T) {
	w := newRig(t, nil)
	endpoint := "/applications/" + w.ApplicationID() + "/commands"
	for _, c := range []map[string]any{
		{
			"name": "poll", "type": 1, "description": "Ask everyone",
			"options": []any{map[string]any{
				"type": 3, "name": "text", "description": "What",
				"choices": []any{map[string]any{"name": "a", "value": "a"}},
			}},
		},
		{"name": "launch", "type": 4, "handler": 2},
		{"name": "help", "type": 3}, // in the menu of a message
		{"name": "ask", "type": 1, "description": "What it said before"},
	} {
		if err := w.d.Call(w.ctx(), "POST", endpoint, c, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.registersAs(true, false)
	got := w.Commands()
	slices.Sort(got)
	if want := []string{"ask", "help", "help", "launch", "new", "poll", "status"}; !slices.Equal(got, want) {
		t.Errorf("there are %v, want %v", got, want)
	}
	if n := w.CountCalls(discordtest.EditCommand); n != 1 {
		t.Errorf("it edited %d", n)
	}
}
