package discord

import (
	"context"
	"slices"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/core"
)

// bots are the ids of the bots and webhooks that may ask.
func (c Config) bots() []string { return inbound.IDs(c.Bots) }

// isBot reports whether an actor is a bot or a webhook that may ask. The author of a webhook's message has the
// webhook's id.
func (d *Discord) isBot(who core.Actor) bool {
	id, ok := address.User(who.ID)
	return ok && slices.Contains(d.Config.bots(), id)
}

// onlyBots reports whether a bot wrote a message that is not answered, since a person has to write first. Error: the
// store's.
func (d *Discord) onlyBots(ctx context.Context, e core.Event) (bool, error) {
	only, err := inbound.OnlyBots(ctx, d.Inbox, e, d.isBot)
	if only {
		d.Log.Warn("a bot is not answered: "+inbound.TooManyBots, "bot", e.Actor.ID, "event", e.ID)
	}
	return only, err
}
