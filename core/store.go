package core

import (
	"context"
	"encoding/json"
	"time"
)

// Store is everything that gatehouse keeps. Each method is one transaction: it takes all that must change together and commits
// durably before it returns, or changes nothing. Methods of several processes interleave in any order; a crash between any two
// calls loses nothing (storagetest states the contract and proves it).
//
// Errors are *Error: store_busy, store_full, store_unreadable, not_found, lease_lost where a Claim's fence is no longer the
// conversation's (then nothing was written and another holder owns the conversation), and internal.
//
// Time is the store's own: callers give durations and read timestamps, so that replicas need no common clock. A duration of zero
// or less is over at once.
type Store interface {
	Inbox
	Turns
	Sessions
	Intents
	Approvals
	Outbox
	Schedule
	Admin
	Notebook
	KV
	Close() error
}

// Inbox takes events in.
type Inbox interface {
	// Accept stores the event unless its (platform, id) is known, and makes its conversation ready. Seq follows the order of commits within
	// a conversation; between conversations it does as far as one commit came before the next call. A FollowUp is stored only where its conversation has
	// had an event before; an amendment is settled at once, see Amendment.
	Accept(ctx context.Context, e Event) (Receipt, error)
}

// Scope is what a process serves: a platform, and where Conversations is not nil only these conversations of it.
type Scope struct {
	Platform      string
	Conversations []ConversationID
}

// ClaimRequest asks for at most Limit conversations with something to do: conversations, or with Beside the queues of clicks and controls,
// which a dispatcher takes in slots of their own so that no turn can hold them up.
type ClaimRequest struct {
	Owner    string
	Limit    int
	Lease    time.Duration
	Scopes   []Scope
	Controls bool
}

// Claim is a conversation held by an owner for the length of a lease, and the event to take. Fence rises with each claim of the conversation;
// every write of a turn is compared with it.
type Claim struct {
	Owner   string
	Key     QueueKey
	Fence   int64
	Event   EventRecord
	Session SessionID // the conversation's, in its generation of now
}

// Turns is the life of a turn: claimed, renewed, finished or handed back.
type Turns interface {
	// Register gives this process an owner name that no living process has. Where the store can prove that an earlier holder of
	// the name is dead (a lock on one machine), its leases are released at once; elsewhere they run out.
	Register(ctx context.Context, instance string) (owner string, err error)
	// Claim takes conversations that are ready: not leased, with a signal that is due, or else a first message or reset that is due.
	// Signals come before messages; messages in order of arrival, a backing-off one holds up those behind it. The event's
	// Attempt is raised. While paused (Admin.SetPaused) no
	// conversation is given out.
	Claim(ctx context.Context, r ClaimRequest) ([]Claim, error)
	// Renew makes the lease last from now.
	Renew(ctx context.Context, c Claim, lease time.Duration) error
	// StopRequested reports whether somebody asked the conversation's turn to stop.
	StopRequested(ctx context.Context, c Claim) (bool, error)
	// Release gives the event back untouched, its Attempt taken back: a graceful stop of the process.
	Release(ctx context.Context, c Claim) error
	// Finish ends the turn: all of it, or nothing.
	Finish(ctx context.Context, f Finish) error
}

// Finish is everything that a turn changed. With Retry nothing but the wait is kept and all other fields are empty.
type Finish struct {
	Claim         Claim
	End           End
	Retry         *Retry
	Session       *SessionRecord // saved: new message rows, and the other fields
	Paused        *PausedRecord  // stored
	Resumed       InvocationID   // the paused record that this turn took up; it is removed
	Approval      *Approval      // opened together with Paused; one that is decided already (by rule) stores its signal too
	Abandoned     []Abandon      // paused invocations that end short of END
	NewGeneration bool           // the conversation's next turn has a new session
	Posts         []Post         // into the outbox
	PressedCard   *PressedCard   // a card that is known to be there now: where its row is in doubt, it is so no more, and is redrawn
	Pressed       []string       // keys of posts whose button led to this: they are redrawn without it

	Evidence json.RawMessage // what the invocation did so far, as a join check's input; it replaces what an earlier leg left. Nil: none
}

// Retry puts the event back: it is due again After, its Attempt is taken back and its Retries are raised.
type Retry struct {
	After    time.Duration
	Category Category
	Cause    string
}

// Closure ends a paused invocation that will not be resumed: its record is removed, signals that wait for it are withdrawn, Rows
// (typed error results for the calls still open) are appended to its session under its own keys. With Cancel its approval, where
// open or decided but not begun, becomes cancelled and its card is redrawn.
type Abandon struct {
	Invocation InvocationID
	Rows       []Message
	Cancel     bool
	Reason     string
	By         Actor
}

