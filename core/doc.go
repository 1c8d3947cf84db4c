// Package core holds the types that all packages share: Message (a chat message), Event (an event of a platform),
// ConversationID and SessionID, Outcome (the result of a turn), Error, Post (a message to deliver), Driver (a platform
// as a value), and the interfaces between packages: Platform, and the store's Queue, Sessions, Approvals, Outbox and
// KV. It imports the standard library, core/strictjson, core/mask and core/question, and names no platform, database or
// vendor.
//
// The data flows one way. An adapter makes an Event and calls Accept. The store commits it. A dispatcher claims the
// event's queue, has the adapter parse the event, stores with the event what the adapter fetched for that
// (Input.Fetched, read once), runs one turn, and gives the store one Finish, which writes everything that the turn
// changed in one transaction. The outbox delivers the Posts of that Finish.
//
// What may come twice: an Event (its platform and id are the dedupe key), a claim of the same Event after a crash
// (Attempt counts them), a Post's delivery (see Platform). What may not: a Finish (its fence is compared), a Decision
// (the approval's state is compared), a tool's intent (its key is the approval's id).
package core
