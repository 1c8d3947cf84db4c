package core

import "time"

// Figures are numbers of a whole database, for those who watch it: each process on it reports the same ones.
type Figures struct {
	Waiting       int       // events that have not ended, those that run among them
	OldestWaiting time.Time // when the oldest of them arrived; zero: there is none
	Unsent        int       // posts that wait
	OldestUnsent  time.Time // when the oldest of them was added; zero: there is none
	Doubtful      int       // those of them of which the platform is asked whether they have arrived
	Unknown       int       // posts of which nobody knows whether they have arrived
	DeadPosts     int       // posts that were given up
	DeadLetters   int       // events that were given up
	Approvals     int       // open ones
	AuditHead     int64     // entries of the audit log
	Bytes         int64     // of the database
	LogBytes      int64     // of its log of writes; 0: it has none of its own
}

// ClosedApproval is how an approval was closed, and how long it had been open.
type ClosedApproval struct {
	Result ApprovalState
	Open   time.Duration
}
