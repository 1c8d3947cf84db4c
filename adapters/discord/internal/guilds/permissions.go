package guilds

import (
	"context"
	"slices"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
)

// In tells what a member of a server may do in a channel: what their roles allow together, then the channel's overwrites for everyone,
// for their roles, for the member. The role of everyone has the server's id.
func In(guild, user string, memberRoles []string, all []Role, overwrites []*discordgo.PermissionOverwrite) Permissions {
	has := func(role string) bool { return role == guild || slices.Contains(memberRoles, role) }
	var p Permissions
	for _, r := range all {
		if has(r.ID) {
			p |= r.Permissions
		}
	}
	if p.Has(discordgo.PermissionAdministrator) {
		return p
	}
	apply := func(fits func(o *discordgo.PermissionOverwrite) bool) {
		var allow, deny Permissions
		for _, o := range overwrites {
			if o != nil && fits(o) {
				allow, deny = allow|Permissions(o.Allow), deny|Permissions(o.Deny)
			}
		}
		p = p&^deny | allow
	}
	ofMember := func(o *discordgo.PermissionOverwrite) bool { return o.Type == discordgo.PermissionOverwriteTypeMember }
	apply(func(o *discordgo.PermissionOverwrite) bool { return !ofMember(o) && o.ID == guild })
	apply(func(o *discordgo.PermissionOverwrite) bool { return !ofMember(o) && o.ID != guild && has(o.ID) })
	apply(func(o *discordgo.PermissionOverwrite) bool { return ofMember(o) && o.ID == user })
	return p
}

// Sees reports whether somebody sees a channel of a server. Its owner and its administrators see all of them.
func (c *Cache) Sees(ctx context.Context, guild, channel, user string) (bool, error) {
	roles, err := c.member(ctx, guild, user)
	if rest.IsRefusal(err, discordgo.ErrCodeUnknownMember, discordgo.ErrCodeUnknownUser) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	g, err := c.guildSince(ctx, guild, c.now().Add(-Fresh))
	if err != nil || user == g.Owner {
		return true, err
	}
	if In(guild, user, roles, g.Roles, nil).Has(discordgo.PermissionAdministrator) {
		return true, nil
	}
	at, err := c.withOverwrites(ctx, channel)
	if err == nil && at.IsThread() && at.Parent != "" {
		at, err = c.withOverwrites(ctx, at.Parent)
	}
	return In(guild, user, roles, g.Roles, at.overwrites).Has(discordgo.PermissionViewChannel), err
}

// withOverwrites gives a channel with its permissions, as fresh as they must be.
func (c *Cache) withOverwrites(ctx context.Context, id string) (Channel, error) {
	now := c.now()
	return c.channels.since(now.Add(-Fresh), now, id, func() (Channel, error) { return c.askChannel(ctx, id) })
}
