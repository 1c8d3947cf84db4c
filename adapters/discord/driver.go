package discord

import (
	"context"
	"regexp"

	"gatehouse/core"
)

var (
	_ core.Driver   = (*Config)(nil)
	_ core.Doctor   = (*Config)(nil)
	_ core.Manifest = (*Config)(nil)
)

// Name is "discord".
func (*Config) Name() string { return Name }

// Title is "Discord".
func (*Config) Title() string { return "Discord" }

// IDs are Discord's numbers. A server is not part of them: they are unique everywhere, and one person in two servers
// would be two people.
func (*Config) IDs() core.IDs {
	number := regexp.MustCompile(`^[0-9]+$`)
	return core.IDs{
		Person:  core.IDForm{Like: number, Example: "discord:80351110224678912"},
		Group:   core.IDForm{Like: regexp.MustCompile(`^role:[0-9]+$`), Example: "discord:role:41771983423143936"},
		Channel: core.IDForm{Like: number, Example: "discord:41771983423143936"},
		Wanted:  "id of a person or role of Discord",
		Remedy:  "copy the id from Discord, such as discord:80351110224678912 or discord:role:41771983423143936",
	}
}

// Settings are c.
func (c *Config) Settings() core.Settings { return c }

// Configured reports whether a token or a public key is set.
func (c *Config) Configured() bool { return c.BotToken+c.PublicKey != "" }

// Open makes the platform. A dead process keeps its shards for three times the lease.
func (c *Config) Open(d core.Deps) (core.Platform, error) {
	return New(Options{
		Config: *c, Signer: d.Signer, Card: d.Card, Redraw: d.Redraw, PutBlob: d.PutBlob,
		KV: d.KV, Owner: d.Owner, Lease: 3 * d.Lease,
		Recent: events(d.Events, false), Open: events(d.Events, true), Now: d.Now, Jitter: d.Jitter, Log: d.Log,
		Words: d.Words,
	}), nil
}

// recentEvents is how many of the latest events are searched for the conversations to catch up in.
const recentEvents = 2000

// events lists the latest of Discord's events, or those that wait.
func events(
	list func(context.Context, core.EventFilter) ([]core.EventRecord, error), waiting bool,
) func(context.Context) ([]core.EventRecord, error) {
	return func(ctx context.Context) ([]core.EventRecord, error) {
		return list(ctx, core.EventFilter{Platform: Name, Waiting: waiting, Limit: recentEvents})
	}
}
