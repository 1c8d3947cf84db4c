package dispatch

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/inflight"
	"gatehouse/core/live"
)

// Store is the part of the store that dispatch needs. Its methods that stand here alone are those of the one SQL store.
type Store interface {
	core.Queue
	core.Sessions
	core.Approvals

	// AddPosts is that of core.Outbox.
	AddPosts(ctx context.Context, c core.Claim, posts []core.Post) error
	// AcceptClaim is Accept that may claim the event at once.
	AcceptClaim(ctx context.Context, e core.Event, owner string) (core.Receipt, *core.Claim, error)
	// Events lists events, the latest first.
	Events(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error)
	// Stop asks the conversation's running turn to stop. If none runs, it withdraws a message that waits for a delayed
	// retry.
	Stop(ctx context.Context, c core.ConversationID, by core.Actor) (core.StopResult, error)
	// Retry adds one new event with the content of a failed one. Repeating it returns the same receipt. It fails with
	// not_found or invalid if the event can't be retried.
	Retry(ctx context.Context, seq int64) (core.Receipt, error)
	// AskAgain adds one new event with the content of the message whose turn requested an approval, if it expired and
	// by requested it. Repeating it returns the same receipt. Errors: those of core's Approval.RefusalToAskAgain, and
	// not_found.
	AskAgain(ctx context.Context, id core.ApprovalID, by core.Actor) (core.Receipt, error)
	// KeepIntent commits how far a begun call is (core.IntentRecord.Progress), fenced.
	KeepIntent(ctx context.Context, c core.Claim, id core.ApprovalID, progress string) error
	// TakeBack makes the attempt of a lost claim not count, if its event has not ended.
	TakeBack(ctx context.Context, c core.Claim) error
	// RecordedApproval loads an approval that is what the audit log records.
	RecordedApproval(ctx context.Context, id core.ApprovalID) (core.Approval, error)
	// Get and PutFor are those of core.KV.
	Get(ctx context.Context, name string) (string, error)
	PutFor(ctx context.Context, name, value string, lifetime time.Duration) error
	// PutBlob stores the bytes of an image that came about by an event, and returns their digest.
	PutBlob(ctx context.Context, e core.Event, data []byte) (digest string, err error)
}

// Approvals opens and decides approvals; it is the approvals service.
type Approvals interface {
	// Open returns the approval of a pause and the posts that go with it, as data for the Finish; ok is false if it
	// requests none.
	Open(turn core.Turn, session core.SessionID, s core.Suspended) (a core.Approval, posts []core.Post, ok bool)
	// Vote decides an approval for a person. Repeating it for the same event counts once.
	Vote(ctx context.Context, c core.Click, who core.Actor, event int64) (core.Decided, error)
	// Cancel cancels those of the approvals that are open and that who requested or may decide, and returns how many.
	Cancel(ctx context.Context, ids []core.ApprovalID, who core.Actor) (int, error)
}

// Outbox delivers the posts of turns; it is the deliverer.
type Outbox interface {
	// HandOver reserves the means to deliver up to n posts of a turn that ends. The result is for the turn's Finish;
	// deliver is called after it.
	HandOver(platform string, n int) (h *core.Handover, deliver func())
	// Nudge is called when posts may have been added otherwise.
	Nudge()
}

// Policy says which groups of a requester are looked up.
type Policy interface {
	// RequesterGroups returns, for each account of the person behind an account, the groups of its platform that the
	// policy's conditions ask about. Only these are looked up.
	RequesterGroups(account string) map[string][]string
}

// Watcher is told of turns.
type Watcher interface {
	// Ended is called once a turn's end was stored. It must not block.
	Ended(e core.EventRecord, end core.End, took time.Duration)
}

// Options are a Dispatcher's parts and settings.
type Options struct {
	Store     Store
	Approvals Approvals
	Outbox    Outbox
	Policy    Policy  // nil: its conditions ask about no groups
	Watcher   Watcher // may be nil

	Platforms     []core.Platform
	Conversations []core.ConversationID // if not nil, only these are served; a console serves its own
	Harness       *chat.Harness         // one for all turns; each call gets the staging store of its turn
	Owner         string                // from Store.Register

	Workers    int              // turns at a time; 0: 512
	Memory     *inflight.Budget // of the process; the turns hold some of it. nil: no limit
	RetryTime  time.Duration    // that the turns of one event may spend on failures and waits; 0: 2 minutes
	Live       *live.Hub        // what running turns show; nil: nobody looks
	Poll       time.Duration    // between two claims; 0, or more than 500 ms: 500 ms
	Drain      time.Duration    // how long running turns may continue after Run's context ends
	MaxMessage int              // bytes of an event's payload; 0: no limit
	Sentences  Sentences
	Log        *slog.Logger     // nil: logs are discarded
	Now        func() time.Time // nil: time.Now
	Jitter     func() float64   // of retry delays, from 0 (half) to 1 (full); nil: full
}

