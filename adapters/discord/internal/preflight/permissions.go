package preflight

import (
	"net/url"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/guilds"
)

// Permission is one right of the bot in a channel: what the invitation asks for, doctor checks and README explains.
type Permission struct {
	Name    string // as Discord's settings call it
	For     string // what the bot does with it
	Without string // what the bot can't do without it
	value   guilds.Permissions
	need    need
}

// need says when a permission is needed.
type need int

const (
	always    need = iota // without it the bot can't hear or answer there
	threading             // where a mention opens a thread (DISCORD_REPLY=thread), else not at all
	useful                // the bot works without it, less well
)

// Permissions is everything that the adapter may need, and nothing else.
var Permissions = []Permission{
	{Name: "View Channel", For: "hear what is said to it", Without: "the bot hears nothing there", value: discordgo.PermissionViewChannel},
	{Name: "Send Messages", For: "answer in channels, show cards and change them", Without: "the bot can't answer there", value: discordgo.PermissionSendMessages},
	{Name: "Send Messages in Threads", For: "answer in threads", Without: "the bot can't answer in threads there", value: discordgo.PermissionSendMessagesInThreads},
	{
		Name: "Create Public Threads", For: "open a thread for the answer to a mention",
		Without: "a mention is answered in the channel itself", value: discordgo.PermissionCreatePublicThreads, need: threading,
	},
	{
		Name: "Read Message History", For: "fetch what was said while it was away, and files whose link has run out; look for a message whose answer was lost; reply to a message",
		Without: "what is said while the bot is away stays unanswered, and a message whose answer was lost may stay unknown",
		value:   discordgo.PermissionReadMessageHistory, need: useful,
	},
}

// Needed gives the permissions that the bot needs; threads says that a mention opens a thread.
func Needed(threads bool) []Permission {
	var found []Permission
	for _, p := range Permissions {
		if p.need != threading || threads {
			found = append(found, p)
		}
	}
	return found
}

// inviteScopes are what an invitation asks for beside permissions.
const inviteScopes = "bot applications.commands"

// InviteURL is the address that invites the bot of an application to a server.
func InviteURL(application string, permissions []Permission) string {
	var sum guilds.Permissions
	for _, p := range permissions {
		sum |= p.value
	}
	q := url.Values{"client_id": {application}, "scope": {inviteScopes}, "permissions": {strconv.FormatInt(int64(sum), 10)}}
	return "https://discord.com/oauth2/authorize?" + q.Encode()
}
