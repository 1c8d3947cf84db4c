// Package chat holds what the adapters of chat platforms have in common, as plain functions and small structs. A
// platform's own texts, limits and wire format stay in its adapter.
//
//	receive.go   commit an event that the platform sent; control words in messages
//	exact.go     read who did what from exactly named fields
//	without.go   leave secrets out of what is stored
//	names.go     look up the names in a message, not too many
//	message.go   a person's message as the agent reads it
//	files.go     the images and texts attached to a message, within its limits
//	fetch.go     fetch one file from the platform's own hosts, within the limits of the process
//	thread.go    what was said in a thread before a message, within a budget
//	earlier.go   what the agent has heard of a conversation, and whether only bots have spoken in it
//	buttons.go   a button's sealed value, and the event that a press becomes
//	draw.go      draw a post as messages
//	copies.go    copies of a card for approvers who can't see its conversation
//	likeness.go  whether a reply could be taken for a card
//	clock.go     the platform's clock
//	text.go      make foreign text harmless, shorten it and note how much is missing
//	calls.go     connections to the platform, and what an error of a call means to the outbox and to a turn
//	health.go    whether the platform answers; ask repeatedly who the bot is; waits before another attempt
//	cache.go     remember answers of the platform, the parts of long posts, and which warnings were logged
//	check.go     what gatehouse doctor reports
package chat
