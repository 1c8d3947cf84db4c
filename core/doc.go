// Package core is the vocabulary of gatehouse: what people say (Message), what happens (Event), where it belongs (Conversation,
// SessionID), how a turn ends (Outcome), what goes wrong (Error), what is to be said (Post), and the contracts between the
// rooms (Platform, and the store's Queue, Sessions, Approvals, Outbox and KV). It imports the standard library and core/strictjson alone, and names no platform, no database
// and no vendor.
//
// The data flows one way. An adapter makes an Event and calls Accept. The store commits it. A dispatcher claims the event's queue, has
// the adapter parse the event, runs one turn, and gives the store one Finish, which writes everything that the turn changed in one
// transaction. The outbox delivers the Posts of that Finish.
//
// What may come twice: an Event (its platform and id are the dedupe key), a claim of the same Event after a crash (Attempt
// says which), a Post's delivery (see Platform). What may not: a Finish (its fence is compared), a Decision (the approval's
// state is compared), a tool's intent (its key is the approval's id).
package core
