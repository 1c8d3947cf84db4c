package discord

import (
	"cmp"
	"strings"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Name is the platform's name.
const Name = "discord"

// direct is used as the guild of a conversation in direct messages.
const direct = gateway.Direct

// conversationOf returns the conversation of an address: its thread or its channel in a guild, "" for direct messages.
func conversationOf(guild string, at core.Address) core.ConversationID {
	return core.ConversationID(Name + ":" + cmp.Or(guild, direct) + ":" + channelOf(at))
}

// guildOf returns the guild of a conversation, or direct.
func guildOf(c core.ConversationID) string {
	guild, _, _ := strings.Cut(strings.TrimPrefix(string(c), Name+":"), ":")
	return guild
}

// channelOf returns an address's thread, or its channel if it has none.
func channelOf(to core.Address) string {
	return cmp.Or(to.Thread, to.Channel)
}

// startsThread reports whether an address's thread begins with the message that is answered. Such a thread has the
// message's id and may not exist yet.
func startsThread(to core.Address) bool {
	return to.Thread != "" && to.Thread == to.Message && to.Channel != "" && to.Channel != to.Thread
}

// The message of an address may be an interaction through which the bot can answer: a press, or a command that waits
// for its answer. A command that only its person may see answered names the person too, since the answer may come when
// the interaction has ended. The address does not contain its token; see replies.go.
const (
	pressPrefix   = "interaction:"
	commandPrefix = "command:"
	privatePrefix = "private:" // INTERACTION:PERSON
)

// interactionIn returns the interaction's id if an address's message is an interaction with this prefix.
func interactionIn(to core.Address, prefix string) (id string, ok bool) {
	id, ok = strings.CutPrefix(to.Message, prefix)
	return id, ok && snowflake.Valid(id)
}

// commandIn returns the command that an address's message is, and the user who alone may see the answer, "" if everyone
// may.
func commandIn(to core.Address) (id, onlyFor string, ok bool) {
	if private, is := strings.CutPrefix(to.Message, privatePrefix); is {
		id, onlyFor, _ = strings.Cut(private, ":")
		return id, onlyFor, snowflake.Valid(id, onlyFor)
	}
	id, ok = interactionIn(to, commandPrefix)
	return id, "", ok
}

// isInteraction reports whether an address's message is an interaction.
func isInteraction(to core.Address) bool {
	_, isPress := interactionIn(to, pressPrefix)
	_, _, isCommand := commandIn(to)
	return isPress || isCommand
}

// refOf returns the reference of a message.
func refOf(channel, message string) core.Ref { return core.Ref(channel + "/" + message) }

// actorOf returns the core.Actor of a user id.
func actorOf(user string) core.Actor { return core.Actor{ID: Name + ":" + user} }

// actor returns the core.Actor of a person, with the name that others see where m is their membership; nil for a direct
// message.
func (u *user) actor(m *member) core.Actor {
	who := actorOf(u.ID)
	if name := nameOf(u, m); name != u.ID {
		who.Name = chat.Name(name)
	}
	return who
}

// userOf returns the user id of an actor; ok is false if the actor is not on Discord.
func userOf(actor string) (user string, ok bool) {
	user, ok = strings.CutPrefix(actor, Name+":")
	return user, ok && snowflake.Valid(user)
}

// linkTo returns a link to an address in a conversation. It is "" for direct messages, which only their participant can
// open.
func linkTo(c core.ConversationID, at core.Address) string {
	guild, channel := guildOf(c), channelOf(at)
	if at.Platform != Name || !snowflake.Valid(channel, guild) {
		return ""
	}
	return "https://discord.com/channels/" + guild + "/" + channel
}
