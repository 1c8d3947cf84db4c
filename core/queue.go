package core

import "time"

// Scope is what a process serves: a platform, and where Conversations is not nil only these conversations of it.
type Scope struct {
	Platform      string
	Conversations []ConversationID
}

// ClaimRequest asks for at most Limit queues with something to do: those of conversations, or with Controls those of clicks and
// controls, which a dispatcher takes in slots of their own so that no turn can hold them up.
type ClaimRequest struct {
	Owner    string
	Limit    int
	Lease    time.Duration
	Scopes   []Scope
	Controls bool
}

// Claim is a queue held by an owner for the length of a lease, and the event to take. Fence rises with each claim of the queue;
// every write of a turn is compared with it.
type Claim struct {
	Owner   string
	Key     QueueKey
	Fence   int64
	Event   EventRecord
	Session SessionID // the conversation's, in its generation of now
}

// EventFilter narrows a listing of events; the zero filter lists all.
type EventFilter struct {
	Ends         []EndKind // nil = all
	Waiting      bool      // only those without an end
	Platform     string
	Conversation ConversationID
	Session      SessionID
	Invocation   InvocationID
	Seq          int64
	Limit        int
}

// QueueEntry is a queue with something to do.
type QueueEntry struct {
	Key        QueueKey
	Platform   string
	Waiting    int
	Oldest     time.Time
	Owner      string // "" = not held
	LeaseUntil time.Time
	ReadyAt    time.Time
}

// QueueView counts what waits.
type QueueView struct {
	Paused    bool
	Entries   []QueueEntry
	Posts     int // outbox rows that wait
	InDoubt   int // unknown rows
	DeadPosts int
	Dead      int // dead letters
	Approvals int // open
}

// StopResult is the result of asking a conversation to stop.
type StopResult struct {
	Running   bool  // a turn runs and was asked to stop
	Withdrawn int64 // the event that was backing off and is now withdrawn; 0 = none
}

// Task is something that falls due. Key is unique; Kind says which handler runs it; Subject says what it is about.
type Task struct {
	Key     string
	Kind    string
	Subject string
	Due     time.Time
}

// TaskExpire is the kind of task that an approval's deadline makes; its subject is the approval's id.
const TaskExpire = "expire"
