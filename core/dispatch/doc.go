// Package dispatch claims events from the store and runs each one to its end: claim, turn, finish.
//
// Two loops claim events. One claims conversations, in as many slots as there are workers. The other claims clicks and controls in slots
// of its own, so that no turn can delay them. Both wake up on Nudge (after a commit in this process) and at every poll, because other
// processes store events too.
//
// A turn holds its conversation by a lease. A goroutine renews the lease every third of its length, polls for stop requests, and shows
// the typing indicator once the turn has lasted half a second. A turn whose lease is lost stops, and nothing of it is written.
//
// A turn runs on a staging store: it reads the database, but the engine's save and pause at the end of the turn stay in memory and become
// part of one Finish. Two writes are committed at once, fenced by the claim: an explicit save in the middle of a turn, and the executor's
// intents and results. So after a crash:
//
//   - before Finish: the lease expires, or the restarted process releases it, and the event's turn begins again. It does not see the
//     messages that the last attempt saved, but it does see that attempt's intents and results;
//   - after Finish: everything is stored, and the outbox delivers it.
//
// If the store refuses a Finish permanently, the turn ends with the category of what could not be saved, and keeps neither session nor
// pause. A store that is busy, full or slow is tried again first.
//
// The attempts of an event are the turns that began and did not end. From the third attempt on, a turn runs alone in this process, so that
// a turn that crashes the process interrupts no other. After five attempts the event becomes a dead letter, with an apology.
//
// A stop request ends a turn at the next poll. A mutating tool that has begun is never interrupted: the turn ends once its result is stored.
package dispatch
