// Package sqlstore is the store: every method and its SQL, once, for both database engines. The packages sqlite and postgres open
// a database and give New the few things that differ (Hooks).
//
// # What is kept, under which key
//
//	queues        queue_key: who holds the queue until when, its fence, the event it runs, when it can next be claimed
//	events        seq, and once (platform, id): what happened, how often it was tried, how it ended
//	sessions      a session: its state, and how many messages it has, so that nothing counts them
//	messages      (session, invocation, n), in the order of pos
//	paused        an invocation that waits for a signal
//	approvals     an approval, and its votes by (approval, n); intents by approval
//	evidence      an invocation: what it did, as a join check reads it
//	audit         seq: what was decided, each entry's hash over the one before; audit_head: the last of them
//	outbox        key: something to post; destinations: where the next of it goes, and when
//	kv            a name: a value, and when it expires
//	leases        a name: who holds it, until when
//	rate_tokens   seq: a use of a name, so that no more are made than its limit
//	tasks, notes
//
// # Transactions and locks
//
// Each method is one transaction, so a crash leaves its work whole or not there; Prune alone works in several. Where the engine has
// row locks (Hooks.RowLocks), they are taken in one order: queues, by key; an approval; the destinations of the outbox, by name; the
// head of the audit log. A name that is leased or rate limited is locked alone in its transaction. A queue's row is the lock of the
// queue: whoever adds, ends or delays one of its events holds it, and so does every write of a turn, which finds owner, fence and event
// unchanged under it. Changes of the outbox and audit entries are collected while a transaction works and written at its end
// (Tx.addPost, Tx.audit): so their locks are known at once and held shortly, and each destination is updated once.
//
// A statement sees what was committed before it began, not before its wait for a lock was over. So what is decided under a lock is
// read by a later statement than the one that took it; the clock is read with the lock, and rises with the commits of a queue.
//
// # What can be claimed
//
// queues.ready_at is kept right by every transaction that touches a queue (Tx.updateReady): null where nothing waits, the end of the
// lease where it is held, else when the first signal or the first message is due. So a claim is one look into an index, a crashed
// holder's queue becomes ready by itself, and an idle gatehouse costs nothing. destinations does the same for the outbox.
//
// A holder's owner, fence and event stand in the queue's row; every write of a turn compares all three. The event stays there when
// the holder dies, so that the next claim can clear the working state that the holder left.
//
// # Times and texts
//
// Times are nanoseconds since 1970, 0 for none (null for "never ready"), by the store's own clock (Tx.Now) or the database's
// (Hooks.Clock). JSON is kept as text, so that it comes back byte for byte. A zero byte or broken UTF-8, which a database's text can't
// hold, is replaced in free text and left alone in keys, which the engine may refuse.
//
// # Decision: one SQL with hooks, no dialect layer (2026-11-22)
//
// Two plain stores shared 64 % of their lines; each new feature was written, reviewed and tested twice, and the two drifted. SQLite
// reads $1 placeholders, RETURNING, ON CONFLICT and string_agg as Postgres does; so one text serves both as it stands. It names its
// parameters by first appearance, so every statement numbers them in the order in which they appear (a test of sqlite checks that).
// What really differs is behind Hooks: how a transaction runs, row locks and the clock, and which queues a claim finds (arrays and
// SKIP LOCKED against one query for each scope). Rejected: a dialect layer that rewrites or assembles SQL, since nobody can read what
// is sent; an interface for each engine with all methods, which is the two stores again; a query builder or ORM.
package sqlstore
