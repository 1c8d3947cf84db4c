package discord

import (
	"context"
	"slices"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// bots are the ids of the bots and webhooks that may ask.
func (c Config) bots() []string {
	return strings.FieldsFunc(c.Bots, func(r rune) bool { return r == ',' || r == ' ' })
}

// isBot reports whether an actor is a bot or a webhook that may ask. The author of a webhook's message has the
// webhook's id.
func (d *Discord) isBot(actor string) bool {
	id, ok := userOf(actor)
	return ok && slices.Contains(d.Config.bots(), id)
}

// refusesBot reports whether a bot's message is not answered, since a person has to write first. Error: the store's.
func (d *Discord) refusesBot(ctx context.Context, e core.Event) (bool, error) {
	if !d.isBot(e.Actor.ID) {
		return false, nil
	}
	tooMany, err := chat.Events(d.Events).OnlyBots(ctx, e, d.isBot)
	if tooMany {
		d.Log.Warn("a bot is not answered: "+chat.TooManyBots, "bot", e.Actor.ID, "event", e.ID)
	}
	return tooMany, err
}
