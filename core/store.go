package core

import (
	"context"
	"time"
)

// The contracts of a database, as the rooms that take turns and deliver posts see it. One store implements them all; what only
// commands and pages need is on that store alone, behind small interfaces of its users.
//
// Each method is one transaction: it takes all that must change together and commits durably before it returns, or changes
// nothing. Methods of several processes interleave in any order; a crash between any two calls loses nothing (storagetest states the
// contract and proves it).
//
// Errors are *Error: store_busy, store_full, store_unreadable, not_found, lease_lost where a Claim's fence is no longer the queue's
// (then nothing was written and another holder owns it), and internal.
//
// Time is the store's own: callers give durations and read timestamps, so that replicas need no common clock. A duration of zero
// or less is over at once.

// Queue takes events in and gives them out, one at a time for each queue key.
type Queue interface {
	// Accept stores the event unless its (platform, id) is known, and makes its queue ready. Seq follows the order of commits within
	// a queue; between queues it does as far as one commit came before the next call. A FollowUp is stored only where its conversation
	// has had an event before; an amendment is settled at once, see Amendment.
	Accept(ctx context.Context, e Event) (Receipt, error)
	// Claim takes queues that are ready: not leased, with a signal that is due, or else a first message or reset that is due. Signals
	// come before messages; messages in order of arrival, and one that is backing off holds up those behind it. The event's Attempt is
	// raised. While taking turns is paused, no conversation is given out.
	Claim(ctx context.Context, r ClaimRequest) ([]Claim, error)
	// Renew makes the lease last from now.
	Renew(ctx context.Context, c Claim, lease time.Duration) error
	// StopRequested reports whether somebody asked the claim's turn to stop.
	StopRequested(ctx context.Context, c Claim) (bool, error)
	// Release gives the event back untouched, its Attempt taken back: a graceful stop of the process.
	Release(ctx context.Context, c Claim) error
	// Finish ends the turn: all of it, or nothing.
	Finish(ctx context.Context, f Finish) error
}

// Sessions is what a turn reads of a conversation's history and, explicitly, writes before its end.
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

// Approvals keeps approvals, and the intents and results of the calls that they allow, keyed by the approval.
type Approvals interface {
	// LoadApproval fails with not_found where there is none.
	LoadApproval(ctx context.Context, id ApprovalID) (Approval, error)
	// ListApprovals gives them latest first.
	ListApprovals(ctx context.Context, f ApprovalFilter) ([]Approval, error)
	// Decide applies Approval.Decide to the stored approval and commits the result: the vote, audit entries, and where the approval
	// left Open the signal event in its conversation's queue and the card's new version. First wins. Errors are those of
	// Approval.Decide; the Decided that comes with them is the approval as it stands. An expiry is put off (store_busy) while a click
	// that was accepted before the deadline still waits.
	Decide(ctx context.Context, d Decision) (Decided, error)
	// BeginIntent commits the intent, fenced, and marks the approval begun; where there is one already it is given instead and
	// nothing changes. It is refused (approval_missing) unless the approval is approved.
	BeginIntent(ctx context.Context, c Claim, i Intent) (IntentRecord, error)
	// FinishIntent commits the result, fenced; the first one stands.
	FinishIntent(ctx context.Context, c Claim, id ApprovalID, r ToolResult) error
	// LoadIntent gives nil, nil where there is none.
	LoadIntent(ctx context.Context, id ApprovalID) (*IntentRecord, error)
}

// Outbox keeps posts until they are delivered.
type Outbox interface {
	// AddPosts adds or changes posts outside a Finish, fenced: the typing indicator, an answer to a control.
	AddPosts(ctx context.Context, c Claim, posts []Post) error
	// ClaimPosts leases rows that are due. A destination with a row in flight, or an earlier row that waits, is left alone; a
	// dead, sent or unknown row holds up nothing. Typing indicators are a destination of their own.
	ClaimPosts(ctx context.Context, r PostRequest) ([]OutboxRow, error)
	// SavePost stores parts, shown version, attempts and cause, fenced by the row; the lease stays.
	SavePost(ctx context.Context, row OutboxRow) error
	// ReleasePost stores the same and the state, and ends the lease: the row is due again after the wait where it still waits,
	// or where its wanted version has risen meanwhile.
	ReleasePost(ctx context.Context, row OutboxRow, wait time.Duration) error
	// AddCopies adds posts that go with the row, fenced by it; those whose key is known stay as they are.
	AddCopies(ctx context.Context, row OutboxRow, posts []Post) error
}

// KV keeps small values that all processes on a database share, and coordinates them. The names of values, of those of PutIfAbsent,
// of leases and of tokens are apart from each other.
type KV interface {
	// PutIfAbsent stores value under name unless there is one already, and gives the one that stands.
	PutIfAbsent(ctx context.Context, name, value string) (kept string, err error)
	// Put stores value under name, in the place of any before; an empty one removes it. A value holds valid UTF-8, MaxValue bytes at
	// most; any other is refused (invalid).
	Put(ctx context.Context, name, value string) error
	// PutFor is Put for a lifetime: once it is over, Get gives "" and the value is removed. It is for secrets that a platform gives for
	// some minutes.
	PutFor(ctx context.Context, name, value string, lifetime time.Duration) error
	// Get gives what Put or PutFor stored under name; "" where there is nothing.
	Get(ctx context.Context, name string) (string, error)
	// AcquireLease makes owner the holder of name for the length of a lease, unless another's lease lasts. A holder that calls again
	// renews: the lease lasts from now. A lease of zero or less ends the one that owner holds. held: whether owner holds it now. An
	// owner without a name is refused (invalid).
	AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (held bool, err error)
	// TakeToken counts a use of name unless there were limit uses within the window before now; then nothing is counted, and wait is
	// the time until the next one is possible. wait 0: counted. All callers give the same window for a name, since uses that are older
	// are removed. A limit below one is refused (invalid).
	TakeToken(ctx context.Context, name string, limit int, window time.Duration) (wait time.Duration, err error)
}
