package core

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gatehouse/core/mask"
)

// Actor is a person on a platform. ID begins with the platform ("slack:U123"). Local marks a person on this machine: on
// the console or on true loopback.
type Actor struct {
	ID     string   `json:"id"`
	Name   string   `json:"name,omitempty"`
	Local  bool     `json:"local,omitempty"`
	Groups []string `json:"groups,omitempty"` // looked up so far, or signed by the platform with a press; "slack:S456"
}

// Called is the person's name or, where that is not known, their id. It is both, the id first, if the name has letters
// that look like others.
func (a Actor) Called() string {
	if a.ID != "" && mask.LookAlike(a.Name) {
		return a.ID + " (" + a.Name + ")"
	}
	return cmp.Or(a.Name, a.ID)
}

// Address is where to answer. All fields but Platform are opaque outside the platform's adapter.
//
// Posts keep their order by Channel and Thread. Message is the message to answer, if the platform shows the working
// state on it.
type Address struct {
	Platform string `json:"platform"`
	Channel  string `json:"channel,omitempty"`
	Thread   string `json:"thread,omitempty"`
	Message  string `json:"message,omitempty"`
}

// Event is an event of a platform, as its adapter passes it to Accept: an envelope, and a payload that is parsed only
// after the commit. Platform and ID are the dedupe key; the adapter defines the id for each kind. Body is the kind of
// the event and its subject.
type Event struct {
	Platform     string
	ID           string
	Conversation ConversationID
	Body         EventBody
	Actor        Actor
	Address      Address
	Payload      json.RawMessage // may be nil
	FollowUp     bool            // it was not addressed to the bot: it is stored only if its conversation is known
}

// Receipt is the answer to Accept. Seq is the event's place in the order of commits of its conversation; Fresh is false
// if the event was known. Seq 0: nothing was stored, since it does not concern this bot (a follow-up of an unknown
// conversation, an amendment of an unknown event).
type Receipt struct {
	Seq   int64
	Fresh bool
}

// Input is the parsed payload of a message.
type Input struct {
	Message *Message
	ByWord  bool   // people decide by words there, so that one alone is a message like any other
	Fetched bool   // some of Message came from the platform, not with the event: it is stored with it, and fetched once
	Ignored string // why there is nothing to answer, where Message is nil; "": it says nothing
}

