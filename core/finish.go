package core

import (
	"encoding/json"
	"time"
)

// Finish is everything that a turn changed. With Retry nothing but the wait is kept and all other fields are empty.
type Finish struct {
	Claim         Claim
	End           End
	Retry         *Retry
	Session       *SessionRecord // saved: new message rows, and the other fields
	Paused        *PausedRecord  // stored
	Resumed       InvocationID   // the paused record that this turn resumed; it is removed
	Approval      *Approval      // opened together with Paused; one that is decided already (by rule) stores its signal too
	Abandoned     []Abandon      // paused invocations that end before END
	NewGeneration bool           // the conversation's next turn has a new session
	Posts         []Post         // into the outbox
	PressedCard   *PressedCard   // if the row of this card is in doubt, the press proves that it was sent; it is redrawn
	Pressed       []string       // keys of posts whose button was pressed: they are redrawn without it

	Evidence json.RawMessage // what the invocation did so far, as a join check's input; it replaces that of an earlier segment. Nil: none
}

// Retry puts the event back: it is due again After, its Attempt is taken back and its Retries are raised.
type Retry struct {
	After    time.Duration
	Category Category
	Cause    string
}

// Abandon ends a paused invocation that will not be resumed: its record is removed, signals that wait for it are withdrawn, Rows
// (typed error results for the calls still open) are appended to its session under its own keys. With Cancel its approval, where
// open or decided but not begun, becomes cancelled and its card is redrawn.
type Abandon struct {
	Invocation InvocationID
	Rows       []Message
	Cancel     bool
	Reason     string
	By         Actor
}
