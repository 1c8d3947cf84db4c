// Package postgres keeps everything in a Postgres database; it is a core.Store for any number of processes on any machines, which
// share nothing else: durability, replication, locks, uniqueness and the clock are the database's.
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
//	audit         seq: what was decided, each entry's hash over the one before; audit_end: the last of them
//	outbox        key: something to say; destinations: where the next of it goes, and when
//	holds         a name: who holds it, until when
//	uses          seq: a use of a name, so that no more are made than its limit; spending: the lock of such a name
//	tasks, notes, settings
//	gatehouse_version, gatehouse_migrating: which migrations are done, and the queue of those who would do them
//
// # Locks, and their order
//
// Every method is one transaction (READ COMMITTED) on explicit row locks, taken in one order: conversations, by name; an approval; the
// destinations of the outbox, by name; the end of the audit log. A name that is held or spent is a lock alone in its transaction. A conversation's row is the lock of its queue: whoever adds, ends or puts
// off an event of it holds it, and so does every write of a turn, which finds owner, fence and event unchanged under it. Posts and
// audit entries are noted while a transaction works and written at its end, so that their locks are known at once and short.
//
// A statement sees what was committed before it began, not before its wait for a lock was over. So what is decided under a lock is
// read by a statement of its own after the one that took it; times are read after the lock, too, and rise with the commits of a
// conversation. Numbers of events follow the commits within a conversation; between conversations they may differ by what was under way at once.
//
// Claims pass over rows that somebody has locked (SKIP LOCKED), and lock no more than they may take. queues.ready_at is kept right by
// every transaction that touches a queue (the function ready), from a statement after the lock; so what comes in beside a claim is
// seen by it or by the next look. destinations does the same for the outbox.
//
// A deadlock or a serialization failure undoes a transaction whole; it is repeated a few times, then reported as store_busy. A
// wait for a lock ends after seconds, as store_busy; a process that hangs in a transaction loses its connection and so its locks.
//
// # Durability
//
// Each transaction sets synchronous_commit to on for itself, whatever the role's or the database's default is: an answered commit is
// on disk, and on a synchronous standby where there is one.
//
// # A connection that is lost
//
// Before the commit was sent nothing was stored. After it nobody knows; the method fails (store_busy), and each is safe to repeat or
// to leave: an event is known by its id (Accept, Again); a conversation or a post that was claimed for nobody comes back when its lease is
// over (Claim, ClaimPosts, ClaimTasks; the claim counts as an attempt that died); a turn's end, a hand-back or a delivery's end that
// was stored makes the repeat fail with lease_lost, and what is stored stands (Finish, Release, ReleasePost); a save replaces its
// own rows (SaveSession, SavePost, Say); an intent that may have been stored is not run, and the next attempt finds it and tells the
// outcome as unknown (BeginIntent); the first result stands (FinishIntent); a vote is known by its click, any other second decision
// finds the first (Decide); the rest sets a state (Renew, Stop, SetPaused, Drop, DropPost, Resend, DeleteSession, AddTask, EndTask, Prune, Keep, Put,
// Hold). Only AddNote can be there twice, as the world outside would have it, and a use that Spend counts: then too few are made,
// never too many.
//
// # Owners
//
// Register makes a name up: no database can prove that a process on another machine is dead. What a dead one held comes back when
// its leases are over.
//
// # What it asks of the server
//
// Nothing that outlives a transaction: no session settings, prepared statements, advisory locks, temporary tables or LISTEN; so it
// works behind a pooler in transaction mode, and uses only what engines that speak Postgres's protocol have. Statements are sent in pgx's
// QueryExecModeExec: one round trip, by the unnamed statement, nothing described or cached. Caching descriptions would save
// converting values from text, and break when another process migrates the schema.
//
// There is no LISTEN and NOTIFY: a dispatcher looks for work every half second anyway, each look is one statement along an index,
// and what a process accepts itself it takes at once.
//
// Texts are stored as they are, JSON as text, so that it comes back byte for byte. A zero byte or broken UTF-8, which a text can't
// hold, is replaced in free text and refused (invalid) in keys.
package postgres
