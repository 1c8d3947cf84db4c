// Package dispatch claims events from the store and runs each one to its end: claim, turn, finish.
//
// A message that this process accepts is claimed in the same transaction, if a slot is free, and neither its
// conversation nor, as far as this process knows, another one waits (Accept). That counts as an attempt: a crash after
// the commit is one of a turn that began. Three loops claim everything else. One claims conversations, for as many
// turns as have slots (see below). One claims clicks and controls in slots of its own, so that no turn can delay them.
// One claims suspects (see below). The first two wake up when this process has committed what they may claim, and all
// at every poll, because other processes store events too.
//
// A turn that waits for a model, a tool or an agent's delay holds a goroutine and no connection, so hundreds run at the
// same time: as many as there are workers and as fit into the process's budget of memory (core/inflight), of which one
// person's turns have a quarter at most. A claim finds an event, and takes the memory of its turn or leaves it
// (room.go). What turns hold is estimated: 64 KiB each for the stack, the contexts, the state of the graph and a
// connection to a model's server (2,000 waiting turns of the echo agent were measured to take 50 KiB each), and eight
// times the payload of its event. Where that is more, it is the payload and three times what the turn reads of the
// history and adds to it: as it was read, as a model is shown it, and as it is sent. A result of a tool counts when the
// model is asked next. What an image takes while it is scaled, and what an MCP server or a tool's process takes, does
// not count. A turn that has begun goes on, whatever it comes to hold; so the estimate may exceed the limit by what
// those that run read then. What a model's vendor admits is limited there (llm.Limit): a turn that waits for that holds
// its own slot alone.
//
// Decision, 2026-11: what a turn does beside waiting has no slots of its own, as many as twice the processors. It was
// tried with 500 turns whose models answer at the same moment: short turns beside them took 2 s in the median instead
// of 0.1 s, because a turn also waits for commits and would keep its slot; the slowest were no faster, and memory
// differed by less than the runs did.
//
// A turn holds its conversation for as long as its process lives. One goroutine asks the store for all running turns
// which were requested to stop and, less often, which lost their conversation, because another process took this one
// for dead. Such a turn stops, and nothing of it is written. One more goroutine shows the progress of all turns. Both
// sleep while no turn runs, and the polls of a process come at the same moments: an idle process is woken as seldom as
// possible.
//
// A turn runs on a staging store: it reads the database, but the engine's save and pause at the end of the turn stay in
// memory and become part of one Finish. Two writes are committed at once, fenced by the claim: an explicit save in the
// middle of a turn, and the executor's intents and results. So after a crash:
//
//   - before Finish: another process, or the restarted one, takes the event over, and its turn begins again. It adds
//     the messages that the last attempt saved once more, without making them anew (core.Turn.Saved), and it sees that
//     attempt's intents and results;
//   - after Finish: everything is stored, and the outbox delivers it.
//
// If the store works and refuses a Finish, the turn ends with the category of what could not be saved, and keeps
// neither session nor pause. While the store fails, the turn keeps trying; that it could not be stored does not count
// as an attempt.
//
// The attempts of an event are the turns that began and did not end. From the third attempt on it is a suspect: fewer
// and fewer suspects run together, of 512 at most 64, then 8, until the one at fault has been alone (see
// quarantine.go). After five attempts the event becomes a dead letter, with an apology.
//
// Decision, 2026-11: a large message (whose turn's weight is more than a 64th of the budget) is given up after two
// attempts that did not end, and told to be too big; its second one runs beside no other of its kind and is ended if it
// holds more than an eighth of the budget. Why a process died can't be known: what the kernel kills for want of memory
// looks like any other kill, and the container that would know is gone. What is known is the size of the message. So a
// small message whose turn grew by what it read counts as before, and a large one that was killed twice for another
// reason is given up early; "Try again" begins anew. A mark in the database for turns that grow was left out: it would
// be a commit for each, and what they read is limited by what a model is shown.
//
// What fails for a while is tried again (budget.go): our own database for as long as it takes, what others don't do
// now while the budget of time of the event lasts, anything else up to three times; but not a model that does not
// answer: that was asked as often as one message may ask (core/llm), from the same budget. Its turn ends with a button
// to try again, whose event has the same invocation, and so goes on after what the failed one has saved. A resumed
// turn that fails ends without a button: its paused record is gone.
//
// A stop request ends a turn at the next poll. A mutating tool that has begun is never interrupted: the turn ends once
// its result is stored. So does the deletion of its message, after which nothing is posted but, to its author alone,
// what a call has done that had begun. The store refuses any other end of such a turn, so a turn that has not heard of
// the deletion yet posts nothing either.
package dispatch
