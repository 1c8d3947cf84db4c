package core

import (
	"regexp"
	"strconv"
	"strings"
)

// EventBody is the kind of an event and its subject: a MessageEvent, ResetEvent, SignalEvent, ClickEvent, ControlEvent, RetryEvent,
// AskAgainEvent or AmendEvent, and nothing else. It is stored as a kind and a subject; BodyOf reads them back.
//
// Messages and resets are taken in the order of arrival, one at a time in a conversation; signals overtake them; clicks, controls,
// retries and repeated requests wait for neither.
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

// ResetEvent starts a new conversation: it increments the generation, in its order among the messages. Failed is the event whose
// button "new conversation" was pressed; 0 if the reset was requested by a message or a command.
type ResetEvent struct{ Failed int64 }

// SignalEvent is a decision that resumes a paused turn. The store makes it, never an adapter. Its payload is a SignalPayload.
type SignalEvent struct{ Approval ApprovalID }

// ClickEvent is a request to decide an approval.
type ClickEvent struct{ Approval ApprovalID }

// ControlEvent is a control word: stop, status, cancel or help. After cancel may come all, or the beginning of an approval's id.
type ControlEvent struct{ Word string }

// RetryEvent retries a failed event: its button "try again" was pressed.
type RetryEvent struct{ Failed int64 }

// AskAgainEvent asks again for what expired: the button "Ask again" of an expired approval's card was pressed. Only who asked may do so, so
// the event's id names the person, too, or somebody else's press would use up theirs.
type AskAgainEvent struct{ Approval ApprovalID }

// AmendEvent edits or deletes an earlier message of the same platform; Event is that event's id. Accept applies it. Its payload is an
// Amendment.
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

// QueueKey is the queue that the event is claimed from: for a click its approval's, for a control, a retry or a repeated request the one for
// its conversation's controls, for anything else its conversation's.
func (e Event) QueueKey() QueueKey {
	switch b := e.Body.(type) {
	case ClickEvent:
		return QueueKey("approval:" + b.Approval)
	case ControlEvent, RetryEvent, AskAgainEvent:
		return QueueKey(e.Conversation + "!control")
	}
	return e.Conversation.Queue()
}

// ParseControl returns the body of a control word that a person types: new, stop, status, cancel or help; after cancel may come all, or the
// beginning of an approval's id. It is nil for anything else.
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
