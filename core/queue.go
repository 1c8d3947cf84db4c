package core

import (
	"fmt"
	"slices"
	"time"
)

// Scope is what a process serves: a platform or, if Conversations is not nil, only these conversations of it.
type Scope struct {
	Platform      string
	Conversations []ConversationID
}

// ClaimRequest requests at most Limit ready queues: those of conversations or, with Controls, those of clicks and
// controls, which a dispatcher runs in slots of their own, so that no turn delays them. Of the conversations it
// requests, with Suspects, those whose next event is a suspect (two processes or more died while they ran it), and
// otherwise the others. Attempts, if not 0, leaves queues unclaimed whose next event would be at a later attempt than
// that: an attempt counts from its claim on.
type ClaimRequest struct {
	Owner    string
	Limit    int
	Scopes   []Scope
	Controls bool
	Suspects bool
	Attempts int
	Room     Room // nil: all events fit
}

// Room says for which events a process has memory. The others are left unclaimed. It may be asked for an event again.
type Room interface {
	// Admits is asked for an event whose payload has so many bytes; that itself may be left out.
	Admits(e EventRecord, payload int64) bool
}

// Claim is a queue that an owner holds for as long as it lives, and the event to process. Fence is incremented by each
// claim of the queue; every write of a turn is compared with it.
type Claim struct {
	Owner   string
	Key     QueueKey
	Fence   int64
	Event   EventRecord
	Session SessionID      // the conversation's, in its current generation
	Loaded  *LoadedSession // the session, if the store has read it with the claim; nil: LoadSession reads it
}

// LoadedSession is what LoadSession would have returned to the turn of a message when it was claimed, if the store has
// read it then. A nil Record means that there was no session. If messages are added to it before the turn's Finish,
// that fails with session_write_conflict.
type LoadedSession struct{ Record *SessionRecord }

// Hold is a queue that an owner holds: the event of its turn, and whether that turn was requested to stop. Deleted: by
// the deletion of its message, so that nothing of it is posted.
type Hold struct {
	Key     QueueKey
	Event   int64
	Fence   int64
	Stop    bool
	Deleted bool
}

// EventFilter narrows a listing of events; the zero filter lists all.
type EventFilter struct {
	Ends         []EndKind // nil = all
	Waiting      bool      // only those without an end
	Platform     string
	ID           string // with Platform: the event of that id
	Conversation ConversationID
	Session      SessionID
	Invocation   InvocationID
	Seq          int64
	Kinds        []Kind // nil = all
	Before       string // with Platform: those that came before the event of that id
	Bare         bool   // without payloads, each of which may be as large as a message
	Limit        int
}

// QueueEntry is a queue with waiting events.
type QueueEntry struct {
	Key      QueueKey
	Platform string
	Waiting  int
	Oldest   time.Time
	Owner    string    // "" = not held
	ReadyAt  time.Time // the end of its next event's delay; zero: no delay
}

// QueueView counts the waiting events and posts.
type QueueView struct {
	Paused    bool
	Entries   []QueueEntry
	Queues    int // with waiting or running events; Entries may be the first of them
	Posts     int // outbox rows that wait
	InDoubt   int // unknown rows
	DeadPosts int
	Dead      int // dead letters
	Approvals int // open
}

// Figures are numbers of a whole database, for those who watch it: each process on it reports the same ones.
type Figures struct {
	Waiting       int       // events that have not ended, those that run among them
	OldestWaiting time.Time // when the oldest of those that do not run arrived; zero: there is none
	Unsent        int       // posts that wait
	OldestUnsent  time.Time // when the oldest of them was added; zero: there is none
	Doubtful      int       // those of them of which the platform is asked whether they have arrived
	Unknown       int       // posts of which nobody knows whether they have arrived
	DeadPosts     int       // posts that were given up
	DeadLetters   int       // events that were given up
	Approvals     int       // open ones

	OldestApproval time.Time // when the oldest of them was opened; zero: there is none

	AuditHead int64 // entries of the audit log
	Bytes     int64 // of the database
	LogBytes  int64 // of its log of writes; 0: it has none of its own
}

