package dispatch

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/core"
	"gatehouse/core/chat"
)

// Approvals is what dispatch asks of the approvals service.
type Approvals interface {
	// Open makes the approval of a pause and the posts that go with it, as data for the Finish; ok is false where none is asked.
	Open(turn core.Turn, session core.SessionID, s core.Suspended) (a core.Approval, posts []core.Post, ok bool)
	// Vote decides for a person, once per event.
	Vote(ctx context.Context, c core.Click, who core.Actor, event int64) (core.Decided, error)
	// Approvers gives the ids that an approval's rule names.
	Approvers(ctx context.Context, id core.ApprovalID) ([]string, error)
	// Cancel withdraws the open approvals of a conversation that who asked for or may decide.
	Cancel(ctx context.Context, conversation core.ConversationID, who core.Actor) (int, error)
}

// Store is what dispatch asks of the store, part by part. StoreOf makes one.
type Store struct {
	core.Queue
	core.Sessions
	core.Approvals
	core.Outbox
	Controls
}

// Controls is what control words and buttons see and move.
type Controls interface {
	// Events gives records latest first.
	Events(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error)
	// Stop asks the conversation's running turn to stop; where none runs, a message that is backing off is withdrawn.
	Stop(ctx context.Context, c core.ConversationID, by core.Actor) (core.StopResult, error)
	// Retry appends one new event with the same content that names the failed one; a second call gives the first one's receipt. It is
	// refused (invalid) for an event that did not fail, and for a signal whose paused turn has ended.
	Retry(ctx context.Context, seq int64) (core.Receipt, error)
}

// StoreOf takes every part from one database.
func StoreOf[S interface {
	core.Queue
	core.Sessions
	core.Approvals
	core.Outbox
	Controls
}](s S) Store {
	return Store{s, s, s, s, s}
}

// Options are a Dispatcher's parts and settings.
type Options struct {
	Store     Store
	Approvals Approvals
	Platforms []core.Platform
	// Conversations, where not nil, are the only ones that this process serves: a console serves its own.
	Conversations []core.ConversationID
	Harness       *chat.Harness // one for all turns; each call gets the staging store of its turn
	Owner         string        // from Store.Register

	Workers    int           // turns at a time
	Lease      time.Duration // of a conversation
	Poll       time.Duration // between looks for work
	Drain      time.Duration // how long running turns may go on after Run's context ends
	MaxMessage int           // bytes of an event's payload; 0 = no limit
	Sentences  Sentences
	Log        *slog.Logger // nil: discard
	Jitter     func() float64
	Delivered  func() // called after a Finish that may have left posts; may be nil
}

// Numbers that have a reason.
const (
	controlSlots   = 16                     // clicks and controls at a time; each is a few statements
	stopPoll       = 500 * time.Millisecond // so that stop ends a turn within a second
	workingAfter   = 500 * time.Millisecond // shorter turns show no working state: it would only flicker
	workingAgain   = time.Minute            // platforms let a working state lapse: Slack's lasts two minutes
	stepsEvery     = 2 * time.Second        // between changes of the line of tools
	aloneFrom      = 3                      // the attempt from which a turn runs alone
	deadAfter      = 5                      // unexplained deaths that make a dead letter
	maxRetries     = 3                      // retryable ends before the person gets an error
	firstBackoff   = time.Second
	maxBackoff     = time.Minute
	persistFor     = time.Minute      // how long a store may be busy before a turn's work is given up and the turn taken again
	controlTimeout = 10 * time.Second // of a click or control: a platform that hangs must not hold their slots
)

// Sentences are the texts that dispatch itself sends to people. Each may be replaced.
type Sentences struct {
	Apology         string // a dead letter's
	NewConversation string
	Stopped         string
	NothingRuns     string
	Help            string
	TooLarge        string // %d: the limit in bytes
	AlreadyDone     string // %s: what a tool did before its turn ended early
	OutcomeUnknown  string // %s: what it may have done
}

// DefaultSentences are the English ones.
func DefaultSentences() Sentences {
	return Sentences{
		Apology:         "Sorry, I could not answer this message: it failed repeatedly. An admin can look at it and retry it.",
		NewConversation: "This is a new conversation. The earlier messages are kept, but I no longer use them.",
		Stopped:         "Stopped.",
		NothingRuns:     "Nothing is running.",
		Help:            "Say new to start a new conversation, stop to stop the running turn, status to see what is waiting, cancel to cancel open approvals.",
		TooLarge:        "That message is too large. The limit is %d bytes. Please send it in parts.",
		AlreadyDone:     "This was done before: %s",
		OutcomeUnknown:  "It is unknown whether this was done, please check: %s",
	}
}

func (o *Options) defaults() {
	if o.Workers <= 0 {
		o.Workers = 8
	}
	if o.Lease <= 0 {
		o.Lease = 30 * time.Second
	}
	if o.Poll <= 0 || o.Poll > stopPoll {
		o.Poll = stopPoll
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Jitter == nil {
		o.Jitter = func() float64 { return 1 }
	}
	if o.Delivered == nil {
		o.Delivered = func() {}
	}
	if o.Sentences == (Sentences{}) {
		o.Sentences = DefaultSentences()
	}
}
