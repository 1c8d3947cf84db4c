package core

import (
	"encoding/json"
	"reflect"
	"time"
)

// Finish ends a turn, or puts it back: who claims it, how it ends, when it is tried again, and what it changed. With
// Retry it has neither an End nor Changes.
type Finish struct {
	Claim Claim
	End   End
	Retry *Retry
	Changes

	Handover *Handover // nil: the posts wait for ClaimPosts
	Left     *Left     // where to return what can be claimed afterwards; nil: nobody asks
}

// Changes is what a turn changed. It is stored with the turn's end, or not at all.
type Changes struct {
	Session *SessionRecord // saved: new message rows, and the other fields
	Paused  *PausedRecord  // stored
	Resumed InvocationID   // the paused record that this turn resumed; it is removed
	// why the approved call that Resumed waited for was not begun; for one that was, it is not used
	NotRun ToolResult
	// opened together with Paused; for one that is already decided (by rule) the signal is stored too
	Approval      *Approval
	Abandoned     []Abandon    // paused invocations that end before END
	NewGeneration bool         // the conversation's next turn has a new session
	Posts         []Post       // into the outbox
	PressedCard   *PressedCard // if the row of this card is in doubt, the press proves that it was sent; it is redrawn
	Pressed       []string     // keys of posts with a pressed button: they are redrawn without it
	AskedAgain    ApprovalID   // its cards are redrawn without the button to ask again
	Show          []ApprovalID // their cards are drawn once more, so one whose message was deleted is posted anew
	// its cards are redrawn, a second later: a press has just been answered with another picture of one
	Redraw ApprovalID
	// of the invocation so far, as a join check's input; it replaces that of an earlier segment. Nil: none
	Evidence json.RawMessage
}

// IsZero reports whether nothing has changed. It looks at every field, so none can be forgotten.
func (c Changes) IsZero() bool {
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() == reflect.Slice && f.Len() == 0 {
			continue
		}
		if !f.IsZero() {
			return false
		}
	}
	return true
}

// Left is what a Finish leaves to claim. Either may be said of what another process has claimed meanwhile.
type Left struct {
	Turns bool // events of the queue that it released, due now or later
	Posts bool // posts in destinations that it changed, due now or later; not those that were handed over
}

// Handover requests that posts of a Finish are claimed for delivery in its own transaction, by the claim's owner, which
// saves a commit each: new posts that are not drawn, to destinations where nothing waits or is in flight. The others
// wait for ClaimPosts.
type Handover struct {
	Platform string      // only posts to it
	Limit    int         // at most so many
	SentAt   time.Time   // of the first parts, which are in doubt
	Rows     []OutboxRow // the result: as ClaimPosts returns them
}

// Retry puts the event back: it is due again after After, its Attempt is decremented and its Retries are incremented.
type Retry struct {
	After    time.Duration
	Category Category
	Cause    string
}

// Abandon ends a paused invocation that will not be resumed: its record is removed, signals that wait for it are
// withdrawn, Rows (typed error results for the calls still open) are appended to its session under its own keys. With
// Cancel its approval, if open or decided but not begun, becomes cancelled and its card is redrawn.
//
// As at the end of a resumed turn, an approved call that was not begun is recorded as not run, and one without a result
// as unknown.
type Abandon struct {
	Invocation InvocationID
	Rows       []Message
	Cancel     bool
	Reason     string
	By         Actor
	NotRun     ToolResult // why an approved call that is not cancelled was not begun
}
