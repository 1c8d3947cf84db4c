package discord

import (
	"context"
	"strings"
	"time"

	"gatehouse/adapters/discord/internal/heard"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// An interaction's token lets anyone who has it answer in the bot's name for fifteen minutes. So no event and no post
// contains it. They name the interaction, and the token is a short-lived value in the store, since another process may
// send the answer.

// tokenLife is how long Discord accepts a token.
const tokenLife = 15 * time.Minute

func tokenName(interaction string) string { return "discord/interaction/" + interaction }

// token is what is stored of an interaction so that it can be answered.
type token struct {
	app, token string
	question   string // that of /ask, "" of another command
}

// saveToken stores an interaction's token, with its application and its question.
func (d *Discord) saveToken(ctx context.Context, i interaction) error {
	value := i.App + "/" + i.Token
	if i.Data.Name == commandAsk {
		question, _ := safetext.Head(heard.Storable(i.text()), maxQuote)
		value += "\n" + question
	}
	if err := d.KV.PutFor(ctx, tokenName(i.ID), value, tokenLife); err != nil {
		return core.Wrap(core.StoreBusy, err, "The token of an interaction could not be stored.")
	}
	return nil
}

// token returns what is stored of an interaction. Error: errLate if it is too late to answer.
func (d *Discord) token(ctx context.Context, interaction string) (t token, err error) {
	value, err := d.KV.Get(ctx, tokenName(interaction))
	if err != nil {
		return t, core.Wrap(core.DeliveryLater, err, "The token of an interaction could not be read from the store.")
	}
	value, t.question, _ = strings.Cut(value, "\n")
	t.app, t.token, _ = strings.Cut(value, "/")
	if !snowflake.Valid(t.app) || t.token == "" || strings.ContainsAny(t.token, "/?#%") {
		return t, errLate
	}
	return t, nil
}