// ClosedApproval is how an approval was closed, and how long it had been open.
type ClosedApproval struct {
	Result ApprovalState
	Open   time.Duration
}

// StopResult is the result of a request to stop a conversation.
type StopResult struct {
	Running   bool  // a turn runs and is going to stop
	Withdrawn int64 // the event that waited for a retry and is now withdrawn; 0 = none
}

// Task is work that is due at a time. Key is unique; Kind selects the handler; Subject is what the task is for.
type Task struct {
	Key     string
	Kind    string
	Subject string
	Due     time.Time
}

// The kinds of tasks of an open approval; their subject is its id. Those of its reminders are told apart by their keys.
const (
	TaskExpire   = "expire"
	TaskRemind   = "remind"
	TaskEscalate = "escalate"
)

// Tasks are the tasks of an approval: at its deadline, at its reminders, and when it is escalated. All of them end with
// its decision. Where the rule's hours move reminders to one moment, it is reminded of once, and what they move to the
// deadline or beyond is no task.
func (a Approval) Tasks() []Task {
	id := string(a.ID)
	var all []Task
	if !a.Deadline.IsZero() {
		all = append(all, Task{Key: TaskExpire + "/" + id, Kind: TaskExpire, Subject: id, Due: a.Deadline})
	}
	for i, after := range a.Rule.Remind {
		due := a.Rule.due(a.CreatedAt, after)
		if a.ends(due) || i+1 < len(a.Rule.Remind) && due.Equal(a.Rule.due(a.CreatedAt, a.Rule.Remind[i+1])) {
			continue
		}
		key := fmt.Sprintf("%s/%s/%d", TaskRemind, id, i+1)
		all = append(all, Task{Key: key, Kind: TaskRemind, Subject: id, Due: due})
	}
	if after := a.Rule.Escalate.After; after > 0 {
		if due := a.Rule.due(a.CreatedAt, after); !a.ends(due) {
			all = append(all, Task{Key: TaskEscalate + "/" + id, Kind: TaskEscalate, Subject: id, Due: due})
		}
	}
	return all
}

// ends reports whether the deadline is not after a moment.
func (a Approval) ends(by time.Time) bool { return !a.Deadline.IsZero() && !by.Before(a.Deadline) }

// Overtaken reports whether a task is a reminder of the approval, and a later reminder was due by then: after a
// downtime only the latest is posted.
func (a Approval) Overtaken(key string, by time.Time) bool {
	tasks := slices.DeleteFunc(a.Tasks(), func(t Task) bool { return t.Kind != TaskRemind })
	i := slices.IndexFunc(tasks, func(t Task) bool { return t.Key == key })
	return i >= 0 && slices.ContainsFunc(tasks, func(t Task) bool {
		return t.Due.After(tasks[i].Due) && !t.Due.After(by)
	})
}

// RestoreMark is what a copy of a database carries: whoever serves it next does not know what was decided, run or sent
// since the copy was made, and settles that first.
type RestoreMark struct {
	Taken   time.Time `json:"taken,omitzero"`     // when the copy was made; zero: not known
	CatchUp bool      `json:"catch_up,omitempty"` // what arrived since is fetched from the platforms

	// Step and After are how far the settling is; they are the store's.
	Step  int   `json:"step,omitempty"`
	After int64 `json:"after,omitempty"`

	Settled Settled `json:"settled,omitzero"` // so far
}

// Settled counts what a restore has ended.
type Settled struct {
	Approvals int `json:"approvals,omitempty"` // cancelled: what became of them is unknown
	Events    int `json:"events,omitempty"`    // dead letters
	Posts     int `json:"posts,omitempty"`     // in doubt
}

// Restored is the last restore of a database that was settled.
type Restored struct {
	RestoreMark
	At time.Time `json:"at"` // when it was settled
}
