// Package sqlstore is the store: every method and its SQL, written once for both database engines.
//
//	claims, err := store.Claim(ctx, core.ClaimRequest{Owner: owner, Limit: 1, Scopes: scopes})
//	...                                           // the turn runs
//	err = store.Finish(ctx, core.Finish{Claim: claims[0], End: core.End{Kind: core.EndReplied}})
//
// The packages sqlite and postgres open a database and pass it to New as an Engine, which has the few things in which
// they differ.
//
// # Tables and their keys
//
//	owners        owner: the beat of a process that claims
//	queues        queue_key: its holder, fence and current event, and when it can next be claimed
//	events        seq; also unique (platform, id): what happened, how often it was tried, how it ended
//	sessions      session id: the state and the number of messages, so that nothing has to count them
//	messages      (invocation, n, session), n from 0; pos gives the order in the session
//	blobs         digest: the bytes of an image or an upload; message_blobs, event_blobs: the messages that
//	              refer to it, the events it came with
//	paused        invocation: a run that waits for a signal
//	approvals     approval id; votes by (approval, n); intents by approval: what became of its call
//	evidence      invocation: what it did, as input of a join check
//	audit         seq: the decisions, each entry's hash a MAC over it and the entry before;
//	              audit_head: the last entry, sealed
//	outbox        key: a post to deliver; destinations: when each destination's next post is due
//	mailboxes     mailbox: its last number; mail by (key, mailbox), also unique (mailbox, seq): a post that
//	              a client fetches
//	kv            name: a value, and when it expires
//	leases        name: its holder, and until when
//	rate_tokens   seq: one counted use of a rate-limited name
//	tasks, notes
//
// # Transactions and locks
//
// Each method is one transaction, so a crash leaves all of its work or none. Only Prune uses several. If the engine has
// row locks (Traits.RowLocks), they are always taken in this order: the owner, for an acceptance; queues, by key; a
// session; an approval; mailboxes, by name; blobs, by digest; outbox destinations, by name; the head of the audit log.
// A method that puts or takes mail locks only the mailbox; one that leases or rate-limits a name locks nothing else. A
// queue's row is the lock of the queue. Adding, ending or delaying an event takes it. So does every write of a turn,
// which also checks that the queue's owner, fence and event are unchanged. Outbox changes and audit entries are
// collected during a transaction and written at its end (Tx.addPost, Tx.audit). All their locks are then known at once
// and held briefly, and each destination is updated once.
//
// A statement sees what was committed before the statement began, not what was committed while it waited for a lock. So
// a decision under a lock reads its data in a later statement than the one that took the lock. The clock is read
// together with the lock, so times rise in the order of a queue's commits.
//
// What is not needed at once is asked together (Tx.ask, Tx.Do), since on Postgres it then shares a round trip: it is
// there after Tx.flush, or once the transaction is committed.
//
// # What can be claimed
//
// Every transaction that touches a queue updates queues.ready_at (Tx.updateReady). It is null if nothing waits or the
// queue is held, 0 if the first signal or first message is due, and otherwise the end of its delay. So a claim is a few
// index lookups, and a clock that is set back delays only what was delayed anyway. The table destinations does the same
// for the outbox.
//
// Ready queues are claimed by the rank of their next event (see rank), so that people take turns. A queue whose next
// event is a suspect, since processes died over it, is claimed apart.
//
// The queue's row holds the owner, the fence and the event; every write of a turn compares all three.
//
// Two claims are part of other transactions, which saves commits: an event whose queue is free is claimed with its
// acceptance (AcceptClaim), and a new post to an idle destination with the end of its turn (core.Handover). A post that
// needs nothing before it is sent is in doubt from its claim on.
//
// # Who is alive
//
// A process holds its claims until it ends or releases them. No claim runs out: each process that claims beats every
// second, in its row of the table owners, and looks at the others' rows. A process that is silent during several beats
// of another one is taken for dead, and its claims are released (Beat). That compares counts and no clocks. A claim
// whose answer was lost, so that its process does not know of it, is found and released at the next claim (claimed).
//
// # Times and texts
//
// What is delayed (queues and events, destinations and outbox, leases) is stored with its delay, so that it can be told
// when that began. If that is still to come, the clock was set back, and the delay is over: nothing waits longer than
// it was to wait. Deadlines, reminders and lifetimes are times of the calendar and stay.
//
// Times are nanoseconds since 1970. 0 is no time; a null ready_at means "never". They come from the store's own clock
// (Tx.Now) or the database's (Traits.Clock). JSON is kept as text, so it comes back byte for byte. Zero bytes and
// broken UTF-8, which a database text can't hold, are replaced in free text. In keys they are left alone,
// and the engine may refuse them.
//
// # Images
//
// A message's row holds an image's digest, media type and size; its bytes are a blob, stored once, whoever sent them. A
// blob is committed before a message refers to it, so it is kept while an unfinished event came with it (event_blobs)
// or a message refers to it (message_blobs, which goes with the message's row). Until event_blobs.at it is kept in any
// case: an upload is there before its message (PutBlobFor). DeleteSession removes what only that session had, Prune
// what ended events left.
//
// # Decision: one SQL over an Engine, no dialect layer (2026-11-22)
//
// Two separate stores shared 64 % of their lines. Each new feature was written, reviewed and tested twice, and the two
// drifted apart. SQLite accepts $1 placeholders, RETURNING, ON CONFLICT and string_agg as Postgres does, so the same
// SQL text works on both. SQLite numbers parameters by first appearance, so every statement must number them in the
// order in which they appear (a test of package sqlite checks this). The real differences are in Engine: how a
// transaction runs, row locks and the clock, and which queues a claim finds (arrays and SKIP LOCKED, or one query per
// scope). Rejected: a dialect layer that rewrites or assembles SQL, since the SQL that is sent could not be read in the
// source; an interface with all methods per engine, which is two stores again; a query builder or ORM.
package sqlstore
