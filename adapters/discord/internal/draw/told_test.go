package draw

import (
	"testing"

	"gatehouse/core"
)

// TestAnOpenCardTellsItsApprovers: Discord pings the people and roles that it names, and nobody else. A decided card, a
// copy and any other message ping nobody, whatever texts of a model or a person say.
func TestAnOpenCardTellsItsApprovers(t *testing.T) {
	hostile := "<@1001> <@1002> <@&4001> @everyone"
	card := samples.HostileCard(core.Open)
	card.Approvers, card.Summary, card.Arguments = []string{
		"discord:1002", "discord:role:4001", "slack:U1", "local", "discord:x",
	}, hostile, hostile
	for name, c := range map[string]struct {
		d            core.Delivery
		users, roles int
	}{
		"open": {core.Delivery{Post: core.Post{Kind: core.PostCard}, Card: card}, 1, 1},
		"a copy for one": {core.Delivery{
			Post: core.Post{Kind: core.PostCard, Copy: true, Person: "discord:1002"}, Card: card,
		}, 0, 0},
		"a copy for all": {core.Delivery{Post: core.Post{Kind: core.PostCard, Copy: true}, Card: card}, 1, 1},
		"told elsewhere": {core.Delivery{Post: core.Post{Kind: core.PostCard, Quiet: true}, Card: card}, 0, 0},
		"decided": {core.Delivery{
			Post: core.Post{Kind: core.PostCard}, Card: samples.HostileCard(core.Approved),
		}, 0, 0},
		"a reply": {core.Delivery{Post: core.Post{Kind: core.PostReply, Text: hostile}}, 0, 0},
	} {
		for _, m := range drawAll(t, c.d) {
			out := m.Outgoing().Mentions
			if len(out.Users) != c.users || len(out.Roles) != c.roles || len(out.Parse) != 0 || out.RepliedUser {
				t.Errorf("%s: %+v", name, out)
			}
			if c.users > 0 && (out.Users[0] != "1002" || out.Roles[0] != "4001") {
				t.Errorf("%s: %+v", name, out)
			}
		}
	}
}

// TestNoReplyLooksLikeACard: only cards are containers.
func TestNoReplyLooksLikeACard(t *testing.T) {
	for name, d := range samples.Deliveries() {
		for _, m := range drawAll(t, d) {
			if (m.Card != nil) != (d.Kind == core.PostCard) {
				t.Errorf("%s: container %v", name, m.Card != nil)
			}
		}
	}
}
