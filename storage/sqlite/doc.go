// Package sqlite opens a store in one SQLite file, for one machine. What is kept, and every method, is in internal/sqlstore; this
// package is how transactions run, how processes are told apart, the schema, and what the driver's errors mean.
//
// # One writer
//
// Every change goes through one goroutine with a connection of its own. It takes all units that wait, opens BEGIN IMMEDIATE, runs
// each in a SAVEPOINT of its own, commits once and only then answers them: many small transactions share one fsync
// (synchronous=FULL). A unit that fails or panics is undone alone. Where SQLite gives the whole transaction up, or the commit
// fails, all of its units fail and nothing of them is stored. A caller who leaves takes a unit back that has not begun; one that
// has begun is finished and answered. Readers have connections of their own, each read in one snapshot; WAL lets both go on side
// by side. Several processes may use one file: their writers take turns at BEGIN IMMEDIATE, with a wait of a few seconds. So there
// are no row locks, and numbers of events follow the commits.
//
// # Owners
//
// Register takes the first free lock on DATABASE.INSTANCE-0.lock, -1 and so on, and holds it until Close. The system drops such a
// lock when a process dies, so whoever gets it knows that the last owner of that name is gone, and releases what it had leased.
//
// # What may come twice
//
// An event that is accepted twice is stored once; a turn may be taken twice (Attempt says so) and finished once; a row of the outbox
// may be claimed twice, its parts say what may have been sent.
//
// # Times
//
// All times are by the clock that Open was given. Statements never ask for the time.
package sqlite
