package discordtest_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// TestAnInputIsFilledWithinItsLimit: Discord's, or the shorter one of the app.
func TestAnInputIsFilledWithinItsLimit(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	shown := w.card(t)
	for _, c := range []struct{ filled, most, want int }{
		{4000, 4000, 204}, {4001, 4000, 400}, {10, 10, 204}, {11, 10, 400},
	} {
		i := w.bob.Clicks(general, shown.ID, "Deny")
		if status := w.call(t, "POST", "/interactions/"+i.ID+"/"+i.Token+"/callback", fields{"type": 9, "data": fields{
			"custom_id": "why", "title": "Why?",
			"components": []any{row(
				fields{
					"type": 4, "custom_id": "a", "label": "A", "style": 2, "max_length": c.most,
					"value": strings.Repeat("é", c.filled),
				})},
		}}, nil); status != c.want {
			t.Errorf("%+v: HTTP %d", c, status)
		}
	}
}
