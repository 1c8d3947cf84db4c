// Package discord is the platform Discord: one bot in any number of servers, over the gateway, and for interactions over HTTP where a
// public key is set.
//
// In. What comes over the gateway is decoded by a small tolerant decoder of ours, handed to accept in the order it came, and only
// after its commit the next is taken; but for an event of which Discord must be asked where it stands, which holds up its own
// conversation alone. The gateway has no acknowledgement, so the sequence number that a resumed session goes on from is that of the
// last event that was committed with all before it. It is kept in the store, so a restarted process resumes its session instead of
// identifying anew, and Discord replays what came meanwhile. Where a session can't be resumed, the messages of known conversations
// that were missed are fetched: those since the last message that passed by, in channels, threads and direct messages of the latest
// events. What can't be fetched is a first contact during the gap, and an edit or a press in it. A press waits for no message that is
// still to be stored, since Discord waits three seconds for its answer. Event ids, which a second delivery must share:
//
//	message/CHANNEL/ID              a message, or one that its author has changed a moment ago so that it mentions the bot
//	amend/CHANNEL/ID/REVISION       a change of one; the deletion, of which Discord does not say whose it is, has the revision "deleted"
//	vote/APPROVAL/PERSON/PRESS      a decision on a card; a press is the interaction's id
//	press/again/EVENT, press/new/EVENT   the button below the reply to a failed event
//	command/INTERACTION             a slash command
//
// A conversation (conversation) is discord:SERVER:CHANNEL, where CHANNEL is a thread or, for direct messages, their channel and SERVER is @me.
// A mention in a channel opens a thread, whose id is the message's own id, so its conversation is known before there is the thread; it is
// opened with the first answer. With DISCORD_REPLY=channel a channel is one conversation and answers stand in it, as always in the chat of
// a voice channel; so do, in either case, the answers to /ask there and to replies to them. In a thread with a conversation no mention is needed, where the bot was granted the
// content of messages; without it, what does not mention the bot comes empty and is passed over.
//
// Out. One part of a post is one Discord message with a nonce made of the post's key and part, which Discord itself keeps from being
// posted twice for some minutes; a send whose answer was lost is later looked for by that nonce among the bot's own messages. Every
// message carries an empty allowed_mentions. Buttons carry sealed values in at most 100 bytes.
//
// Decision, 2026-11: the gateway is our own loop over a websocket and not discordgo's, of which REST and types are used: its resume
// state is private, it identifies by itself where the daily budget must be asked first, and it hands events on before they could be
// committed.
package discord
