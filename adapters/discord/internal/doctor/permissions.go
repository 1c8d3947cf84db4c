package doctor

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/guilds"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// Permission is one permission of the bot in a channel. The invitation asks for it, doctor checks it, and the manifest
// and the README explain it.
type Permission struct {
	Name    string `json:"name"` // as in Discord's settings
	For     string `json:"for"`  // what the bot does with it
	Without string `json:"-"`    // what the bot can't do without it
	value   guilds.Permissions
	need    need
}

// need says when a permission is needed.
type need int

const (
	always    need = iota // without it the bot can't receive or answer there
	threading             // only if a mention opens a thread (DISCORD_REPLY=thread)
	useful                // the bot works without it, less well
)

// Permissions is everything that the adapter may need, and nothing else.
var Permissions = []Permission{
	{
		Name: "View Channel", For: "receive the messages of a channel", Without: "the bot receives no messages there",
		value: discordgo.PermissionViewChannel,
	},
	{
		Name: "Send Messages", For: "answer in channels, show cards and change them",
		Without: "the bot can't answer there", value: discordgo.PermissionSendMessages,
	},
	{
		Name: "Send Messages in Threads", For: "answer in threads", Without: "the bot can't answer in threads there",
		value: discordgo.PermissionSendMessagesInThreads,
	},
	{
		Name: "Create Public Threads", For: "open a thread for the answer to a mention",
		Without: "a mention is answered in the channel itself", value: discordgo.PermissionCreatePublicThreads,
		need: threading,
	},
	{
		Name: "Attach Files", For: "attach code that no message can show: code that has three backticks in it",
		Without: "such code is text there, which is harder to copy", value: discordgo.PermissionAttachFiles,
		need: useful,
	},
	{
		Name: "Read Message History",
		For: "read what was said in a thread before the bot was asked there; fetch messages that it missed while it " +
			"was " +
			"not running, and files whose link has expired; find a message whose delivery is in doubt; reply to a " +
			"message",
		Without: "it answers in a thread without what was said there before, messages that it misses while it is not " +
			"running stay unanswered, and a delivery may stay in doubt",
		value: discordgo.PermissionReadMessageHistory, need: useful,
	},
}

// Needed returns the permissions that the bot needs; threads: a mention opens a thread.
func Needed(threads bool) []Permission {
	var found []Permission
	for _, p := range Permissions {
		if p.need != threading || threads {
			found = append(found, p)
		}
	}
	return found
}

// inviteScopes are the OAuth2 scopes of an invitation.
const inviteScopes = "bot applications.commands"

// InviteURL returns the address that invites an application's bot to a server.
func InviteURL(application string, permissions []Permission) string {
	var sum guilds.Permissions
	for _, p := range permissions {
		sum |= p.value
	}
	q := url.Values{
		"client_id": {application}, "scope": {inviteScopes}, "permissions": {strconv.FormatInt(int64(sum), 10)},
	}
	return "https://discord.com/oauth2/authorize?" + q.Encode()
}

// permissions returns what the bot may do in a channel: everything in a server that it owns. In a channel that it can't
// see, it may do nothing, whatever the other permissions.
func (c *checks) permissions(s server, at discordgo.Channel) guilds.Permissions {
	if s.Owner {
		return discordgo.PermissionAdministrator
	}
	return guilds.In(s.ID, c.me.ID, s.member.Roles, s.roles, at.PermissionOverwrites)
}

// needed returns the permissions that the bot needs in a channel. A forum has only threads, and a voice channel has
// none.
func (c *checks) needed(at discordgo.Channel) []Permission {
	return slices.DeleteFunc(Needed(c.Threads), func(p Permission) bool {
		switch at.Type {
		case discordgo.ChannelTypeGuildForum, discordgo.ChannelTypeGuildMedia:
			return p.value == discordgo.PermissionSendMessages || p.value == discordgo.PermissionCreatePublicThreads
		case discordgo.ChannelTypeGuildVoice, discordgo.ChannelTypeGuildStageVoice:
			return p.value == discordgo.PermissionSendMessagesInThreads ||
				p.value == discordgo.PermissionCreatePublicThreads
		}
		return false
	})
}

// missing returns the permissions that the bot lacks, and how bad that is.
func missing(has guilds.Permissions, needed []Permission) (lacks []Permission, state core.CheckState) {
	state = outbound.OK
	for _, p := range needed {
		switch {
		case has.Has(p.value):
			continue
		case p.need == always:
			state = outbound.Fail
		case state == outbound.OK:
			state = outbound.Warn
		}
		lacks = append(lacks, p)
	}
	return lacks, state
}

// explained names the permissions that the bot lacks, with the consequences.
func explained(lacks []Permission) string {
	words := make([]string, len(lacks))
	for i, p := range lacks {
		words[i] = p.Name + ", so " + p.Without
	}
	return "lacks the permission " + strings.Join(words, "; ")
}

// readable reports whether people write in a channel and the bot sees it.
func (c *checks) readable(s server, at discordgo.Channel) bool {
	switch at.Type {
	case discordgo.ChannelTypeGuildText, discordgo.ChannelTypeGuildNews, discordgo.ChannelTypeGuildForum,
		discordgo.ChannelTypeGuildMedia:
		return c.permissions(s, at).Has(discordgo.PermissionViewChannel)
	}
	return false
}
