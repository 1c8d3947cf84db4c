// Package sqlite opens a store in one SQLite file, for one machine.
//
//	store, err := sqlite.Open(ctx, "gatehouse.db", sqlite.Options{})
//
// Package internal/sqlstore documents the tables and
// the methods. This package runs transactions, assigns owner names, holds the schema and translates the driver's
// errors.
//
// # One writer
//
// Every change goes through one connection, which one goroutine at a time uses: a caller who finds it free, or else one
// for all who wait. It takes all waiting units of work, opens BEGIN IMMEDIATE, runs the units, commits once and only
// then answers the callers. So many small transactions share one fsync (synchronous=FULL). A unit that nobody waits
// for, which records that a post has arrived, is kept for up to 20 ms while the writer is free, to be committed
// together with the next one. A unit that fails or panics is undone alone: if it had changed something, all units of
// its transaction are undone and run again, now each in its own SAVEPOINT. Both connections are used without
// database/sql, which would cost more than most statements. If SQLite gives up the whole transaction, or the commit
// fails, all of its units fail and nothing is stored. If a caller's context ends before its unit has begun, the unit is
// withdrawn; a unit that has begun is finished and answered. Readers have their own connections, and each read sees one
// snapshot; with WAL, readers and the writer do not block each other. Several processes may use one file: their writers
// take turns at BEGIN IMMEDIATE and wait a few seconds for it. So there are no row locks, and event numbers follow the
// commits.
//
// # Owners
//
// Register takes the first free lock on DATABASE.INSTANCE-0.lock, -1 and so on, and holds it until Close. The system
// drops the lock when the process dies. So a process that gets the lock knows that the last owner of that name is dead,
// and releases what it held. Other processes on the file find out by its silence (sqlstore's Beat).
//
// # What may happen twice
//
// An event that is accepted twice is stored once. A turn may be claimed twice (see Attempt) and is finished once. An
// outbox row may be claimed twice; its parts say what may have been sent.
//
// # Deleted data
//
// What is deleted is overwritten (secure_delete). After a prune and after the deletion of a session, free pages are
// given back to the system in steps (auto_vacuum=incremental, which a file has from its creation), and the write-ahead
// log is emptied.
//
// # The file
//
// A file that is missing, empty or has no tables, beside the write-ahead log of another one, is refused. Before each
// commit the writer checks that the file and its log are still the ones that were opened. Otherwise a commit could
// succeed and be lost with the removed file or, when the process ends, with the removed log. If only the log is
// missing, what it holds is moved into the file.
//
// A reader that reads for long keeps the log from being begun again. From 256 MiB on that is warned of; once nobody
// reads, the next commits empty the log and cut it to 32 MiB.
//
// # Times
//
// All times are by the clock in Options. Statements never ask the database for the time.
package sqlite
