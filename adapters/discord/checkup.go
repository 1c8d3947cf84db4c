package discord

import (
	"context"
	"time"

	"gatehouse/adapters/discord/internal/preflight"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/core"
)

// Check checks this configuration by asking Discord. Without a valid token it makes only the checks that need no call
// to Discord.
func (c *Config) Check(ctx context.Context, o core.Checkup) []core.Check {
	if o.Now == nil {
		o.Now = time.Now
	}
	client := rest.New(rest.Options{Token: c.BotToken, URL: c.apiURL(), Now: o.Now})
	defer client.Close()
	return preflight.Run(ctx, preflight.Options{
		Checkup: o, REST: client, APIURL: c.APIURL, PublicKey: c.PublicKey, Shards: c.Shards, Threads: c.threads(),
		FollowUp: c.FollowUp != followMention,
		Path:     pathInteractions, SameCommands: sameCommands, Latest: latest,
	})
}
