// Package sqlstore is the store: every method and its SQL, written once for both database engines. The packages sqlite and postgres open
// a database and pass to New the few things in which they differ (Hooks).
//
// # Tables and their keys
//
//	queues        queue_key: its holder, lease, fence and current event, and when it can next be claimed
//	events        seq; also unique (platform, id): what happened, how often it was tried, how it ended
//	sessions      session id: the state and the number of messages, so that nothing has to count them
//	messages      (session, invocation, n); pos gives their order
//	paused        invocation: a run that waits for a signal
//	approvals     approval id; votes by (approval, n); intents by approval
//	evidence      invocation: what it did, as input of a join check
//	audit         seq: the decisions, each entry's hash computed over the entry before; audit_head: the last entry
//	outbox        key: a post to deliver; destinations: when each destination's next post is due
//	kv            name: a value, and when it expires
//	leases        name: its holder, and until when
//	rate_tokens   seq: one counted use of a rate-limited name
//	tasks, notes
//
// # Transactions and locks
//
// Each method is one transaction, so a crash leaves all of its work or none. Only Prune uses several. If the engine has row locks
// (Hooks.RowLocks), they are always taken in this order: queues, by key; an approval; outbox destinations, by name; the head of the audit
// log. A method that leases or rate-limits a name locks nothing else. A queue's row is the lock of the queue. Adding, ending or delaying
// an event takes it. So does every write of a turn, which also checks that the queue's owner, fence and event are unchanged. Outbox
// changes and audit entries are collected during a transaction and written at its end (Tx.addPost, Tx.audit). All their locks are then
// known at once and held briefly, and each destination is updated once.
//
// A statement sees what was committed before the statement began, not what was committed while it waited for a lock. So a decision under
// a lock reads its data in a later statement than the one that took the lock. The clock is read together with the lock, so times rise in
// the order of a queue's commits.
//
// # What can be claimed
//
// Every transaction that touches a queue updates queues.ready_at (Tx.updateReady). It is null if nothing waits, the end of the lease if
// the queue is held, and otherwise the time at which the first signal or first message is due. So a claim is one index lookup, the queue
// of a crashed holder becomes ready by itself, and an idle gatehouse costs nothing. The table destinations does the same for the outbox.
//
// The queue's row holds the owner, the fence and the event; every write of a turn compares all three. The event stays there if the holder
// dies, so that the next claim can clear the typing indicator that the holder left.
//
// # Times and texts
//
// Times are nanoseconds since 1970. 0 is no time; a null ready_at means "never". They come from the store's own clock (Tx.Now) or the
// database's (Hooks.Clock). JSON is kept as text, so it comes back byte for byte. Zero bytes and broken UTF-8, which a database text
// can't hold, are replaced in free text. In keys they are left alone, and the engine may refuse them.
//
// # Decision: one SQL with hooks, no dialect layer (2026-11-22)
//
// Two separate stores shared 64 % of their lines. Each new feature was written, reviewed and tested twice, and the two drifted apart.
// SQLite accepts $1 placeholders, RETURNING, ON CONFLICT and string_agg as Postgres does, so the same SQL text works on both. SQLite
// numbers parameters by first appearance, so every statement must number them in the order in which they appear (a test of package
// sqlite checks this). The real differences are in Hooks: how a transaction runs, row locks and the clock, and which queues a claim finds
// (arrays and SKIP LOCKED, or one query per scope). Rejected: a dialect layer that rewrites or assembles SQL, since the SQL that is sent
// could not be read in the source; an interface with all methods per engine, which is two stores again; a query builder or ORM.
package sqlstore
