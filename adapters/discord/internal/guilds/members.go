package guilds

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
)

// Limits of the search for a role's server.
const (
	homesLast = 10 * time.Minute // which server a role belongs to
	PageSize  = 200              // servers of one call: Discord's limit
	maxPages  = 20
)

// member is the part of a member of a server that is read.
type member struct {
	Roles []string `json:"roles"`
}

// SetMember caches a member's current roles, which came with an interaction of theirs.
func (c *Cache) SetMember(guild, user string, roles []string) {
	c.members.put(guild+"/"+user, member{roles})
	for _, role := range roles {
		c.homes.Put(role, guild)
	}
}

// Roles asks for a user's roles in a server, none if they are not in it.
func (c *Cache) Roles(ctx context.Context, guild, user string) ([]string, error) {
	m, err := c.memberWithin(ctx, 0, guild, user)
	if rest.IsGone(err) {
		return nil, nil
	}
	return m.Roles, err
}

func (c *Cache) member(ctx context.Context, guild, user string) (member, error) {
	return c.memberWithin(ctx, Fresh, guild, user)
}

func (c *Cache) memberWithin(ctx context.Context, age time.Duration, guild, user string) (member, error) {
	return c.members.within(age, guild+"/"+user, get[member](ctx, c.rest, discordgo.EndpointGuildMember(guild, user)))
}

// GuildOfRole returns the server of a role, "" if it is in none of the bot's servers.
func (c *Cache) GuildOfRole(ctx context.Context, role string) (string, error) {
	known := c.guilds.Find(func(a answer[Guild]) bool {
		return a.err == nil && slices.ContainsFunc(a.value.Roles, func(r Role) bool { return r.ID == role })
	})
	if known == "" {
		known, _ = c.homes.Get(role)
	}
	now := c.now()
	if read := c.rolesRead.Load(); known != "" || read != nil && now.Sub(*read) < homesLast {
		return known, nil
	}
	all, err := List(ctx, c.rest)
	if err != nil {
		return "", err
	}
	for _, g := range all {
		if !snowflake.Valid(g.ID) {
			continue
		}
		guild, err := c.Guild(ctx, g.ID)
		if err != nil {
			return "", err
		}
		for _, r := range guild.Roles {
			c.homes.Put(r.ID, g.ID)
		}
	}
	c.rolesRead.Store(&now)
	known, _ = c.homes.Get(role)
	return known, nil
}

// List returns the servers that the bot is in.
func List(ctx context.Context, c *rest.Client) ([]discordgo.UserGuild, error) {
	var all []discordgo.UserGuild
	after := "0"
	for range maxPages {
		var page []discordgo.UserGuild
		endpoint := fmt.Sprintf("%s?limit=%d&after=%s", discordgo.EndpointUserGuilds("@me"), PageSize, after)
		if err := c.Get(ctx, endpoint, &page); err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < PageSize {
			break
		}
		after = page[len(page)-1].ID
	}
	return all, nil
}
