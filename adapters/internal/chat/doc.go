// Package chat holds what the adapters of chat platforms have in common, as plain functions and small structs. A platform's own words,
// limits and wire format stay in its adapter.
//
//	receive.go   what became of an event that the platform sent; its commit
//	control.go   control words in messages: !new, !stop, !status, !cancel, !help
//	buttons.go   what a button's sealed value means, and the events that buttons become
//	message.go   a person's message as the agent reads it
//	images.go    fetch the images that were sent along
//	draw.go      which message a post becomes
//	card.go      the text of an approval's card
//	text.go      make foreign text harmless, shorten it and say so
//	parts.go     keep a long post drawn while its parts are sent
//	errors.go    what an error of a call means to the outbox and to a turn
//	copies.go    copies of a card for approvers who can't see its conversation
//	health.go    whether the platform answers
//	identity.go  ask again and again who the bot is
//	wait.go      waits before another attempt
//	warn.go      warnings that are logged once
//	cache.go     remember answers of the platform for a while
//	http.go      connections to the platform; requests that the platform signs
//	check.go     what gatehouse doctor reports
package chat