// Click is a press of a button of an approval's card. Its JSON is the payload of a ClickEvent, the same on every
// platform; an adapter may add members of its own.
type Click struct {
	Approval ApprovalID `json:"approval"`
	Choice   Choice     `json:"choice"`
	// how often the arguments had been changed on the card that was pressed
	Edits int `json:"edits,omitempty"`
	// of an edit: the arguments, a JSON object, that take the place of the present ones
	Changed  string `json:"changed,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Remember bool   `json:"remember,omitempty"` // of an approval: see Memory
	// of an answer: the place among the question's options, from 1; 0: see Answer
	Option int    `json:"option,omitempty"`
	Answer string `json:"answer,omitempty"` // of an answer that is not an option: JSON
	Card   Ref    `json:"card,omitempty"`   // the card whose button was pressed, if the platform reports it

	// the press has disabled the card's buttons: if it does not count, the card has to be redrawn
	Disabled bool `json:"disabled,omitempty"`
}

// ClickOf reads the payload of a ClickEvent. Error: invalid; it is no Click of the event's approval.
func ClickOf(e Event) (c Click, err error) {
	if err := json.Unmarshal(e.Payload, &c); err != nil || c.Approval == "" || string(c.Approval) != e.Subject() ||
		c.Choice == "" {
		return Click{}, Wrap(Invalid, err, "This decision can't be read. Press again.")
	}
	return c, nil
}

// SignalPayload is the payload of a SignalEvent: which pause it ends, and what is overlaid on the paused state.
type SignalPayload struct {
	SignalID   SignalID                   `json:"signal_id"`
	Invocation InvocationID               `json:"invocation_id"`
	Payload    map[string]json.RawMessage `json:"payload"`
}

// Amendment is the payload of an AmendEvent: the new content of the amended event. Accept applies it in its own
// transaction: an event that still waits gets the new payload or is withdrawn; if its turn waits for an approval, the
// card shows Text; an event that has begun or ended is not changed. A deletion also ends a turn that has begun: one
// that runs is stopped and posts nothing, and what one that is paused waits for is cancelled; the turn of the
// amendment, which has no end before, abandons it. Only the event's own actor may amend it. If the platform does not
// report who deleted it, the amendment has neither actor nor payload.
type Amendment struct {
	// orders amendments: one with a smaller revision than an applied one changes nothing
	Revision string          `json:"revision"`
	Payload  json.RawMessage `json:"payload,omitempty"` // empty: deleted
	Text     string          `json:"text,omitempty"`    // the new text

	// Added: it is used while the turn has not begun; after that it changes nothing, and no card shows it. Such is what
	// a platform adds that a message points at, and a change that is sent as a message of its own where it is late.
	Added bool `json:"added,omitempty"`
}

// Allowed reports whether by may make this amendment to an event of of; an actor without an id is the platform itself.
func (a Amendment) Allowed(by, of Actor) bool {
	return by.ID == of.ID || by.ID == "" && len(a.Payload) == 0
}

// Limits are how many messages one actor may send; zero fields do not limit. A message above them is stored as refused,
// no turn takes it, and its author gets the Refusal, once a minute at most.
type Limits struct {
	PerMinute int
	// the platforms whose adapters count messages a minute themselves: PerMinute does not apply to their messages
	Exempt  []string
	Waiting int    // messages of the actor that wait or run
	Refusal string // to the author
}

// EndKind is how an event ended (law 2).
type EndKind string

// The ends. Replied, Errored and Suspended have something in the outbox; Dead is a visible dead letter; the others are
// recorded dispositions. Dropped is a dead letter that an admin discarded.
const (
	EndReplied   EndKind = "replied"
	EndErrored   EndKind = "errored"
	EndSuspended EndKind = "suspended"
	EndNothing   EndKind = "nothing to say"
	EndIgnored   EndKind = "ignored"
	EndWithdrawn EndKind = "withdrawn"
	EndDecided   EndKind = "decided"
	EndApplied   EndKind = "applied" // an amendment that changed something
	EndRefused   EndKind = "refused" // a message above its author's limits; the author is told once a minute
	EndDead      EndKind = "dead"
	EndDropped   EndKind = "dropped"
)

// End is an event's end and its cause. Category and Cause are for admins; Cause never holds message text.
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
	Attempt    int       // claims without an end, this one included: 1 on the first
	Retries    int       // retryable ends so far
	NotBefore  time.Time // the end of the backoff
	EndedAt    time.Time // zero: not ended
	End        End
	RetryOf    int64    // the event that this one retries; 0 = none
	Fetched    *Message // the message as it was first read, if the platform was asked for some of it; see Input
}

// EventBody is the kind of an event and its subject: a MessageEvent, ResetEvent, SignalEvent, ClickEvent, ControlEvent,
// RetryEvent, AskAgainEvent or AmendEvent, and nothing else. It is stored as a kind and a subject; BodyOf reads them
// back.
//
// Messages and resets are taken in the order of arrival, one at a time in a conversation; signals overtake them;
// clicks, controls, retries and repeated requests wait for neither.
type EventBody interface {
	stored() (kind Kind, subject string)
}

// Kind names the type of an event's body, for the store, logs and listings.
type Kind string

// The kinds.
const (
	KindMessage Kind = "message"
	KindReset   Kind = "reset"
	KindSignal  Kind = "signal"
	KindClick   Kind = "click"
	KindControl Kind = "control"
	KindRetry   Kind = "retry"
	KindAgain   Kind = "again"
	KindAmend   Kind = "amend"
)

// MessageEvent is a person's message. Its payload is in the platform's own form.
type MessageEvent struct{}

// ResetEvent starts a new conversation: it increments the generation, in its order among the messages. Failed is the
// event whose button "new conversation" was pressed; 0 if the reset was requested by a message or a command.
type ResetEvent struct{ Failed int64 }

// SignalEvent is a decision that resumes a paused turn. The store makes it, never an adapter. Its payload is a
// SignalPayload.
type SignalEvent struct{ Approval ApprovalID }

// ClickEvent is a request to decide an approval.
type ClickEvent struct{ Approval ApprovalID }

// ControlEvent is a control word: stop, status, cancel or help. After cancel may come all, or the beginning of an
// approval's id.
type ControlEvent struct{ Word string }

// RetryEvent retries a failed event: its button "try again" was pressed.
type RetryEvent struct{ Failed int64 }

// AskAgainEvent asks again for what expired: the button "Ask again" of an expired approval's card was pressed. Only who
// asked may do so, so the event's id names the person, too, or somebody else's press would use up theirs.
type AskAgainEvent struct{ Approval ApprovalID }

// AmendEvent edits or deletes an earlier message of the same platform; Event is that event's id. Accept applies it. Its
// payload is an Amendment.
type AmendEvent struct{ Event string }

func (MessageEvent) stored() (Kind, string)   { return KindMessage, "" }
func (b ResetEvent) stored() (Kind, string)   { return KindReset, seqText(b.Failed) }
func (b SignalEvent) stored() (Kind, string)  { return KindSignal, string(b.Approval) }
func (b ClickEvent) stored() (Kind, string)   { return KindClick, string(b.Approval) }
func (b ControlEvent) stored() (Kind, string) { return KindControl, b.Word }
func (b RetryEvent) stored() (Kind, string)   { return KindRetry, seqText(b.Failed) }
func (b AskAgainEvent) stored() (Kind, string) {
	return KindAgain, string(b.Approval)
}
func (b AmendEvent) stored() (Kind, string) { return KindAmend, b.Event }

// Kind is the kind of the event's body, "" if it has none.
func (e Event) Kind() Kind {
	kind, _ := e.stored()
	return kind
}

// Subject is the event's subject in its stored form.
func (e Event) Subject() string {
	_, subject := e.stored()
	return subject
}

func (e Event) stored() (Kind, string) {
	if e.Body == nil {
		return "", ""
	}
	return e.Body.stored()
}

// QueueKey is the queue that the event is claimed from: for a click its approval's, for a control, a retry or a
// repeated request the one for its conversation's controls, for anything else its conversation's.
func (e Event) QueueKey() QueueKey {
	switch b := e.Body.(type) {
	case ClickEvent:
		return QueueKey("approval:" + b.Approval)
	case ControlEvent, RetryEvent, AskAgainEvent:
		return QueueKey(e.Conversation + "!control")
	}
	return e.Conversation.Queue()
}

// ParseControl returns the body of a control word that a person types: new, stop, status, cancel or help; after cancel
// may come all, or the beginning of an approval's id. It is nil for anything else.
func ParseControl(text string) EventBody {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 2 && words[0] == "cancel" && (words[1] == "all" || someID.MatchString(words[1])) {
		return ControlEvent{Word: words[0] + " " + words[1]}
	}
	if len(words) != 1 || words[0] != strings.ToLower(text) {
		return nil
	}
	switch word := words[0]; word {
	case "new":
		return ResetEvent{}
	case "stop", "status", "cancel", "help":
		return ControlEvent{Word: word}
	}
	return nil
}

// someID is the beginning of an approval's id, as a person types it.
var someID = regexp.MustCompile(`^[0-9a-f][0-9a-f-]{3,35}$`)

// BodyOf reads a body back from its stored form; nil for an unknown kind.
func BodyOf(kind Kind, subject string) EventBody {
	switch kind {
	case KindMessage:
		return MessageEvent{}
	case KindReset:
		return ResetEvent{Failed: seqOf(subject)}
	case KindSignal:
		return SignalEvent{Approval: ApprovalID(subject)}
	case KindClick:
		return ClickEvent{Approval: ApprovalID(subject)}
	case KindControl:
		return ControlEvent{Word: subject}
	case KindRetry:
		return RetryEvent{Failed: seqOf(subject)}
	case KindAgain:
		return AskAgainEvent{Approval: ApprovalID(subject)}
	case KindAmend:
		return AmendEvent{Event: subject}
	}
	return nil
}

func seqText(seq int64) string {
	if seq == 0 {
		return ""
	}
	return strconv.FormatInt(seq, 10)
}

func seqOf(text string) int64 {
	seq, _ := strconv.ParseInt(text, 10, 64)
	return seq
}
