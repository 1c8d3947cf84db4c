package draw

import (
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"gatehouse/core"
)

// TestAReminderIsALineThatLinksToTheCard, and pings who may decide; it has no buttons. Where there is no link to the
// card, the reminder is the card.
func TestAReminderIsALineThatLinksToTheCard(t *testing.T) {
	card := core.Card{
		Approval: "a1", State: core.Open, Tool: "note.add", Summary: "Add a note", Arguments: `{"text":"milk"}`,
		Requester: "Ann", Approvers: []string{"discord:1002"}, Quorum: 1,
	}
	for name, c := range map[string]struct {
		post core.Post
		link string
	}{
		"to the card": {core.Post{Conversation: "discord:900:3001"}, "https://discord.com/channels/900/3001/77"},
		"a direct copy": {
			core.Post{Conversation: "discord:900:1", Copy: true, Person: "discord:1002"},
			"https://discord.com/channels/@me/3001/77",
		},
		"another channel": {core.Post{Conversation: "discord:900:1", Copy: true}, ""},
	} {
		c.post.Kind, c.post.Occasion, c.post.Reminds = core.PostCard, core.Reminder, "card/a1"
		d := core.Delivery{Post: c.post, Card: &card, First: "3001/77"}
		all, err := testPainter.Draw(d, c.link)
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %d messages, %v", name, len(all), err)
		}
		inspect(t, all[0].Outgoing())
		if c.link == "" {
			if len(all[0].Card.Components) < 3 {
				t.Errorf("%s: it is no card: %+v", name, all[0].Card)
			}
			continue
		}
		want := "**🔔 Reminder: an approval is still needed**: Add a note (<" + c.link + ">). May decide: <@1002>"
		if text, _ := all[0].Card.Components[0].(discordgo.TextDisplay); len(all[0].Card.Components) != 1 ||
			text.Content != want {
			t.Errorf("%s: %+v, want %q", name, all[0].Card.Components, want)
		}
		if told := strings.Join(all[0].Users, " "); told != "1002" && c.post.Person == "" {
			t.Errorf("%s: it pings %q", name, told)
		}
	}
}
