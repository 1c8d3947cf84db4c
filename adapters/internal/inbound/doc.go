// Package inbound reads what a chat platform sends: a message "<@U1> what is in this?" with a photo, in a thread of
// five others, becomes the core.Input that the agent reads: its text, the image, and quotations of the five. A
// platform's own wire format stays in its adapter.
//
//	decode.go   read who did what from exactly named fields
//	redact.go   leave secrets out of what is stored
//	receive.go  commit an event that the platform sent; control words in messages
//	message.go  a person's message as the agent reads it
//	names.go    look up the names in a message, not too many
//	files.go    the images and texts attached to a message, within its limits
//	fetch.go    fetch one file from the platform's own hosts, within the limits of the process
//	thread.go   what was said in a thread before a message, within a budget
//	earlier.go  what the agent has heard of a conversation, and whether only bots have spoken in it
package inbound
