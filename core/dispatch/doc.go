// Package dispatch claims events from the store and runs each one to its end: claim, turn, finish.
//
// Three loops claim events. One claims conversations, in as many slots as there are workers. One claims clicks and controls in slots of its
// own, so that no turn can delay them. One claims suspects (see below). The first two wake up when this process has committed what
// they may claim, and all at every poll, because other processes store events too.
//
// A turn holds its conversation for as long as its process lives. One goroutine asks the store for all running turns which were requested to
// stop, and which lost their conversation, because another process took this one for dead. Such a turn stops, and nothing of it is written.
//
// A turn runs on a staging store: it reads the database, but the engine's save and pause at the end of the turn stay in memory and become
// part of one Finish. Two writes are committed at once, fenced by the claim: an explicit save in the middle of a turn, and the executor's
// intents and results. So after a crash:
//
//   - before Finish: another process, or the restarted one, takes the event over, and its turn begins again. It does not see the
//     messages that the last attempt saved, but it does see that attempt's intents and results;
//   - after Finish: everything is stored, and the outbox delivers it.
//
// If the store works and refuses a Finish, the turn ends with the category of what could not be saved, and keeps neither session nor pause.
// While the store fails, the turn keeps trying; that it could not be stored does not count as an attempt.
//
// The attempts of an event are the turns that began and did not end. From the third attempt on it is a suspect: fewer and fewer suspects run
// together, until the one at fault has been alone (see suspects.go). After five attempts the event becomes a dead letter, with an apology.
//
// A stop request ends a turn at the next poll. A mutating tool that has begun is never interrupted: the turn ends once its result is stored.
package dispatch
