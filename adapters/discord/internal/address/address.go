// Package address says where something is on Discord, and who somebody is, in gatehouse's words. The thread 7 of
// channel 5 on server 3 is the conversation discord:3:7; message 9 there has the reference 7/9; its author is
// discord:80351. What an interaction asks for is answered at an address whose message is interaction:ID or command:ID.
package address

import (
	"cmp"
	"strings"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/core"
)

// Platform is the platform's name.
const Platform = "discord"

// Direct is used as the guild of a conversation in direct messages.
const Direct = "@me"

// Conversation returns the conversation of an address: its thread or its channel in a guild, "" for direct messages.
func Conversation(guild string, at core.Address) core.ConversationID {
	return core.ConversationID(Platform + ":" + cmp.Or(guild, Direct) + ":" + Channel(at))
}

// Guild returns the guild of a conversation, or direct.
func Guild(c core.ConversationID) string {
	guild, _, _ := strings.Cut(strings.TrimPrefix(string(c), Platform+":"), ":")
	return guild
}

// Channel returns an address's thread, or its channel if it has none.
func Channel(to core.Address) string {
	return cmp.Or(to.Thread, to.Channel)
}

// StartsThread reports whether an address's thread begins with the message that is answered. Such a thread has the
// message's id and may not exist yet.
func StartsThread(to core.Address) bool {
	return to.Thread != "" && to.Thread == to.Message && to.Channel != "" && to.Channel != to.Thread
}

// The message of an address may be an interaction through which the bot can answer: a press, or a command that waits
// for its answer. A command that only its person may see answered names the person too, since the answer may come when
// the interaction has ended. The address does not contain its token.
const (
	PressPrefix   = "interaction:"
	CommandPrefix = "command:"
	PrivatePrefix = "private:" // INTERACTION:PERSON
)

// Interaction returns the interaction's id if an address's message is an interaction with this prefix.
func Interaction(to core.Address, prefix string) (id string, ok bool) {
	id, ok = strings.CutPrefix(to.Message, prefix)
	return id, ok && snowflake.Valid(id)
}

// Command returns the command that an address's message is, and the user who alone may see the answer, "" if everyone
// may.
func Command(to core.Address) (id, onlyFor string, ok bool) {
	if private, is := strings.CutPrefix(to.Message, PrivatePrefix); is {
		id, onlyFor, _ = strings.Cut(private, ":")
		return id, onlyFor, snowflake.Valid(id, onlyFor)
	}
	id, ok = Interaction(to, CommandPrefix)
	return id, "", ok
}

// IsInteraction reports whether an address's message is an interaction.
func IsInteraction(to core.Address) bool {
	_, isPress := Interaction(to, PressPrefix)
	_, _, isCommand := Command(to)
	return isPress || isCommand
}

// Ref returns the reference of a message.
func Ref(channel, message string) core.Ref { return core.Ref(channel + "/" + message) }

// Actor returns the core.Actor of a user id.
func Actor(user string) core.Actor { return core.Actor{ID: Platform + ":" + user} }

// User returns the user id of an actor; ok is false if the actor is not on Discord.
func User(actor string) (user string, ok bool) {
	user, ok = strings.CutPrefix(actor, Platform+":")
	return user, ok && snowflake.Valid(user)
}

// Account returns the user or, after an ampersand, the role that an id names, as in a mention; "" for any other.
func Account(id string) string {
	if role, ok := strings.CutPrefix(id, Platform+":role:"); ok && snowflake.Valid(role) {
		return "&" + role
	}
	if user, ok := User(id); ok {
		return user
	}
	return ""
}

// Link returns a link to an address in a conversation. It is "" for direct messages, which only their participant can
// open.
func Link(c core.ConversationID, at core.Address) string {
	guild, channel := Guild(c), Channel(at)
	if at.Platform != Platform || !snowflake.Valid(channel, guild) {
		return ""
	}
	return "https://discord.com/channels/" + guild + "/" + channel
}
