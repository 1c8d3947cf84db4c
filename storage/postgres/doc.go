// Package postgres opens a store in a Postgres database, for any number of processes on any machines, which share nothing else:
// durability, replication, locks, uniqueness and the clock are the database's. What is kept, and every method, is in internal/sqlstore;
// this package is how transactions run and lock, what a claim finds, the schema, and what the server's errors mean.
//
// # Transactions and locks
//
// Every method is one transaction (READ COMMITTED) on explicit row locks, in the order that sqlstore says. The locks of queues and
// destinations are rows that are added where there are none; rate_limits is the lock of a rate-limited name. Numbers of events follow
// the commits within a queue; between queues they may differ by what was under way at once.
//
// Claims pass over rows that somebody has locked (SKIP LOCKED), and lock no more than they may take. ready_at is computed by a
// statement after the lock; so what comes in beside a claim is seen by it or by the next look.
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
// to leave: an event is known by its id (Accept, Retry); a queue or a post that was claimed for nobody comes back when its lease is
// over (Claim, ClaimPosts, ClaimTasks; the claim counts as an attempt that died); a turn's end, a release or a delivery's end that
// was stored makes the repeat fail with lease_lost, and what is stored stands (Finish, Release, ReleasePost); a save replaces its
// own rows (SaveSession, SavePost, AddPosts); copies whose key is known stay as they are (AddCopies); an intent that may have been
// stored is not run, and the next attempt finds it and reports the outcome as unknown (BeginIntent); the first result stands
// (FinishIntent); a vote is known by its click, any other second decision finds the first (Decide); the rest sets a state (Renew, Stop,
// SetPaused, Drop, DropPost, Resend, DeleteSession, AddTask, EndTask, Prune, PutIfAbsent, Put, PutFor, AcquireLease). Only AddNote can be
// there twice, as the world outside would have it, and a use that TakeToken counts: then too few are made, never too many.
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
// Texts are stored as they are. A zero byte or broken UTF-8, which a text can't hold, is refused (invalid) in keys; in free text
// sqlstore has replaced it.
//
// gatehouse_version says which migrations are done, gatehouse_migrating is the lock of who does them.
package postgres
