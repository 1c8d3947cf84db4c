package discord

import (
	"strings"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/core"
)

// Name is the platform's name.
const Name = "discord"

// direct stands for the guild of a conversation in direct messages.
const direct = gateway.Direct

// conversationOf is the conversation of a thread, a channel, or direct messages.
func conversationOf(guild string, at core.Address) core.ConversationID {
	return core.ConversationID(Name + ":" + guild + ":" + channelOf(at))
}

// guildOf is the guild of a conversation, or direct.
func guildOf(c core.ConversationID) string {
	guild, _, _ := strings.Cut(strings.TrimPrefix(string(c), Name+":"), ":")
	return guild
}

// channelOf is the channel or thread of an address.
func channelOf(to core.Address) string {
	if to.Thread != "" {
		return to.Thread
	}
	return to.Channel
}

// startsThread reports an address whose thread begins with the message that is answered. Such a thread has the message's id, and may not
// be there yet.
func startsThread(to core.Address) bool {
	return to.Thread != "" && to.Thread == to.Message && to.Channel != "" && to.Channel != to.Thread
}

// An address's message may be an interaction that an answer can be given by: a press, or a command that waits for its answer. Its token
// is not in the address; see tokens.go.
const (
	pressPrefix   = "interaction:"
	commandPrefix = "command:"
)

// interactionIn gives the id of the interaction that an address's message is.
func interactionIn(to core.Address, prefix string) (id string, ok bool) {
	id, ok = strings.CutPrefix(to.Message, prefix)
	return id, ok && snowflake.Valid(id)
}

// refOf names a message.
func refOf(channel, message string) core.Ref { return core.Ref(channel + "/" + message) }

// actorOf is a user as core knows them.
func actorOf(user string) core.Actor { return core.Actor{ID: Name + ":" + user} }

// userOf gives the user id of an actor; ok is false for somebody who is not on Discord.
func userOf(actor string) (user string, ok bool) {
	user, ok = strings.CutPrefix(actor, Name+":")
	return user, ok && snowflake.Valid(user)
}

// linkTo gives a link to an address of a conversation, "" where there is none: direct messages open only for their person.
func linkTo(c core.ConversationID, at core.Address) string {
	guild, channel := guildOf(c), channelOf(at)
	if !snowflake.Valid(channel) || !snowflake.Valid(guild) {
		return ""
	}
	return "https://discord.com/channels/" + guild + "/" + channel
}
