package guilds

import (
	"context"
	"slices"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
)

// In returns what a member of a server may do in a channel: the union of their roles' permissions, changed by the
// channel's overwrites for everyone, then for their roles, then for the member. The everyone role has the server's id.
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

// Sees reports whether a user sees a channel of a server. The server's owner and administrators see every channel. The
// permissions are no older than Fresh.
func (c *Cache) Sees(ctx context.Context, guild, channel, user string) (bool, error) {
	m, err := c.member(ctx, guild, user)
	if rest.IsRefusal(err, discordgo.ErrCodeUnknownMember, discordgo.ErrCodeUnknownUser) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	g, err := c.guilds.within(Fresh, guild, get[Guild](ctx, c.rest, discordgo.EndpointGuild(guild)))
	if err != nil || user == g.Owner {
		return true, err
	}
	if In(guild, user, m.Roles, g.Roles, nil).Has(discordgo.PermissionAdministrator) {
		return true, nil
	}
	read := func(id string) (discordgo.Channel, error) {
		return c.channels.within(Fresh, id, get[discordgo.Channel](ctx, c.rest, discordgo.EndpointChannel(id)))
	}
	at, err := read(channel)
	if err == nil && at.IsThread() && at.ParentID != "" { // a thread's permissions are those of its channel
		at, err = read(at.ParentID)
	}
	return In(guild, user, m.Roles, g.Roles, at.PermissionOverwrites).Has(discordgo.PermissionViewChannel), err
}
