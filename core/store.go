package core

import (
	"context"
	"time"
	"unicode/utf8"
)

// The interfaces of a database for the packages that run turns and deliver posts. One store implements them all;
// methods that only commands and pages need are on that store alone, behind small interfaces of its users.
//
// Each method is one transaction: it takes everything that must change together, and commits durably before it returns
// or changes nothing. Methods of several processes interleave in any order; a crash between any two calls loses nothing
// (storagetest states the contract and proves it).
//
// Errors are *Error: store_busy, store_full, store_unreadable, not_found, lease_lost if a Claim's fence is no longer
// the queue's (then nothing was written and another holder owns it), and internal.
//
// Time is the store's own: callers give durations and read timestamps, so that replicas need no common clock. A
// duration of zero or less is over at once.

// Queue stores events and hands them to workers, one at a time for each queue key.
type Queue interface {
	// Accept stores the event unless its (platform, id) is known, and makes its queue ready. Seq follows the order of
	// commits within a queue; between queues it does if one commit came before the next call. A FollowUp is stored only
	// if its conversation has had an event before; an amendment is applied at once, see Amendment.
	Accept(ctx context.Context, e Event) (Receipt, error)
	// Claim takes queues that are ready: not held, with a signal that is due, or else a first message or reset that is
	// due. Signals come before messages; messages come in order of arrival, and one in backoff delays those after it.
	// Between conversations, people take turns: one person's many messages come after another's few. The event's
	// Attempt is incremented. While turns are paused, no conversation is claimed. What is claimed is held until it is
	// ended or released, or its owner dies.
	Claim(ctx context.Context, r ClaimRequest) ([]Claim, error)
	// Holds returns all queues that owner holds, or with stops only those whose turns were requested to stop. A claim
	// that is missing among all of them is lost.
	Holds(ctx context.Context, owner string, stops bool) ([]Hold, error)
	// StopRequested returns the claim's queue, which says whether its turn was requested to stop.
	StopRequested(ctx context.Context, c Claim) (Hold, error)
	// KeepFetched commits, fenced, the message that an event was read as; see Input.Fetched. An amendment of the event
	// forgets it.
	KeepFetched(ctx context.Context, c Claim, m Message) error
	// Release gives the event back unchanged, its Attempt decremented: a graceful stop of the process.
	Release(ctx context.Context, c Claim) error
	// Finish ends the turn: all of it, or nothing. It may claim posts of the turn for delivery; see Handover.
	Finish(ctx context.Context, f Finish) error
}

// Sessions are the reads of conversation histories, and the saves before a turn's end.
type Sessions interface {
	// LoadSession returns nil, nil if there is no record. Messages of w.Invocation from w.From on are left out: they
	// are an earlier attempt's. It reads no message rows; the History does, when asked.
	LoadSession(ctx context.Context, id SessionID, w Writer) (*SessionRecord, error)
	// SaveSession commits at once, fenced: a mid-invoke save. rec.Version and the timestamps are set.
	SaveSession(ctx context.Context, c Claim, rec *SessionRecord) error
	// LoadPaused returns the paused record of an invocation or, if that is empty, of a signal; nil, nil if there is
	// none.
	LoadPaused(ctx context.Context, id InvocationID, signal SignalID) (*PausedRecord, error)
	// InvocationMessages gives the message rows of one invocation in their order.
	InvocationMessages(ctx context.Context, s SessionID, id InvocationID) ([]Message, error)
	// ListSessions gives summaries, latest change first.
	ListSessions(ctx context.Context, f SessionFilter) ([]SessionSummary, error)
	// DeleteSession removes a session's record, messages, mail, evidence and paused invocations, and erases the texts
	// of its ended events, of its posts that do not wait, and of its approvals and their results; deleting a missing
	// one succeeds. It is refused (invalid) while a turn of the session runs.
	DeleteSession(ctx context.Context, id SessionID) error
}

// Approvals stores approvals, and the intents and results of the calls that they allow, keyed by the approval.
type Approvals interface {
	// Recorded returns an approval and, of an approved one, the intent of its call, as the audit log records them; nil
	// if there is none. What is told of an approval is told of what Recorded returns. Errors: not_found;
	// approval_mismatch, if the log contradicts what is stored, and unsupported, if that can't be told: then the
	// approval has no more than what the log does not contradict. Both have a message for people.
	Recorded(ctx context.Context, id ApprovalID) (Approval, *IntentRecord, error)
	// LoadApproval returns an approval as it is stored, to decide about it; it fails with not_found if there is none.
	LoadApproval(ctx context.Context, id ApprovalID) (Approval, error)
	// ListApprovals gives them latest first.
	ListApprovals(ctx context.Context, f ApprovalFilter) ([]Approval, error)
	// Decide applies Approval.Decide to the stored approval and commits the result: the vote, audit entries and, if the
	// approval is no longer Open, the signal event in its conversation's queue and the card's new version. The first
	// decision wins. Errors are those of Approval.Decide; the Decided that comes with them is the unchanged approval.
	// An expiry is delayed (store_busy) while a click that was accepted before the deadline still waits.
	Decide(ctx context.Context, d Decision) (Decided, error)
	// BeginIntent commits the intent, fenced, marks the approval begun and redraws its cards; if there is one already,
	// such as that of a call whose turn ended without it, it is returned and nothing changes. It is refused
	// (approval_missing) unless the approval is approved.
	BeginIntent(ctx context.Context, c Claim, i Intent) (IntentRecord, error)
	// FinishIntent commits the result, fenced, and redraws the approval's cards; only the first one is stored.
	FinishIntent(ctx context.Context, c Claim, id ApprovalID, r ToolResult) error
}