// Conversations is what a turn reads and, explicitly, writes before its end.
type Sessions interface {
	// LoadSession gives nil, nil where there is no record. Messages of w.Invocation from w.From on are left out: they are an
	// earlier attempt's. It reads no message rows; the History does, when asked.
	LoadSession(ctx context.Context, id SessionID, w Writer) (*SessionRecord, error)
	// SaveSession commits at once, fenced: a mid-invoke save. rec.Version and the timestamps are set.
	SaveSession(ctx context.Context, c Claim, rec *SessionRecord) error
	// LoadPaused gives the paused record of an invocation or, where that is empty, of a signal; nil, nil where none waits.
	LoadPaused(ctx context.Context, id InvocationID, signal SignalID) (*PausedRecord, error)
	// InvocationMessages gives the message rows of one invocation in their order.
	InvocationMessages(ctx context.Context, s SessionID, id InvocationID) ([]Message, error)
	// ListSessions gives summaries, latest change first.
	ListSessions(ctx context.Context, f SessionFilter) ([]SessionSummary, error)
	// DeleteSession removes a session's record, messages, evidence and paused invocations; deleting what is absent succeeds. It is
	// refused (invalid) while a turn of the session runs.
	DeleteSession(ctx context.Context, id SessionID) error
}

// Intent says that a tool is about to run: committed before it does.
type Intent struct {
	Approval   ApprovalID
	Invocation InvocationID
	Tool       string
	Digest     string
}

// ToolResult is what a tool call came to: content for the model, and a category where it failed.
type ToolResult struct {
	Content  string
	Category Category // "" = it succeeded
}

// IntentRecord is an intent and, once it is known, its result. Fresh: this call of BeginIntent made it.
type IntentRecord struct {
	Intent
	Fresh   bool
	Result  *ToolResult
	BegunAt time.Time
	EndedAt time.Time
}

// Intents is the executor's ledger, keyed by approval; and what whole turns did, keyed by invocation.
type Intents interface {
	// BeginIntent commits the intent, fenced, and marks the approval begun; where there is one already it is given instead and
	// nothing changes. It is refused (approval_missing) unless the approval is approved.
	BeginIntent(ctx context.Context, c Claim, i Intent) (IntentRecord, error)
	// FinishIntent commits the result, fenced; the first one stands.
	FinishIntent(ctx context.Context, c Claim, id ApprovalID, r ToolResult) error
	// LoadIntent gives nil, nil where there is none.
	LoadIntent(ctx context.Context, id ApprovalID) (*IntentRecord, error)
	// LoadEvidence gives what the invocation's last Finish with Evidence left; nil, nil where there is none.
	LoadEvidence(ctx context.Context, id InvocationID) (json.RawMessage, error)
}

// ApprovalFilter narrows a listing; the zero filter lists all.
type ApprovalFilter struct {
	States       []ApprovalState
	Session      SessionID
	Conversation ConversationID
	Invocation   InvocationID
	Limit        int
}

// Approvals is the desk's drawer.
type Approvals interface {
	// LoadApproval fails with not_found where there is none.
	LoadApproval(ctx context.Context, id ApprovalID) (Approval, error)
	// ListApprovals gives them latest first.
	ListApprovals(ctx context.Context, f ApprovalFilter) ([]Approval, error)
	// Decide applies Approval.Decide to the stored approval and commits what came of it: the vote, audit entries, and where the
	// approval left Open the signal event in its conversation's conversation and the card's new version. First wins. Errors are those
	// of Approval.Decide; the Decided that comes with them is the approval as it stands. An expiry is put off (store_busy) while
	// a click that was accepted before the deadline still waits.
	Decide(ctx context.Context, d Decision) (Decided, error)
	// AuditLog gives entries after seq, in order.
	AuditLog(ctx context.Context, after int64, limit int) ([]AuditEntry, error)
}

// PostRequest asks for at most Limit outbox rows to deliver: at most one a destination, in order.
type PostRequest struct {
	Owner  string
	Limit  int
	Lease  time.Duration
	Scopes []Scope
}

// Outbox is what is to be said.
type Outbox interface {
	// Say adds or changes posts outside a Finish, fenced: the working state, an answer to a control.
	AddPosts(ctx context.Context, c Claim, posts []Post) error
	// ClaimPosts leases rows that are due. A destination with a row in flight, or an earlier row that waits, is left alone; a
	// dead, sent or unknown row holds up nobody. Working states are a destination of their own.
	ClaimPosts(ctx context.Context, r PostRequest) ([]OutboxRow, error)
	// SavePost stores parts, shown version, attempts and cause, fenced by the row; the lease stays.
	SavePost(ctx context.Context, row OutboxRow) error
	// ReleasePost stores the same and the state, and ends the lease: the row is due again after the wait where it still waits,
	// or where its wanted version has risen meanwhile.
	ReleasePost(ctx context.Context, row OutboxRow, wait time.Duration) error
	// Spread adds posts that go with the row, fenced by it; those whose key is known stay as they are.
	AddCopies(ctx context.Context, row OutboxRow, posts []Post) error
	// ListPosts gives rows latest first; states nil = all.
	ListPosts(ctx context.Context, states []RowState, conversation ConversationID, limit int) ([]OutboxRow, error)
}

// Task is something that falls due. Key is unique; Kind says whose it is; Subject says what of.
type Task struct {
	Key     string
	Kind    string
	Subject string
	Due     time.Time
}

