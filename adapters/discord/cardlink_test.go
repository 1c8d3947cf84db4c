package discord

import (
	"testing"

	"gatehouse/adapters/discord/internal/address"
	"gatehouse/core"
)

// TestAReminderLinksToTheCard unless the card is in another channel, whose server is not known.
func TestAReminderLinksToTheCard(t *testing.T) {
	for name, c := range map[string]struct {
		post core.Post
		link string
	}{
		"in a server": {core.Post{Conversation: "discord:900:3001"}, "https://discord.com/channels/900/3001/77"},
		"direct messages": {
			core.Post{Conversation: core.ConversationID(address.Platform + ":" + address.Direct + ":3001")},
			"https://discord.com/channels/@me/3001/77",
		},
		"a direct copy": {
			core.Post{Conversation: "discord:900:1", Copy: true, Person: "discord:1002"},
			"https://discord.com/channels/@me/3001/77",
		},
		"another channel": {core.Post{Conversation: "discord:900:1", Copy: true}, ""},
	} {
		c.post.Kind, c.post.Occasion, c.post.Reminds = core.PostCard, core.Reminder, "card/a1"
		if got := cardLink(core.Delivery{Post: c.post, Card: &core.Card{}, First: "3001/77"}); got != c.link {
			t.Errorf("%s: it links to %q, want %q", name, got, c.link)
		}
	}
}
