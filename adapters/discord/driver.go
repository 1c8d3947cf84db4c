package discord

import (
	"context"
	"regexp"
	"time"

	"gatehouse/adapters/discord/internal/address"
	"gatehouse/adapters/discord/internal/doctor"
	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/rest"

	"gatehouse/core"
)

var (
	_ core.Driver   = (*Config)(nil)
	_ core.Doctor   = (*Config)(nil)
	_ core.Manifest = (*Config)(nil)

	_ core.CatchesUp = (*Config)(nil)
)

// Name is "discord".
func (*Config) Name() string { return address.Platform }

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

// Open makes the platform.
func (c *Config) Open(d core.Deps) (core.Platform, error) { return New(d, *c), nil }

// Skip makes the bot fetch and replay nothing that was sent before a moment.
func (c *Config) Skip(ctx context.Context, kv core.KV, before time.Time) error {
	return gateway.Skip(ctx, kv, before)
}

// latest are the events that are searched for the conversations to catch up in, for the cards that were pressed lately
// and, if they wait, for what the bot works on.
var latest = core.EventFilter{Platform: address.Platform, Limit: 2000}

// Check checks this configuration by asking Discord. Without a valid token it makes only the checks that need no call
// to Discord.
func (c *Config) Check(ctx context.Context, o core.Checkup) []core.Check {
	if o.Now == nil {
		o.Now = time.Now
	}
	client := rest.New(rest.Options{Token: c.BotToken, URL: c.apiURL(), Now: o.Now})
	defer client.Close()
	return doctor.Run(ctx, doctor.Options{
		Checkup: o, REST: client, APIURL: c.APIURL, PublicKey: c.PublicKey, Shards: c.Shards, Threads: c.threads(),
		FollowUp: c.FollowUp != followMention,
		Path:     pathInteractions, Commands: builtCommands{}, Latest: latest,
	})
}
