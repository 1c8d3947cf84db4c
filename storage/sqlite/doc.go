// Package sqlite keeps everything in one SQLite file; it is a core.Store for one machine.
//
// # What is kept, under which key
//
//	conversations         a queue: who holds it until when, its fence, the event it runs, when it can next be claimed
//	events        seq, and once (platform, id): what happened, how often it was tried, how it ended
//	sessions      a session: its state, and how many messages it has, so that nothing counts them
//	messages      (session, invocation, n), in the order of pos
//	paused        an invocation that waits for a signal
//	approvals     an approval, and its votes by (approval, n); intents by approval
//	evidence      an invocation: what it did, as a join check reads it
//	audit         seq: what was decided, each entry's hash over the one before
//	outbox        key: something to say; destinations: where the next of it goes, and when
//	holds         a name: who holds it, until when
//	uses          seq: a use of a name, so that no more are made than its limit
//	tasks, notes, settings
//
// # One writer
//
// Every change goes through one goroutine with a connection of its own. It takes all units that wait, opens BEGIN IMMEDIATE, runs
// each in a SAVEPOINT of its own, commits once and only then answers them: many small transactions share one fsync
// (synchronous=FULL). A unit that fails or panics is undone alone. Where SQLite gives the whole transaction up, or the commit
// fails, all of its units fail and nothing of them is stored. A caller who leaves takes a unit back that has not begun; one that
// has begun is finished and answered. Readers have connections of their own, each read in one snapshot; WAL lets both go on side
// by side. Several processes may use one file: their writers take turns at BEGIN IMMEDIATE, with a wait of a few seconds.
//
// # What can be claimed
//
// queues.ready_at is kept right by every transaction that touches a queue (the function ready): null where nothing waits, the end
// of the lease where it is held, else when the first signal or the first message is due. So a claim is one look into an index, a
// crashed holder's conversation becomes ready by itself, and an idle gatehouse costs nothing. destinations does the same for the outbox.
//
// A holder's owner, fence and event stand in the conversation's row; every write of a turn compares all three. The event stays there when
// the holder dies, so that the next claim can put out the working state that was left burning.
//
// # Owners
//
// Register takes the first free lock on DATABASE.INSTANCE-0.lock, -1 and so on, and holds it until Close. The system drops such a
// lock when a process dies, so whoever gets it knows that the last owner of that name is gone, and frees what it held.
//
// # What may come twice, what a crash leaves
//
// Each method is one transaction, so a crash leaves its work whole or not there. An event that is accepted twice is stored once;
// a turn may be taken twice (Attempt says so) and finished once; a row of the outbox may be claimed twice, its parts say what may
// have been sent. Prune alone works in several transactions; what it has not removed it removes the next time.
//
// # Times
//
// All times are nanoseconds since 1970, 0 for none, by the clock that Open was given. Statements never ask for the time.
package sqlite
