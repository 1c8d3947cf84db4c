package main

import (
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// essentialRoutes are the routes that the bot can't do without.
var essentialRoutes = []string{
	discordtest.GetMe, discordtest.GetGateway, discordtest.OpenDM, discordtest.CreateMessage, discordtest.EditMessage,
	discordtest.StartThread,
	discordtest.AnswerInteraction, discordtest.FollowUp, discordtest.EditFollowUp,
}

// An approval works even if Discord, or a proxy, refuses every other route.
func TestDiscordThatKnowsOnlyTheEssentialRoutes(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]discordtest.Trouble{
		"missing access": discordtest.MissesAccess(),
		"not found":      discordtest.Refused(404, 0, "404: Not Found"),
		"server error":   discordtest.ServerError(500),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := serveDiscordWith(t, discordtest.Options{}, nil, func(d *discordGateway) {
				d.discord.Inject(discordtest.Fault{Trouble: trouble, When: func(c discordtest.Call) bool {
					return strings.Contains(c.Route, " /") && !slices.Contains(essentialRoutes, c.Route)
				}})
			})
			d.ann.Says("hello")
			d.reads(d.discord.DMWith(askerID), "Hello!")
			ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
			card := d.card(ask.ID, "Add “milk” to the note book.")
			d.bob.Clicks(ask.ID, card.ID, "Approve")
			d.reads(ask.ID, "Done: “milk” is in the note book.")
			d.shows(ask.ID, card.ID, "pproved")
		})
	}
}
