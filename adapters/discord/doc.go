// Package discord is the platform Discord: one bot in any number of servers, over the gateway, and for interactions over HTTP where a
// public key is set.
//
// # In
//
// An event of the gateway goes one way: internal/gateway → events.go → message.go, or → interactions.go → commands.go or components.go →
// modal.go, then its commit; over HTTP it begins at interactions.go. Its turn parses it by message.go. The gateway has no acknowledgement; internal/gateway says what takes
// its place, and why the connection loop is gatehouse's own and not discordgo's, of which types, constants and REST are used. Where a session
// can't be resumed, the messages of known conversations that were missed are fetched: those since the last message that was committed, in
// channels, threads and direct messages of the latest events. What can't be fetched is a first contact during the gap, and an edit or a
// press in it. A press waits for no message that is still to be stored, since Discord waits three seconds for its answer. Event ids, which a
// second delivery must share:
//
//	message/CHANNEL/ID              a message, or one that its author has edited a moment ago so that it mentions the bot
//	amend/CHANNEL/ID/REVISION       an edit of one; the deletion, of which Discord does not say by whom, has the revision "deleted"
//	vote/APPROVAL/PERSON/PRESS      a decision on a card; a press is the interaction's id
//	press/again/EVENT, press/new/EVENT   the button below the reply to a failed event
//	command/INTERACTION             a slash command
//
// A conversation is discord:SERVER:CHANNEL, where CHANNEL is a thread or, for direct messages, their channel and SERVER is @me.
// A mention in a channel opens a thread, whose id is the message's own id, so its conversation is known before there is the thread; it is
// opened with the first answer. With DISCORD_REPLY=channel a channel is one conversation and answers stand in it, as always in the chat of
// a voice channel; so do, in either case, the answers to /ask there and to replies to them. In a thread with a conversation no mention is
// needed, where the bot was granted the content of messages; without it, what does not mention the bot comes empty and is ignored.
//
// # Out
//
// A post goes one way: post.go → draw.go → card.go, markdown.go → text.go, and then → replies.go where it answers an interaction, else
// threads.go → send.go → internal/rest. One part of a post is one Discord message with a nonce made of the post's key and part, which Discord itself keeps from
// being posted twice for some minutes; a send whose answer was lost is later looked for among the bot's own messages since then, by text
// and buttons (find.go). Every message carries an empty allowed_mentions. Buttons carry sealed values in at most 100 bytes. The tokens of
// interactions stand in no event and no post (tokens.go).
package discord
