package core

import (
	"encoding/json"
	"time"
)

// Actor is a person, as a platform knows them. ID begins with the platform ("slack:U123"). Local marks the person at this very
// machine: on the console, or on true loopback.
type Actor struct {
	ID     string   `json:"id"`
	Name   string   `json:"name,omitempty"`
	Local  bool     `json:"local,omitempty"`
	Groups []string `json:"groups,omitempty"` // those looked up when it mattered; "slack:S456"
}

// Address is where to answer. All but Platform is the platform's own and opaque to everybody else.
//
// Posts keep their order by Channel and Thread. Message is what is answered, where the platform shows the working state on it.
type Address struct {
	Platform string `json:"platform"`
	Channel  string `json:"channel,omitempty"`
	Thread   string `json:"thread,omitempty"`
	Message  string `json:"message,omitempty"`
}

// Event is something that happened on a platform, as its adapter hands it over: an envelope, and the payload that is parsed only
// after the commit. Platform and ID are the dedupe key; the adapter states per kind what the id is made of. Body says what kind of
// event it is and what it is about.
type Event struct {
	Platform     string
	ID           string
	Conversation ConversationID
	Body         EventBody
	Actor        Actor
	Address      Address
	Payload      json.RawMessage // may be nil
	FollowUp     bool            // it was not addressed to the bot: it counts only where its conversation is known
}

// Receipt is the answer to Accept. Seq is the event's place in the order of commits of its conversation; Fresh is false where the event was
// known. Seq 0: nothing was stored, since it does not concern this bot (a follow-up of an unknown conversation, an amendment of an
// unknown event).
type Receipt struct {
	Seq   int64
	Fresh bool
}

// Input is what an event says, once its platform has parsed the payload. One field is set.
type Input struct {
	Message *Message // of a message
	Click   *Click   // of a click
}

// Click is a request to decide.
type Click struct {
	Approval ApprovalID
	Choice   Choice
	Reason   string
	Card     Ref // the card whose button was pressed, where the platform tells
}

// SignalPayload is the payload of a SignalEvent: which pause it wakes, and what is overlaid on the paused state.
type SignalPayload struct {
	SignalID   SignalID                   `json:"signal_id"`
	Invocation InvocationID               `json:"invocation_id"`
	Payload    map[string]json.RawMessage `json:"payload"`
}

// Amendment is the payload of an AmendEvent: what the amended event is to say from now on. Accept settles it in
// its own transaction: an event that still waits gets the new payload, or is withdrawn; where its turn waits for an approval the
// card shows Text; one that has begun or ended stays as it is. Only the event's own actor amends it; or the platform itself takes it
// back, where it does not tell who did: then the amendment has no actor, and no payload.
type Amendment struct {
	Revision string          `json:"revision"`          // of two amendments the one with the greater is the later; an earlier one that comes late changes nothing
	Payload  json.RawMessage `json:"payload,omitempty"` // empty: taken back
	Text     string          `json:"text,omitempty"`    // what it says now, in words
}

// Allowed reports whether an actor may amend in this way what another said; one without an id is the platform itself.
func (a Amendment) Allowed(by, of Actor) bool {
	return by.ID == of.ID || by.ID == "" && len(a.Payload) == 0
}

// EndKind is how an event ended (law 2).
type EndKind string

// The ends. Replied, Errored and Suspended have something in the outbox; Dead is a visible dead letter; the others are recorded
// dispositions. Dropped is a dead letter that an admin put away.
const (
	EndReplied   EndKind = "replied"
	EndErrored   EndKind = "errored"
	EndSuspended EndKind = "suspended"
	EndNothing   EndKind = "nothing to say"
	EndIgnored   EndKind = "ignored"
	EndWithdrawn EndKind = "withdrawn"
	EndDecided   EndKind = "decided"
	EndApplied   EndKind = "applied" // an amendment that changed something
	EndDead      EndKind = "dead"
	EndDropped   EndKind = "dropped"
)

// End is an event's end and its cause. Category and Cause are for admins; Cause never holds what a person said.
type End struct {
	Kind     EndKind
	Category Category
	Cause    string
}

// EventRecord is an event as the store keeps it.
type EventRecord struct {
	Event
	Seq        int64
	Invocation InvocationID // fixed at accept; a signal's is the paused invocation's
	Session    SessionID    // of the turn that took it; "" before
	AcceptedAt time.Time
	Attempt    int       // claims that began and did not end: 1 on the first
	Retries    int       // retryable ends so far
	NotBefore  time.Time // backing off until
	EndedAt    time.Time // zero: it waits or runs
	End        End
	RetryOf    int64 // the event that this one tries again; 0 = none
}
