package discord

import (
	"context"
	"time"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/preflight"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Check is the result of one check.
type Check = chat.Check

// Checkup checks this configuration by asking Discord. It changes nothing, there or here, and its results contain no secret.
type Checkup struct {
	Config    Config
	Approvers []string                                          // all configured approvers, also those of other platforms
	Listen    string                                            // where gatehouse serves HTTP
	Recent    func(context.Context) ([]core.EventRecord, error) // the latest events from Discord, latest first; nil: not known
	KV        core.KV                                           // what the platform keeps there; nil: not known
	Now       func() time.Time                                  // nil: time.Now
}

// Run makes the checks. Without a valid token it makes only those that need no call to Discord.
func (c Checkup) Run(ctx context.Context) []Check {
	if c.Now == nil {
		c.Now = time.Now
	}
	client := rest.New(rest.Options{Token: c.Config.BotToken, URL: c.Config.apiURL(), Now: c.Now})
	defer client.Close()
	var missed func(context.Context) ([]gateway.Missed, error)
	if c.KV != nil {
		missed = func(ctx context.Context) ([]gateway.Missed, error) { return gateway.ReadMissed(ctx, c.KV) }
	}
	return preflight.Run(ctx, preflight.Options{
		REST: client, APIURL: c.Config.APIURL, PublicKey: c.Config.PublicKey, Shards: c.Config.Shards, Threads: c.Config.threads(), Path: pathInteractions,
		Listen: c.Listen, Approvers: c.Approvers, SameCommands: sameCommands, Recent: c.Recent, Missed: missed, Now: c.Now,
	})
}