// Limits and intervals.
const (
	defaultWorkers   = 512                    // a turn that waits for a model costs its memory alone
	controlSlots     = 16                     // clicks and controls at a time; each is a few statements
	stopPoll         = 500 * time.Millisecond // so that stop ends a turn within a second
	stopsPerLoss     = 8                      // looks for stop requests to one for lost conversations
	workingAfter     = 500 * time.Millisecond // a typing indicator of a shorter turn would only flicker
	progressTick     = 250 * time.Millisecond // between looks at what is to be shown of the turns
	sayingAtOnce     = 16                     // posts about running turns that are stored at a time
	workingAgain     = time.Minute            // typing indicators expire: Slack's after two minutes
	stepsEvery       = 2 * time.Second        // between edits of the list of tools
	shortWait        = 5 * time.Second        // for a model: people are not told
	firstSuspect     = 3                      // the attempt from which an event is a suspect
	deadAfter        = 5                      // attempts that did not end, after which the event is a dead letter
	largeDeadAfter   = 2                      // likewise, of one that is large
	largePart        = 64                     // a turn is large above the budget's part of this size
	maxOpenApprovals = 20                     // of one person
	maxRetries       = 3                      // of what fails for a reason that is not known to pass
	retryTime        = 2 * time.Minute
	firstBackoff     = time.Second
	maxBackoff       = time.Minute
	controlTimeout   = 10 * time.Second // of a click or control: a platform that hangs must not block their slots
	membershipTime   = 10 * time.Second // of a click, besides: for asking the platform which groups its person is in
	firstAskAgain    = 500 * time.Millisecond
)

// Sentences are the texts that dispatch itself sends to people. Each may be replaced.
type Sentences struct {
	Apology          string // for a fault of our own
	Killed           string // for a dead letter: the process ended each time
	NewConversation  string
	Stopped          string
	NothingRuns      string
	Help             string
	TooLarge         string // %d: the limit in bytes
	TooBig           string // for a dead letter that is large, or an attempt that comes to hold too much
	TooMany          string // to somebody whose messages exceed GATEHOUSE_RATE, or many of whose messages wait
	TooManyApprovals string // %d: the limit
	GoesOn           string // %s: what a tool does that had begun before stop was said
	AlreadyDone      string // %s: what a tool did before its turn ended early
	CallFailed       string // %s: what it was to do, where stop was said meanwhile
	CallResult       string // %s: what it returned, below the one or the other
	OutcomeUnknown   string // %s: what it may have done
	Waits            string // %s: the time of day until which the model's vendor asked to wait
	AtMachine        string // after what is told of a model that fails, to the person at gatehouse's own machine
	AskedToWait      string // %s: when to try again, where a platform asks to wait for longer than a turn may
}

// help names the control words as they are written in messages of every platform.
const help = "Write these as you wrote !help, with a mention of me if it needed one: !new starts a new conversation, " +
	"!stop stops what I am doing, " +
	"!status shows what I am doing and what is waiting, !cancel withdraws what waits for approval."

// DefaultSentences returns the English texts.
func DefaultSentences() Sentences {
	return Sentences{
		Apology: "Sorry, I could not answer this message: it failed repeatedly. An admin can look at it and " +
			"retry it.",
		Killed: "Sorry, I could not answer this message: the program crashed each time while I worked on it, so I do " +
			"not try again by myself. Whoever runs the bot can: gatehouse deadletters list shows it.",
		NewConversation: "This is a new conversation. The earlier messages are kept, but I no longer use them.",
		Stopped:         "Stopped.",
		NothingRuns:     "Nothing is running.",
		Help:            help,
		TooBig: "Sorry, I could not answer this message: it is too big, and I ran out of memory over it. Please send " +
			"less at a time.",
		TooLarge: "That message is too large. The limit is %d bytes. Please send it in parts.",
		TooMany: "You sent more messages than I can take from one person. This one is not answered; please " +
			"wait a minute and send it again.",
		TooManyApprovals: "%d of your requests already wait for an approval. Please have them decided, or withdraw " +
			"them with !cancel, before you ask for more.",
		GoesOn: "This call has begun and goes on; its result will be posted here, and nothing else will be " +
			"done after it: %s",
		AlreadyDone:    "This was done before: %s",
		CallFailed:     "This failed: %s",
		CallResult:     "Its result: %s",
		OutcomeUnknown: "It is unknown whether this was done, please check: %s",
		Waits:          "The model is busy and asked me to wait until %s.",
		AtMachine:      "You are at gatehouse's machine: gatehouse doctor says what is wrong.",
		AskedToWait: "I can't read what I need to answer this now: the platform asks me to wait. Please try again " +
			"%s.",
	}
}

func (o *Options) defaults() {
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if o.Poll <= 0 || o.Poll > stopPoll {
		o.Poll = stopPoll
	}
	if o.RetryTime <= 0 {
		o.RetryTime = retryTime
	}
	if o.Policy == nil {
		o.Policy = noGroups{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = func() float64 { return 1 }
	}
	if o.Sentences == (Sentences{}) {
		o.Sentences = DefaultSentences()
	}
}

// noGroups is a policy whose conditions ask about no groups.
type noGroups struct{}

func (noGroups) RequesterGroups(string) map[string][]string { return nil }
