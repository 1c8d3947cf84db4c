// Package core is the vocabulary of gatehouse: what people say (Message), what happens (Event), where it belongs (Conversation,
// SessionID), how a turn ends (Outcome), what goes wrong (Error), what is to be said (Post), and the contracts that the rooms
// meet through (Platform, Store). It imports the standard library and core/strictjson alone, and names no platform, no database
// and no vendor.
//
// The way of the data. An adapter makes an Event and calls Accept; the store commits it; a dispatcher claims its conversation, has the
// adapter parse it, runs one turn and hands the store one Finish, which writes everything that the turn changed in one
// transaction; the outbox delivers the Posts of that Finish. Nothing else moves.
//
// What may come twice: an Event (its platform and id are the dedupe key), a claim of the same Event after a crash (Attempt
// says which), a Post's delivery (see Platform). What may not: a Finish (its fence is compared), a Decision (the approval's
// state is compared), a tool's intent (its key is the approval's id).
package core
