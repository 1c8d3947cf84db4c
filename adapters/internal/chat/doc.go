// Package chat holds what the adapters of chat platforms have in common, as plain functions and small structs. A platform's own texts,
// limits and wire format stay in its adapter.
//
//	receive.go   commit an event that the platform sent, and the result
//	control.go   control words in messages: !new, !stop, !status, !cancel, !help
//	buttons.go   a button's sealed value, and the event that a press becomes
//	message.go   a person's message as the agent reads it
//	images.go    fetch the images attached to a message
//	draw.go      draw a post as messages
//	card.go      the text of an approval's card
//	text.go      make foreign text harmless, shorten it and say so
//	parts.go     cache the parts of a long post while they are sent
//	errors.go    what an error of a call means to the outbox and to a turn
//	copies.go    copies of a card for approvers who can't see its conversation
//	health.go    whether the platform answers
//	identity.go  ask repeatedly who the bot is
//	wait.go      waits before another attempt
//	warn.go      warnings that are logged once
//	cache.go     remember answers of the platform for a while
//	http.go      connections to the platform; requests that the platform signs
//	check.go     what gatehouse doctor reports
package chat