// TaskExpire is the kind of task that an approval's deadline makes; its subject is the approval's id.
const TaskExpire = "expire"

// Schedule is what falls due. Opening an approval with a deadline adds its task, leaving Open removes it.
type Schedule interface {
	// AddTask stores a task that is due after the wait, unless its key is known.
	AddTask(ctx context.Context, t Task, wait time.Duration) error
	// ClaimTasks gives tasks that are due and moves each on by the lease, so that a crash brings it back.
	ClaimTasks(ctx context.Context, limit int, lease time.Duration) ([]Task, error)
	// EndTask removes a task or, with a wait above zero, makes it due again after it.
	EndTask(ctx context.Context, key string, wait time.Duration) error
	// Prune removes what ended longer ago than age: events, posts that were sent or put away, decided approvals with their intents, evidence,
	// leases of Hold, uses that Spend counted. What an open approval or a paused invocation needs is spared, and so are dead letters,
	// the audit log and sessions.
	Prune(ctx context.Context, age time.Duration) (removed int, err error)
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

// QueueEntry is a conversation with something to do, as the queue shows it.
type QueueEntry struct {
	Key        QueueKey
	Platform   string
	Waiting    int
	Oldest     time.Time
	Owner      string // "" = nobody holds it
	LeaseUntil time.Time
	ReadyAt    time.Time
}

// QueueView is what waits.
type QueueView struct {
	Paused    bool
	Entries   []QueueEntry
	Posts     int // outbox rows that wait
	InDoubt   int // unknown rows
	DeadPosts int
	Dead      int // dead letters
	Approvals int // open
}

// Stopping is what came of Stop.
type StopResult struct {
	Running   bool  // a turn runs and was asked to stop
	Withdrawn int64 // the event that was backing off and is now withdrawn; 0 = none
}

// Admin is what people at the terminal, and control words, see and move.
type Admin interface {
	// Events gives records latest first.
	Events(ctx context.Context, f EventFilter) ([]EventRecord, error)
	Queue(ctx context.Context) (QueueView, error)
	// SetPaused stops or restarts the taking of turns, in all processes.
	SetPaused(ctx context.Context, paused bool) error
	// Stop asks the conversation's running turn to stop; where none runs, a message that is backing off is withdrawn.
	Stop(ctx context.Context, conversation ConversationID, by Actor) (StopResult, error)
	// Again appends one new event with the same content that names the failed one; a second call gives the first one's receipt.
	// It is refused (invalid) for an event that did not fail, and for a signal whose paused turn has ended.
	Retry(ctx context.Context, seq int64) (Receipt, error)
	// Drop puts a dead letter away; its record stays.
	Drop(ctx context.Context, seq int64) error
	// Resend has a row of the outbox that gave up delivered after all: it waits again, due at once, its attempts are forgotten, and so
	// is a part that is in doubt, which may then stand there twice. A row that waits stays as it is. It is refused (invalid) for one
	// that was sent.
	Resend(ctx context.Context, seq int64) error
	// DropPost puts away a row of the outbox that gave up; its record stays until it is pruned.
	DropPost(ctx context.Context, seq int64) error
}

// Settings are what all processes on a database must agree on.
type KV interface {
	// Keep stores value under name unless there is one already, and gives the one that stands.
	PutIfAbsent(ctx context.Context, name, value string) (kept string, err error)
	// Put stores value under name, in the place of any before; an empty one removes it. A value holds valid UTF-8, MaxSetting bytes
	// at most; any other is refused (invalid). Names are apart from those of Keep, Hold and Spend.
	Put(ctx context.Context, name, value string) error
	// PutFor stores value under name as Put does, for a lifetime: once that is over Get no longer gives it, and Prune removes it
	// whatever the age. A lifetime of zero or less is over at once.
	PutFor(ctx context.Context, name, value string, lifetime time.Duration) error
	// Get gives what Put or PutFor stored under name; "" where there is nothing.
	Get(ctx context.Context, name string) (string, error)
	// Hold makes owner the holder of name for the length of a lease, unless another's lease lasts. A holder that calls again
	// renews: the lease lasts from now. A lease of zero or less lets go of what owner holds. held: whether owner holds it now. An
	// owner without a name is refused (invalid).
	AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (held bool, err error)
	// Spend counts a use of name unless there were limit uses within the window before now; then nothing is counted, and wait is
	// the time until the next one is possible. wait 0: counted. Whoever spends a name gives the same window, since uses that are
	// older are removed. A limit below one is refused (invalid).
	TakeToken(ctx context.Context, name string, limit int, window time.Duration) (wait time.Duration, err error)
}

// Notebook is the note book of the demo agent's tool: the one thing in the world outside that a fresh gatehouse can change. An
// added note is a plain row, without a key: adding twice makes two, as it would be anywhere else.
type Notebook interface {
	AddNote(ctx context.Context, owner, text string) error
	Notes(ctx context.Context, owner string) ([]string, error)
}
