package guilds

import (
	"context"
	"slices"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
)

// In returns what a member of a server may do in a channel: the union of their roles' permissions, changed by the channel's overwrites for
// everyone, then for their roles, then for the member. The everyone role has the server's id.
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

// Sees reports whether a user sees a channel of a server. The server's owner and administrators see every channel.
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

// withOverwrites returns a channel with permissions that are no older than Fresh.
func (c *Cache) withOverwrites(ctx context.Context, id string) (Channel, error) {
	now := c.now()
	return c.channels.since(now.Add(-Fresh), now, id, func() (Channel, error) { return c.askChannel(ctx, id) })
}
