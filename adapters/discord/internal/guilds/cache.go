package guilds

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/core"
)

// Limits of the cache.
const (
	Fresh       = 30 * time.Second // age of permissions and of members' roles: a person who loses a role can decide for no longer than that
	dmLasts     = time.Hour        // age of the channel of a person's direct messages, which never changes
	maxChannels = 100_000
	maxOthers   = 5000
)

// Cache holds what is known about all servers. It is safe for concurrent use.
type Cache struct {
	rest *rest.Client
	now  func() time.Time

	channels memo[Channel]
	guilds   memo[Guild]
	members  memo[[]string] // roles, by guild/user
	dms      memo[string]   // channels of direct messages, by user

	mu        sync.Mutex
	homes     map[string]string // the server of a role
	homesRead time.Time         // when all servers' roles were last read
}

// New makes an empty cache.
func New(c *rest.Client, now func() time.Time) *Cache {
	return &Cache{
		rest: c, now: now, homes: map[string]string{}, channels: memo[Channel]{limit: maxChannels}, guilds: memo[Guild]{limit: maxOthers},
		members: memo[[]string]{limit: maxOthers}, dms: memo[string]{limit: maxOthers},
	}
}

// Channel is a channel or a thread.
type Channel struct {
	Guild      string
	Parent     string // of a thread
	Name       string
	Type       discordgo.ChannelType
	overwrites []*discordgo.PermissionOverwrite // set only if the channel was requested for its permissions
}

// IsThread reports whether it is a thread. A thread's permissions are those of its parent channel.
func (c Channel) IsThread() bool { return IsThread(c.Type) }

// IsVoice reports whether it is a voice or stage channel. No thread can be opened in its chat.
func (c Channel) IsVoice() bool {
	return c.Type == discordgo.ChannelTypeGuildVoice || c.Type == discordgo.ChannelTypeGuildStageVoice
}

// IsThread reports whether a channel type is that of a thread.
func IsThread(t discordgo.ChannelType) bool {
	return t >= discordgo.ChannelTypeGuildNewsThread && t <= discordgo.ChannelTypeGuildPrivateThread
}

// Guild is a server.
type Guild struct {
	Owner string `json:"owner_id"`
	Roles []Role `json:"roles"`
}

// Role is a role of a server. discordgo.Role has no tags.
type Role struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Permissions Permissions `json:"permissions,string"`
	Tags        struct {
		Bot string `json:"bot_id"` // the bot that it belongs to
	} `json:"tags"`
}

// Permissions is a set of permissions: discordgo.Permission….
type Permissions int64

// Has reports whether the set contains a permission. An administrator has all of them.
func (p Permissions) Has(permission Permissions) bool {
	return p&(permission|discordgo.PermissionAdministrator) != 0
}

// BotRole returns a bot's own role, "" if there is none.
func (g Guild) BotRole(bot string) string {
	for _, r := range g.Roles {
		if r.Tags.Bot == bot && bot != "" {
			return r.ID
		}
	}
	return ""
}

// Update applies a gateway event about servers, channels, threads or roles, and ignores all others. Error: the event can't be read.
func (c *Cache) Update(event string, data []byte) error {
	switch event {
	case "GUILD_CREATE":
		var g struct {
			Guild
			ID       string              `json:"id"`
			Channels []discordgo.Channel `json:"channels"`
			Threads  []discordgo.Channel `json:"threads"`
		}
		if err := json.Unmarshal(data, &g); err != nil {
			return err
		}
		c.SetChannels(g.ID, append(g.Channels, g.Threads...)...)
		if g.Roles != nil {
			c.guilds.put(g.ID, answer[Guild]{value: g.Guild, at: c.now()})
		}
	case "THREAD_LIST_SYNC":
		var l struct {
			Guild   string              `json:"guild_id"`
			Threads []discordgo.Channel `json:"threads"`
		}
		if err := json.Unmarshal(data, &l); err != nil {
			return err
		}
		c.SetChannels(l.Guild, l.Threads...)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var one discordgo.Channel
		if err := json.Unmarshal(data, &one); err != nil {
			return err
		}
		c.SetChannels(one.GuildID, one)
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE":
		var r struct {
			Guild string `json:"guild_id"`
		}
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		c.guilds.forget(r.Guild)
	}
	return nil
}

