package discord

import (
	"context"
	"strings"
	"time"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/core"
)

// An interaction's token lets anyone who has it answer in the bot's name for fifteen minutes. So no event and no post contains it. They name
// the interaction, and the token is a short-lived value in the store, since another process may send the answer.

// tokenLife is how long Discord accepts a token.
const tokenLife = 15 * time.Minute

func tokenName(interaction string) string { return "discord/interaction/" + interaction }

// saveToken stores an interaction's token, with its application.
func (d *Discord) saveToken(ctx context.Context, i interaction) error {
	err := d.KV.PutFor(ctx, tokenName(i.ID), i.App+"/"+i.Token, tokenLife)
	if err != nil {
		return core.Wrap(core.StoreBusy, err, "The token of an interaction could not be stored.")
	}
	return nil
}

// token returns an interaction's application and token; ok is false if it is too late to answer.
func (d *Discord) token(ctx context.Context, interaction string) (app, token string, ok bool, err error) {
	value, err := d.KV.Get(ctx, tokenName(interaction))
	if err != nil {
		return "", "", false, core.Wrap(core.DeliveryLater, err, "The store can't tell now how an interaction is answered.")
	}
	app, token, ok = strings.Cut(value, "/")
	return app, token, ok && snowflake.Valid(app) && token != "" && !strings.ContainsAny(token, "/?#%"), nil
}
