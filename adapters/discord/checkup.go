package discord

import (
	"context"
	"time"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/preflight"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/core"
)

// Check checks this configuration by asking Discord. Without a valid token it makes only the checks that need no call to Discord.
func (c *Config) Check(ctx context.Context, o core.Checkup) []core.Check {
	if o.Now == nil {
		o.Now = time.Now
	}
	client := rest.New(rest.Options{Token: c.BotToken, URL: c.apiURL(), Now: o.Now})
	defer client.Close()
	var missed func(context.Context) ([]gateway.Missed, error)
	if o.KV != nil {
		missed = func(ctx context.Context) ([]gateway.Missed, error) { return gateway.ReadMissed(ctx, o.KV) }
	}
	var recent func(context.Context) ([]core.EventRecord, error)
	if o.Events != nil {
		recent = func(ctx context.Context) ([]core.EventRecord, error) { return o.Events(ctx, latest) }
	}
	return preflight.Run(ctx, preflight.Options{
		REST: client, APIURL: c.APIURL, PublicKey: c.PublicKey, Shards: c.Shards, Threads: c.threads(), Path: pathInteractions,
		Listen: o.Listen, Approvers: o.Approvers, SameCommands: sameCommands, Recent: recent, Missed: missed, Now: o.Now,
	})
}
