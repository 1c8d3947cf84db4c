package guilds

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/memo"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/core"
)

// Limits of the cache.
const (
	// age of permissions and of members' roles, for who is told; who decides is asked for
	Fresh       = 30 * time.Second
	unseenLasts = 10 * time.Minute // age of the answer that the bot can't see a channel, for its name
	dmLasts     = time.Hour        // age of the channel of a person's direct messages, which never changes
	maxChannels = 100_000
	maxRoles    = 1_000_000
	maxOthers   = 5000
)

// Cache holds what is known about all servers. It is safe for concurrent use.
type Cache struct {
	rest *rest.Client
	now  func() time.Time

	channels  answers[discordgo.Channel] // fresh ones with their permissions
	guilds    answers[Guild]
	members   answers[member]           // by guild/user
	dms       answers[string]           // channels of direct messages, by user
	homes     *memo.Memo[string]        // servers, by role
	rolesRead atomic.Pointer[time.Time] // when the roles of all servers were last read; nil: never
}

// New makes an empty cache.
func New(c *rest.Client, now func() time.Time) *Cache {
	return &Cache{
		rest: c, now: now, channels: newAnswers[discordgo.Channel](maxChannels, now),
		guilds:  newAnswers[Guild](maxOthers, now),
		members: newAnswers[member](maxOthers, now), dms: newAnswers[string](maxOthers, now),
		homes: memo.New[string](maxRoles),
	}
}

// IsVoice reports whether a channel type is that of a voice or stage channel. No thread can be opened in its chat.
func IsVoice(t discordgo.ChannelType) bool {
	return t == discordgo.ChannelTypeGuildVoice || t == discordgo.ChannelTypeGuildStageVoice
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

// Update applies a gateway event about servers, channels, threads or roles, and ignores all others. Error: the event
// can't be read.
func (c *Cache) Update(event string, data []byte) error {
	switch event {
	case "GUILD_CREATE":
		var g struct {
			Guild
			ID       string              `json:"id"`
			Channels []discordgo.Channel `json:"channels"`
			Threads  []discordgo.Channel `json:"threads"`
		}
		if err := inbound.Decode(data, &g); err != nil {
			return err
		}
		all := append(g.Channels, g.Threads...)
		for i := range all {
			all[i].GuildID = g.ID
		}
		c.SetChannels(all...)
		if g.Roles != nil {
			c.guilds.put(g.ID, g.Guild)
		}
	case "THREAD_LIST_SYNC":
		var l struct {
			Threads []discordgo.Channel `json:"threads"`
		}
		if err := inbound.Decode(data, &l); err != nil {
			return err
		}
		c.SetChannels(l.Threads...)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var one discordgo.Channel
		if err := inbound.Decode(data, &one); err != nil {
			return err
		}
		c.SetChannels(one)
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE":
		var r struct {
			Guild string `json:"guild_id"`
		}
		if err := inbound.Decode(data, &r); err != nil {
			return err
		}
		c.guilds.Forget(r.Guild)
	}
	return nil
}

// SetChannels caches channels and threads, without their permissions.
func (c *Cache) SetChannels(channels ...discordgo.Channel) {
	for _, one := range channels {
		if snowflake.Valid(one.ID) {
			kept := discordgo.Channel{
				ID: one.ID, GuildID: one.GuildID, Name: one.Name, Type: one.Type, ParentID: one.ParentID,
			}
			c.channels.Put(one.ID, answer[discordgo.Channel]{value: kept})
		}
	}
}

// Cached returns a channel if it is cached.
func (c *Cache) Cached(channel string) (discordgo.Channel, bool) { return c.channels.get(channel) }

// KnowsRoles reports whether the roles of a server are cached.
func (c *Cache) KnowsRoles(guild string) bool {
	_, known := c.guilds.get(guild)
	return known
}

// Channel returns a channel, or a zero Channel if the bot may not see it. Error: provider_unavailable, which is
// retryable.
func (c *Cache) Channel(ctx context.Context, id string) (discordgo.Channel, error) {
	return c.channels.getOrAsk(id, "channel", get[discordgo.Channel](ctx, c.rest, discordgo.EndpointChannel(id)))
}

// Guild returns a server with its last known roles, or a zero Guild if the bot is not in it. Error:
// provider_unavailable, which is retryable.
func (c *Cache) Guild(ctx context.Context, id string) (Guild, error) {
	return c.guilds.getOrAsk(id, "server", get[Guild](ctx, c.rest, discordgo.EndpointGuild(id)))
}

// Parent returns the channel of a thread, "" if the channel is no thread, or is unknown.
func (c *Cache) Parent(id string) string {
	if known, _ := c.channels.get(id); known.IsThread() {
		return known.ParentID
	}
	return ""
}

// ChannelName returns the name of a channel of a server, or of any ("") server; "" if unknown.
func (c *Cache) ChannelName(guild, id string) string {
	known, _ := c.channels.get(id)
	if guild != "" && known.GuildID != "" && known.GuildID != guild {
		return ""
	}
	return known.Name
}

// FindChannelName returns the same, and asks Discord where that is needed. seen is false if the bot can't see such a
// channel.
func (c *Cache) FindChannelName(ctx context.Context, guild, id string) (name string, seen, asked bool) {
	if name = c.ChannelName(guild, id); name != "" {
		return name, true, false
	}
	one, err := c.channels.within(unseenLasts, id, func() (discordgo.Channel, error) {
		asked = true
		return get[discordgo.Channel](ctx, c.rest, discordgo.EndpointChannel(id))()
	})
	elsewhere := guild != "" && one.GuildID != "" && one.GuildID != guild
	if elsewhere || rest.IsGone(err) {
		return "", false, asked
	}
	return one.Name, true, asked
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
	return c.dms.within(dmLasts, user, func() (string, error) {
		var made struct {
			ID string `json:"id"`
		}
		if err := c.rest.Call(ctx, http.MethodPost, discordgo.EndpointUserChannels("@me"),
			map[string]any{"recipient_id": user}, &made); err != nil {
			return "", err
		}
		if !snowflake.Valid(made.ID) {
			return "", core.Errorf(core.DeliveryLater, "Discord returned no channel for a person's direct messages.")
		}
		return made.ID, nil
	})
}
