// Package postgres opens a store in a Postgres database, for any number of processes on any machines.
//
//	store, err := postgres.Open(ctx, "postgres://gatehouse@db.example/gatehouse", postgres.Options{})
//
// They share nothing but the database: it provides durability, replication, locks, uniqueness and the clock. Package
// internal/sqlstore documents the tables and the methods. This package runs transactions, locks rows, finds what can be
// claimed, holds the schema and translates the server's errors.
//
// # Transactions and locks
//
// Every method is one transaction (READ COMMITTED) with explicit row locks, in the order that sqlstore documents.
// Queues and destinations are locked by their rows, which are added if missing; a rate-limited name is locked by its
// row in rate_limits. Event numbers follow the commits within a queue. Between queues they may differ from the order of
// concurrent commits.
//
// Claims skip locked rows (SKIP LOCKED), and lock no more rows than they may take. ready_at is computed by a statement
// after the lock, so an event that arrives during a claim is seen by that claim or by the next one.
//
// A deadlock or a serialization failure undoes the whole transaction. It is repeated a few times, then reported as
// store_busy. A wait for a lock fails with store_busy after some seconds. A process that hangs in a transaction loses
// its connection and so its locks.
//
// # Round trips
//
// A round trip costs the server about as much as a short statement, so statements share them: begin is sent with the
// first statement of a transaction, commit with the last ones, and what nobody needs the result of yet (sqlstore's
// Tx.Do, Tx.ask) with the next one that is waited for. So it takes two round trips to accept and claim an event, two to
// end its turn, and one to release its post. The server runs them in order, each with what was committed before it
// began, so the rules about locks hold as if they were sent one by one. It stops at the first that fails. A transaction
// without a statement is never begun.
//
// # Prepared statements
//
// Each connection prepares a statement when it first needs it. To plan a statement costs several times what it costs to
// run it. Its plan is the one for any arguments (plan_cache_mode), and made from the indexes even where a table is
// small (enable_seqscan off): a plan that was made for empty tables is kept while they grow. TestContract checks these
// plans. If another process migrates the schema, the server refuses what was prepared before; the transaction is
// repeated and prepares it anew.
//
// A pooler in transaction mode may send a transaction to a connection where a statement was not prepared (SQLSTATE
// 26000), or was prepared already by somebody else (42P05; the names are digests of the statements, so it is never a
// different one). Nothing is committed then. The process makes new connections that prepare nothing
// (QueryExecModeExec), repeats the transaction, and warns once. So a pooler works without configuration, and one that
// keeps prepared statements is as fast as none. Rejected: a probe at the start, since it can't know which of a pooler's
// connections it will get; preparing nothing where there is a pooler, since newer ones can. default_query_exec_mode in
// the URL overrides all this.
//
// # Durability
//
// A commit that was answered is on disk, and on a synchronous standby if there is one, whatever the default of the role
// or the database: synchronous_commit is set to on. So are the limits of waits (session in prepare.go). A connection to
// the server has its settings for its life. Where a pooler is between, each transaction sets them, and the server
// chooses the plans of what is prepared: a pooler is known by the process number that it tells, which is not that of
// the server's process.
//
// # Standbys
//
// A connection to a server that is a standby is not used, not even to read: what it answers may be old. The next host
// of the URL is tried, and the next address of its name (primary). A server that turns out to take no writes later, as
// behind a pooler, has its connections replaced. While there is no primary, all fails with store_busy.
//
// # Lost connections
//
// If the connection is lost before the commit is sent, nothing is stored. If it is lost after that, the outcome is
// unknown: the method fails with store_busy. Every method is then safe to repeat, or not to repeat:
//
//   - Accept, Retry: an event is known by its id.
//   - Claim, ClaimPosts: what was claimed is released by the next claim, and the lost claim does not count as an
//     attempt.
//   - ClaimTasks: what was claimed is returned again after schedule.Options.RetryAfter.
//   - TakeBack: a repeat may take back one attempt too many, so that an event gets one more.
//   - Finish, Release, ReleasePost: if the first call was stored, a repeat fails with lease_lost and changes nothing.
//     ReleasePost of a post that was sent repeats itself so, if the connection was lost.
//   - SaveSession, SavePost, AddPosts: a repeat replaces the same rows.
//   - AddCopies: copies whose key is known stay as they are.
//   - BeginIntent: the tool is not run; the next attempt finds the intent, if it was stored, and reports an unknown
//     outcome.
//   - KeepIntent: a repeat replaces the same row.
//   - FinishIntent: the first result is kept.
//   - Decide: a vote is known by its click; any other second decision finds the first.
//   - Beat, Stop, SetPaused, Drop, DropPost, Resend, DeleteSession, AddTask, EndTask, Prune, PutIfAbsent, Put, PutFor,
//     AcquireLease, KeepBlob: each sets a state.
//   - AddNote: a repeat may add a second note, as a tool with an outside effect would.
//   - TakeToken: a repeat may count a use twice, so too few uses are allowed, never too many.
//
// # Owners
//
// Register makes up a new name: no database can prove that a process on another machine is dead. The other processes
// find out by its silence (sqlstore's Beat).
//
// # Requirements on the server
//
// The package uses no advisory locks, temporary tables, cursors or LISTEN, and behind a pooler neither settings nor, if
// it does not keep them, prepared statements that outlive a transaction. So it works behind a pooler in transaction
// mode, and with other engines that speak Postgres's protocol, if their catalog tells of columns, constraints and
// indexes what Postgres's does: the fingerprint of the schema is made from it (migration.Set).
//
// LISTEN and NOTIFY are not needed: a dispatcher polls every half second anyway with one index lookup, and a process
// claims at once what it accepted itself.
//
// Texts are stored unchanged. Zero bytes and broken UTF-8, which a text can't hold, are refused (invalid) in keys;
// sqlstore replaces them in free text.
//
// The table gatehouse_version holds the migrations that are done; gatehouse_migrating is the lock of the process that
// migrates.
package postgres