// Outbox stores posts until they are delivered.
type Outbox interface {
	// AddPosts adds or changes posts outside a Finish, fenced: the typing indicator, an answer to a control.
	AddPosts(ctx context.Context, c Claim, posts []Post) error
	// ClaimPosts takes rows that are due, for as long as the owner lives. A destination with a row in flight, or an
	// earlier row that waits, is skipped; a dead, sent or unknown row delays nothing. Typing indicators are a
	// destination of their own. A row that needs nothing before it is sent is stored with its first part in doubt; see
	// OutboxRow.Doubted.
	ClaimPosts(ctx context.Context, r PostRequest) ([]OutboxRow, error)
	// SavePost stores parts, shown version, attempts and cause, fenced by the row; the row stays in flight. The first
	// part of a card that has arrived is an entry of the audit log.
	SavePost(ctx context.Context, row OutboxRow) error
	// ReleasePost stores the same and the state, and ends the flight: the row is due again after the wait if it still
	// waits, or at once if its wanted version was incremented during the flight. more: the destination may have a post
	// to deliver.
	ReleasePost(ctx context.Context, row OutboxRow, wait time.Duration) (more bool, err error)
	// FailPost is ReleasePost for a post that did not arrive. It stores what people are told instead, too; repeating it
	// tells nothing twice.
	FailPost(ctx context.Context, row OutboxRow, wait time.Duration, f Fallback) error
	// AddCopies is SavePost that also adds posts which go with the row, such as copies of its card; those with a known
	// key are not changed. If approvers were left out, the card says so and is not quiet; it is not due again for
	// that.
	AddCopies(ctx context.Context, row OutboxRow, c Copies) error
	// LoadPost returns the row with a key; it fails with not_found if there is none.
	LoadPost(ctx context.Context, key string) (OutboxRow, error)
	// MovePart replaces the reference of a part by another one. Nothing changes, and moved is false, if the part does
	// not have the first one, or while the row is delivered.
	MovePart(ctx context.Context, key string, part int, from, to Ref) (moved bool, err error)
}

// KV keeps small values that all processes on a database share, and coordinates them. Values, values of PutIfAbsent,
// leases and tokens have separate names.
type KV interface {
	// PutIfAbsent stores value under name unless there is one already, and returns the stored one.
	PutIfAbsent(ctx context.Context, name, value string) (kept string, err error)
	// Put stores value under name and replaces an earlier one; an empty one removes it. A value holds valid UTF-8,
	// MaxValue bytes at most; any other is refused (invalid).
	Put(ctx context.Context, name, value string) error
	// PutFor is Put for a lifetime: once it is over, Get returns "" and the value is removed. It is for secrets that a
	// platform issues for some minutes.
	PutFor(ctx context.Context, name, value string, lifetime time.Duration) error
	// Get returns what Put or PutFor stored under name; "" if there is nothing.
	Get(ctx context.Context, name string) (string, error)
	// AcquireLease makes owner the holder of name for the length of a lease, unless another owner holds it. A holder
	// that calls again renews its lease. A lease of zero or less ends the one that owner holds. held: whether owner
	// holds it now. An empty owner is refused (invalid).
	AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (held bool, err error)
	// TakeToken counts a use of name unless there were limit uses within the window before now; then nothing is
	// counted, and wait is the time until the next one is possible. wait 0: counted. All callers give the same window
	// for a name, since uses that are older are removed. A limit below one is refused (invalid).
	TakeToken(ctx context.Context, name string, limit int, window time.Duration) (wait time.Duration, err error)
}

// LookWhySlow is what to look at if a database answers slowly.
const LookWhySlow = "Look at the load of its machine, at its disk and its locks, and at the network to it."

// MaxValue is how many bytes a value of KV.Put and KV.PutFor may have.
const MaxValue = 64 << 10

// CheckValue refuses (invalid) a value that KV.Put does not accept. Every store calls it, so that all accept the same
// values.
func CheckValue(name, value string) error {
	switch {
	case len(value) > MaxValue:
		return Errorf(Invalid, "The value of %s has %d bytes. The limit is %d bytes.", name, len(value), MaxValue)
	case !utf8.ValidString(value):
		return Errorf(Invalid, "The value of %s is not valid UTF-8.", name)
	}
	return nil
}
