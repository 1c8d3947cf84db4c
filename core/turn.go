package core

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// Ledger is what the one executor reads and writes while a turn runs. It is bound to the turn's claim: once another
// process holds the conversation, every call fails with lease_lost.
type Ledger interface {
	Approval(ctx context.Context, id ApprovalID) (Approval, error)
	// Recorded fails with approval_mismatch or unsupported where the audit log records another one.
	Recorded(ctx context.Context, id ApprovalID) (Approval, error)
	// Begin commits the intent.
	Begin(ctx context.Context, i Intent) (IntentRecord, error)
	// Keep commits how far a begun call is (IntentRecord.Progress). pauses: it does not go on before people have
	// answered.
	Keep(ctx context.Context, id ApprovalID, progress string, pauses bool) error
	// Finish commits the result.
	Finish(ctx context.Context, id ApprovalID, r ToolResult) error
	// Remembered returns the use of an earlier approval that allows a call once more, by a rule that remembers
	// approvals; nil if none does.
	Remembered(ctx context.Context, call Call, rule Rule) (*Use, error)
	// Refuse notes why the call is not begun, for the end of the turn.
	Refuse(id ApprovalID, r ToolResult)
}

// Progress is told what a turn holds and has done so far, for its end. No call blocks. What people see of it meanwhile
// is told to Deltas.
type Progress interface {
	// Added is told the messages that the turn has added so far, each time that it asks its model: they take memory.
	Added([]Message)
	// Evidence receives the turn's evidence, as a join check's input, each time that the turn ends or pauses; the last
	// call counts.
	Evidence(json.RawMessage)
}

// Images stores what tools give beside their texts. KeepImage returns the digest of an image's bytes.
type Images interface {
	KeepImage(ctx context.Context, data []byte) (digest string, err error)
}

// ErrStopping is the cause of a context that ends because the process stops and the time to drain is over.
var ErrStopping = errors.New("the process is stopping")

// Turn describes the turn that a node runs in: who asked, where, and the ledger. It is in the context; the graph does
// not use it.
type Turn struct {
	Event        int64
	At           time.Time // when the event was accepted; zero = not known
	Conversation ConversationID
	Address      Address
	Actor        Actor
	Progress     Progress        // nil: nobody is told
	Budget       *Budget         // nil: each call of a model has one of its own
	Images       Images          // nil: images are not kept
	Ledger       Ledger          // nil outside a dispatcher: no mutating call runs
	Process      context.Context // ends when the process stops and the time to drain is over; may be nil
	Stop         context.Context // ends when a person stops the turn; may be nil

	// Saved are the messages that earlier attempts have saved of the turn, or of its part since the last pause, in
	// their order. This attempt adds the same ones again, without making them anew: the model is not asked, and no tool
	// runs.
	Saved []Message
}

// Budget is the time that a turn may spend on failures, retries and waits. Work that goes on takes nothing from it. It
// is safe for concurrent use.
type Budget struct {
	mu   sync.Mutex
	left time.Duration
}

// NewBudget makes a budget of which nothing is spent.
func NewBudget(d time.Duration) *Budget { return &Budget{left: d} }

// Left is what is not spent yet; negative, if something took longer.
func (b *Budget) Left() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

// Spend takes time from the budget.
func (b *Budget) Spend(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left -= d
}

type turnKey struct{}

// WithTurn gives a context that carries the turn.
func WithTurn(ctx context.Context, t Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// TurnFrom gives the turn of a context; ok is false outside one.
func TurnFrom(ctx context.Context) (t Turn, ok bool) {
	t, ok = ctx.Value(turnKey{}).(Turn)
	return t, ok
}

// Deltas hears what a turn does and says while it runs (harness-chat §9). It is a view: nothing of it is stored, and
// the turn is the same where nobody listens. No call blocks, and calls may come from several goroutines.
type Deltas interface {
	// Step is called when a tool call begins.
	Step(tool string)
	// Waits is called when a model's vendor asked to wait, with the time at which the model is asked again.
	Waits(until time.Time)
	// Writes is called when the model begins an answer, and when it begins it anew: the pieces so far do not count.
	Writes()
	// Piece is called with each further piece of the answer, as the model writes it.
	Piece(text string)
	// Said is called with the whole answer, which takes the place of its pieces; "": it has no text.
	Said(text string)
	// Watched reports whether anybody looks now. What is done for the eye alone may be left out if not.
	Watched() bool
}

type deltasKey struct{}

// WithDeltas gives a context in which the deltas of a turn are heard.
func WithDeltas(ctx context.Context, d Deltas) context.Context {
	return context.WithValue(ctx, deltasKey{}, d)
}

// DeltasFrom is who hears the deltas of a turn; where nobody does, they are lost.
func DeltasFrom(ctx context.Context) Deltas {
	if d, ok := ctx.Value(deltasKey{}).(Deltas); ok {
		return d
	}
	return unheard{}
}

// unheard hears nothing.
type unheard struct{}

func (unheard) Step(string)     {}
func (unheard) Waits(time.Time) {}
func (unheard) Writes()         {}
func (unheard) Piece(string)    {}
func (unheard) Said(string)     {}
func (unheard) Watched() bool   { return false }

// Outcome is the spec's ChatTurnOutcome (harness-chat §5.2): Completed, Errored or Suspended, and nothing else.
type Outcome interface{ outcome() }

// Completed is a turn that ran to its end. Replies are the messages added during the turn, all roles, in order; never
// nil, maybe empty; the user's own message is not among them.
type Completed struct {
	Replies []Message
}

// Errored is a turn that failed. Reply has the role system and is not part of the history. Err is for the log.
type Errored struct {
	Bucket   Bucket
	Category Category
	Reply    Message
	Err      error
}

// Suspended is a turn that waits for a signal. Pending are the messages added before the pause; never nil, maybe empty.
type Suspended struct {
	Descriptor Descriptor
	Pending    []Message
	Invocation InvocationID
}

func (Completed) outcome() {}
func (Errored) outcome()   {}
func (Suspended) outcome() {}
