package discordtest

import (
	"slices"

	"gatehouse/adapters/discord/discordtest/internal/form"
)

// The permissions that the fake checks.
const (
	AddReactions         int64 = 1 << 6
	Administrator        int64 = 1 << 3
	ManageGuild          int64 = 1 << 5
	ViewChannel          int64 = 1 << 10
	SendMessages         int64 = 1 << 11
	ManageMessages       int64 = 1 << 13
	EmbedLinks           int64 = 1 << 14
	AttachFiles          int64 = 1 << 15
	ReadMessageHistory   int64 = 1 << 16
	MentionEveryone      int64 = 1 << 17
	UseCommands          int64 = 1 << 31
	ManageThreads        int64 = 1 << 34
	CreatePublicThreads  int64 = 1 << 35
	CreatePrivateThreads int64 = 1 << 36
	SendInThreads        int64 = 1 << 38

	// DefaultPermissions are those that gatehouse's bot needs, and a few more.
	DefaultPermissions = AddReactions | ViewChannel | SendMessages | EmbedLinks | AttachFiles |
		ReadMessageHistory | UseCommands | CreatePublicThreads | SendInThreads
	allPermissions int64 = 1<<50 - 1
)

// Overwrite changes the permissions of a role or a member in one channel.
type Overwrite struct {
	ID     string
	Member bool // ID is a user, not a role
	Allow  int64
	Deny   int64
}

// SetOverwrites replaces the overwrites of a channel.
func (s *Server) SetOverwrites(channel string, overwrites ...Overwrite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustChannel(channel).Overwrites = slices.Clone(overwrites)
	s.changed()
}

// DenyBot takes permissions from the bot in a channel by an overwrite for its own role.
func (s *Server) DenyBot(channel string, permissions int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(channel)
	g := s.mustGuild(c.Guild)
	c.Overwrites = append(slices.Clone(c.Overwrites), Overwrite{ID: g.botRole, Deny: permissions})
	s.changed()
}

// permissions returns what a user may do in a channel: the union of the roles' permissions, changed by the overwrites
// for @everyone, the roles and the member.
func (s *Server) permissions(c *channel, user string) int64 {
	g := s.guilds[c.Guild]
	if g == nil {
		return DefaultPermissions | MentionEveryone
	}
	if g.members[user] == nil {
		return 0
	}
	mine := g.rolesOf(user)
	var have int64
	for _, r := range g.Roles {
		if r.ID == g.ID || slices.Contains(mine, r.ID) {
			have |= r.Permissions
		}
	}
	if have&Administrator != 0 || user == g.Owner {
		return allPermissions
	}
	at := c
	if parent := s.channels[c.Parent]; c.isThread() && parent != nil {
		at = parent
	}
	for _, o := range at.Overwrites {
		if !o.Member && o.ID == g.ID {
			have = have&^o.Deny | o.Allow
		}
	}
	var allow, deny int64
	for _, o := range at.Overwrites {
		if !o.Member && slices.Contains(mine, o.ID) {
			allow, deny = allow|o.Allow, deny|o.Deny
		}
	}
	have = have&^deny | allow
	for _, o := range at.Overwrites {
		if o.Member && o.ID == user {
			have = have&^o.Deny | o.Allow
		}
	}
	if g.members[user].timedOutUntil.After(s.o.Now()) {
		have &= ViewChannel | ReadMessageHistory
	}
	return have
}

// botSees reports whether the bot may see a channel.
func (s *Server) botSees(c *channel) bool {
	if c.Kind == DM {
		return true
	}
	return s.permissions(c, s.o.BotUserID)&ViewChannel != 0
}

// need returns the failure of a call if the bot lacks permissions in a channel.
func (s *Server) need(c *channel, permissions int64) *form.Failure {
	if !s.botSees(c) {
		return form.MissingAccess
	}
	if c.Kind != DM && s.permissions(c, s.o.BotUserID)&permissions != permissions {
		return form.MissingPermissions
	}
	return nil
}
