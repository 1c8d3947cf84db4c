package guilds

import (
	"context"
	"fmt"
	"net/http"
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
	maxHomes  = 5000
)

// SetMember caches a member's current roles, which came with an interaction of theirs.
func (c *Cache) SetMember(guild, user string, roles []string) {
	c.members.put(guild+"/"+user, answer[[]string]{value: roles, at: c.now()})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, role := range roles {
		if len(c.homes) < maxHomes {
			c.homes[role] = guild
		}
	}
}

// Roles returns a user's roles in a server, none if they are not in it.
func (c *Cache) Roles(ctx context.Context, guild, user string) ([]string, error) {
	roles, err := c.member(ctx, guild, user)
	if rest.IsGone(err) {
		return nil, nil
	}
	return roles, err
}

// member returns the roles of a member of a server.
func (c *Cache) member(ctx context.Context, guild, user string) ([]string, error) {
	now := c.now()
	return c.members.since(now.Add(-Fresh), now, guild+"/"+user, func() ([]string, error) {
		var m struct {
			Roles []string `json:"roles"`
		}
		err := c.rest.Call(ctx, http.MethodGet, discordgo.EndpointGuildMember(guild, user), nil, &m)
		return m.Roles, err
	})
}

// GuildOfRole returns the server of a role, "" if it is in none of the bot's servers.
func (c *Cache) GuildOfRole(ctx context.Context, role string) (string, error) {
	known := c.guilds.find(func(g Guild) bool { return g.has(role) })
	now := c.now()
	c.mu.Lock()
	if known == "" {
		known = c.homes[role]
	}
	fresh := now.Before(c.homesRead.Add(homesLast))
	c.mu.Unlock()
	if known != "" || fresh {
		return known, nil
	}
	all, err := List(ctx, c.rest)
	if err != nil {
		return "", err
	}
	homes := map[string]string{}
	for _, g := range all {
		if !snowflake.Valid(g.ID) {
			continue
		}
		guild, err := c.Guild(ctx, g.ID)
		if err != nil {
			return "", err
		}
		for _, r := range guild.Roles {
			homes[r.ID] = g.ID
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.homes, c.homesRead = homes, now
	return homes[role], nil
}

func (g Guild) has(role string) bool {
	for _, r := range g.Roles {
		if r.ID == role {
			return true
		}
	}
	return false
}

// List returns the servers that the bot is in.
func List(ctx context.Context, c *rest.Client) ([]discordgo.UserGuild, error) {
	var all []discordgo.UserGuild
	after := "0"
	for range maxPages {
		var page []discordgo.UserGuild
		if err := c.Call(ctx, http.MethodGet, fmt.Sprintf("%s?limit=%d&after=%s", discordgo.EndpointUserGuilds("@me"), PageSize, after), nil, &page); err != nil {
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
