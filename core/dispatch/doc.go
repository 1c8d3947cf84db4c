// Package dispatch takes events from the store and makes turns of them: claim, take a turn, finish.
//
// Two loops claim. One takes conversations, in as many slots as there are workers; the other takes clicks and controls in slots of
// its own, so that no turn can delay them. Both are woken by Nudge (after a commit in this process) and by a poll, because events come
// from other processes too.
//
// A turn holds its conversation by a lease, renewed at a third of its length by a goroutine that also polls for stop requests
// twice a second, and shows the working state once the turn has lasted half a second. A turn whose lease is lost stops, and nothing
// of it is written.
//
// A turn runs on a staging store: it reads the database, but the engine's save and pause at the end are kept in memory and become
// part of one Finish. What must be durable at once goes through at once, fenced by the claim: an explicit mid-invoke save, and
// the executor's intent and result. So, whatever is killed when:
//
//   - before Finish: the lease runs out (or the restarted process takes it back), and the event's turn begins again, without the
//     rows its last attempt left, but with the intents and results it left;
//   - after Finish: everything is there, and the outbox delivers it.
//
// A Finish that the store refuses for good keeps neither session nor pause: the turn then ends with the category of what could not be
// saved, and says so. A store that is busy, full or slow is tried again before that.
//
// Attempts count turns that began and did not end. From the third on a turn runs alone in this process, so that a turn that kills
// the process takes no other with it; after five the event becomes a dead letter, with an apology.
//
// Stop ends a turn within a poll, but never cuts a mutating tool that has begun: then the turn ends when the result is stored.
package dispatch