// SetChannels caches channels of a server, without their permissions.
func (c *Cache) SetChannels(guild string, channels ...discordgo.Channel) {
	for _, one := range channels {
		if snowflake.Valid(one.ID) {
			one.PermissionOverwrites = nil
			c.channels.put(one.ID, answer[Channel]{value: channelOf(guild, one)}) // without a time, so never fresh
		}
	}
}

func channelOf(guild string, c discordgo.Channel) Channel {
	if c.GuildID != "" {
		guild = c.GuildID
	}
	found := Channel{Guild: guild, Name: c.Name, Type: c.Type, overwrites: c.PermissionOverwrites}
	if found.IsThread() {
		found.Parent = c.ParentID
	}
	return found
}

// Knows reports whether a channel is cached and, if roles is true, also the roles of its server.
func (c *Cache) Knows(channel, guild string, roles bool) bool {
	_, known := c.channels.get(channel)
	if known && roles {
		_, known = c.guilds.get(guild)
	}
	return known
}

// Channel returns a channel, or a zero Channel if the bot may not see it. Error: provider_unavailable, which is retryable.
func (c *Cache) Channel(ctx context.Context, id string) (Channel, error) {
	if known, ok := c.channels.get(id); ok {
		return known, nil
	}
	found, err := c.askChannel(ctx, id)
	switch {
	case rest.IsGone(err):
		return Channel{}, nil
	case err != nil:
		return Channel{}, core.Wrap(core.ProviderUnavailable, err, "Discord can't be asked what the channel %s is.", id)
	}
	c.channels.put(id, answer[Channel]{value: found, at: c.now()})
	return found, nil
}

func (c *Cache) askChannel(ctx context.Context, id string) (Channel, error) {
	var one discordgo.Channel
	err := c.rest.Call(ctx, http.MethodGet, discordgo.EndpointChannel(id), nil, &one)
	return channelOf("", one), err
}

// Guild returns a server with its last known roles, or a zero Guild if the bot is not in it. Error: provider_unavailable, which is
// retryable.
func (c *Cache) Guild(ctx context.Context, id string) (Guild, error) {
	if known, ok := c.guilds.get(id); ok {
		return known, nil
	}
	found, err := c.guildSince(ctx, id, c.now())
	if rest.IsGone(err) {
		return Guild{}, nil
	}
	if err != nil {
		return Guild{}, core.Wrap(core.ProviderUnavailable, err, "Discord can't be asked for the roles of the server %s.", id)
	}
	return found, nil
}

func (c *Cache) guildSince(ctx context.Context, id string, after time.Time) (Guild, error) {
	return c.guilds.since(after, c.now(), id, func() (g Guild, err error) {
		err = c.rest.Call(ctx, http.MethodGet, discordgo.EndpointGuild(id), nil, &g)
		return g, err
	})
}

// ChannelName returns a channel's name, "" if unknown.
func (c *Cache) ChannelName(id string) string {
	known, _ := c.channels.get(id)
	return known.Name
}

// RoleName returns the name of a server's role, "" if unknown.
func (c *Cache) RoleName(guild, role string) string {
	known, _ := c.guilds.get(guild)
	for _, r := range known.Roles {
		if r.ID == role {
			return r.Name
		}
	}
	return ""
}

// DM returns the channel of the bot's direct messages with a person.
func (c *Cache) DM(ctx context.Context, user string) (string, error) {
	now := c.now()
	return c.dms.since(now.Add(-dmLasts), now, user, func() (string, error) {
		var made struct {
			ID string `json:"id"`
		}
		if err := c.rest.Call(ctx, http.MethodPost, discordgo.EndpointUserChannels("@me"), map[string]any{"recipient_id": user}, &made); err != nil {
			return "", err
		}
		if !snowflake.Valid(made.ID) {
			return "", core.Errorf(core.DeliveryLater, "Discord does not say which channel is a person's direct messages.")
		}
		return made.ID, nil
	})
}
