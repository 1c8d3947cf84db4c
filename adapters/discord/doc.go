// Package discord is the platform Discord: one bot in any number of servers. Events come over the gateway. If a public
// key is set, interactions come over HTTP instead.
//
// For example, ann writes "@bot add milk" in channel 5 of server 3. Discord sends MESSAGE_CREATE, and the event
// message/5/9 of the conversation discord:3:9 is committed, which is the thread that the answer opens. The reply is
// posted there as a message with a nonce; the approval of a call as one with buttons.
//
// # In
//
// A gateway event passes through internal/gateway → events.go, and from there, if it is a press or a command, →
// interactions.go → press.go or commands.go. press.go asks adapters/internal/desk what a press or a form means (and,
// for a form of several pages, → form_pages.go). Then the event is committed. An interaction over HTTP enters at
// interactions.go. When a message's turn comes, message.go parses it, by internal/heard.
//
// The gateway has no acknowledgement. The comment of internal/gateway says what replaces it, and why the connection
// loop is gatehouse's own rather than discordgo's (discordgo's types, constants and REST client are used). After a
// session that can't be resumed, the adapter fetches the messages that were missed in known conversations: those since
// the last committed message, in the channels, threads and direct messages of the latest events, and those that an
// earlier process did not get to fetch. It does so beside the events, a few conversations at a time; only the messages
// of a conversation that is not fetched yet wait, so that they follow those that were missed. It can't fetch a first
// contact during the gap, nor an edit or a press in it. A press does not wait for messages that are still to be stored,
// since Discord waits three seconds for its answer.
//
// A second delivery of an event must have the same event id:
//
//	message/CHANNEL/ID              a message, also one that its author has just edited so that it mentions the bot
//	amend/CHANNEL/ID/REVISION       an edit of a message; its deletion has the revision "deleted"
//	vote/APPROVAL/PERSON/PRESS      a decision on a card; PRESS is the interaction's id
//	press/again/EVENT, press/new/EVENT   the button below the reply to a failed event
//	command/INTERACTION             a slash command
//
// A conversation is discord:SERVER:CHANNEL. CHANNEL may be a thread. For direct messages SERVER is @me, and CHANNEL is
// their channel. A mention in a channel opens a thread. The thread's id is the message's own id, so the conversation is
// known before the thread exists; the first answer opens it. With DISCORD_REPLY=channel a channel is one conversation,
// answered in the channel itself. That is always so in the chat of a voice channel, and for answers to /ask and to
// replies to those answers. A thread with a conversation needs no further mention if the bot is granted the message
// content. Otherwise messages without a mention arrive empty and are ignored. A thread that began with a message of the
// bot's own is a conversation from its first message on: threads.go finds that out before the commit. What was said in
// a thread before the bot was asked there is read when the message's turn comes, once: history.go.
//
// # Out
//
// A post passes through post.go → internal/draw. An answer to an interaction then goes to command_answer.go, any other
// post to threads.go → send.go → internal/rest. Each part of a post is
// one Discord message. Its nonce is made from the post's key and part; for some minutes Discord posts no second message
// with the same nonce. If the answer to a send was lost, find.go later looks for the message among the bot's own
// messages since the send, by text and buttons. Every message carries an empty allowed_mentions. Buttons carry sealed
// values of at most 100 bytes. No event and no post contains an interaction's token (tokens.go).
package discord

import _ "embed" // the page

//go:embed README.md
var page string

// Page is README.md, which gatehouse help prints.
func (c *Config) Page() string { return page }
