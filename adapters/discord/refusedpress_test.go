package discord_test

import (
	"slices"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// TestRefusedPressesSaySo, privately.
func TestRefusedPressesSaySo(t *testing.T) {
	adaptertest.RefusedPresses(t, "discord:"+bobID, nil, func(t *testing.T, c adaptertest.Refusal) string {
		r := newInbound(t, setup{http: true, discord: core.Deps{Cards: c.Cards()}}).known()
		if c.Unstored {
			r.inbox.Gate(busy)
		}
		card := r.button(general, c.Value(t, "a key for the tests"))
		var i *discordtest.Interaction
		if c.Form {
			m := discordtest.Modal{
				User: bobID, Channel: general, Message: card.Message, CustomID: c.Value(t, "a key for the tests"),
			}
			m.Inputs = slices.Grow(m.Inputs, 1)[:1]
			m.Inputs[0].CustomID, m.Inputs[0].Max = "text", 100
			if c.Action == outbound.ActionAnswer {
				m.Inputs[0].CustomID = "field-1"
			}
			i = r.bob.SubmitsAgain(m, map[string]string{m.Inputs[0].CustomID: c.Typed})
		} else {
			i = r.bob.Presses(card)
		}
		r.answered(i, discordtest.Reply)
		m, _ := i.Shown()
		if ids := r.inbox.IDs(); m.Ephemeral != bobID || len(ids) != 0 {
			t.Errorf("bob sees %+v; stored: %v", m, ids)
		}
		return m.Content
	})
}
