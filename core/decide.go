package core

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// LocalPerson in a rule's approvers means any Local actor.
const LocalPerson = "local"

// MayDecide reports whether the rule lets this person decide a request of requester.
func (r Rule) MayDecide(who, requester Actor) bool {
	return r.refusal(who, requester) == nil
}

// refusal is why a person may not decide a request of requester, as not_allowed; nil if they may.
func (r Rule) refusal(who, requester Actor) error {
	approver := slices.ContainsFunc(r.Approvers, func(a string) bool {
		return a == who.ID || a == LocalPerson && who.Local || slices.Contains(who.Groups, a)
	})
	switch {
	case !approver:
		return Errorf(NotAllowed, "You are not an approver of this request.")
	case who.ID == requester.ID && !r.Self:
		return Errorf(NotAllowed, "You asked for this yourself, so another approver has to decide.")
	}
	return nil
}

// LocalAdmin is the id of the person at the command line. No platform has people with such an id: theirs begin with its name.
const LocalAdmin = "local-admin"

// MayWithdraw reports whether a person may cancel the approval: who requested it, may decide it, or is at the command line.
func (a Approval) MayWithdraw(who Actor) bool {
	return who.ID == a.Requester.ID || who.ID == LocalAdmin || a.Rule.MayDecide(who, a.Requester)
}

// RefusalToAskAgain is why a person can't ask again for what the approval was requested for, for that person to read; nil if they can: they
// asked for it, and it expired. Errors: not_allowed, invalid (it is still open), approval_decided.
func (a Approval) RefusalToAskAgain(who Actor) error {
	switch {
	case who.ID != a.Requester.ID:
		return Errorf(NotAllowed, "Only the person who asked can ask again.")
	case a.State == Open:
		return Errorf(Invalid, "%s", a.StateSentence())
	case a.State != Expired:
		return Errorf(ApprovalDecided, "%s", a.StateSentence())
	}
	return nil
}

// Decide applies a decision at a moment of the store's clock, which for a click is when its event was accepted. It is pure: the
// store calls it inside its transaction. The result's Approval is the one to store or, with an error, the unchanged one.
//
// Errors: approval_decided (it is not open; the first decision counts), approval_expired (the decision came after the deadline),
// not_allowed, invalid. One denial vetoes; a quorum of approvals approves; a withdrawal by who asked cancels. A repeat of the same event's
// vote or withdrawal is counted once and gives no error.
func (a Approval) Decide(d Decision, at time.Time) (Decided, error) {
	stands := Decided{Approval: a}
	if a.counted(d, at) {
		return Decided{Approval: a, Counted: true, Settled: a.State != Open}, nil
	}
	if a.State != Open {
		return stands, Errorf(ApprovalDecided, "%s", a.StateSentence())
	}
	late := !a.Deadline.IsZero() && !at.Before(a.Deadline)
	switch {
	case d.Expire && !late:
		return stands, Errorf(Invalid, "The approval %s is open until %s.", a.ID, a.Deadline.UTC().Format(time.RFC3339))
	case d.Expire:
		a.settle(Expired, d.By, "", at)
	case d.Cancel:
		a.settle(Cancelled, d.By, d.Reason, at)
	case d.Vote == nil:
		return stands, Errorf(Invalid, "A decision needs a vote, an expiry or a cancellation.")
	case d.Vote.Choice == Withdraw && d.Vote.Actor.ID != a.Requester.ID:
		return stands, Errorf(NotAllowed, "Only the person who asked can withdraw this request.")
	case d.Vote.Choice == Withdraw:
		a.settle(Cancelled, d.Vote.Actor, "withdrawn by "+cmp.Or(d.Vote.Actor.Name, "the person who asked"), at)
	case d.Altered:
		return stands, Errorf(Invalid, "The stored request is not the one that was asked for, so it can't be approved. Deny it, and tell whoever runs gatehouse: somebody changed its database.")
	case late:
		return stands, Errorf(ApprovalExpired, "This approval expired at %s. Please ask again.", a.Deadline.UTC().Format(time.RFC3339))
	default:
		if err := a.vote(d, at); err != nil {
			return stands, err
		}
	}
	return Decided{Approval: a, Counted: true, Settled: a.State != Open}, nil
}

// counted reports whether a click's event was counted before: its vote is there or, since a withdrawal is no vote, it is what settled the
// approval.
func (a Approval) counted(d Decision, at time.Time) bool {
	if d.Vote == nil || d.Event == 0 {
		return false
	}
	if d.Vote.Choice == Withdraw {
		return a.State == Cancelled && a.DecidedBy.ID == d.Vote.Actor.ID && a.DecidedAt.Equal(at)
	}
	return slices.ContainsFunc(a.Votes, func(v Vote) bool { return v.Event == d.Event })
}

func (a *Approval) vote(d Decision, at time.Time) error {
	v := *d.Vote
	v.Event, v.At = d.Event, at
	if err := a.Rule.refusal(v.Actor, a.Requester); err != nil && !d.Admin {
		return err
	}
	if slices.ContainsFunc(a.Votes, func(o Vote) bool { return o.Actor.ID == v.Actor.ID }) {
		return Errorf(ApprovalDecided, "You have already voted on this. Your first vote counts.")
	}
	a.Votes = append(slices.Clone(a.Votes), v)
	approvals := 0
	for _, o := range a.Votes {
		if o.Choice == Approve {
			approvals++
		}
	}
	switch {
	case v.Choice == Deny:
		a.settle(Denied, v.Actor, v.Reason, at)
	case v.Choice != Approve:
		return Errorf(Invalid, "Unknown choice %q. Use approve or deny.", v.Choice)
	case d.Admin || approvals >= max(1, a.Rule.Quorum):
		a.settle(Approved, v.Actor, v.Reason, at)
	}
	return nil
}

func (a *Approval) settle(s ApprovalState, by Actor, reason string, at time.Time) {
	a.State, a.DecidedBy, a.Reason, a.DecidedAt = s, by, reason, at
}

// StateSentence describes the approval's state in a sentence.
func (a Approval) StateSentence() string {
	by := cmp.Or(a.DecidedBy.Name, a.DecidedBy.ID)
	at := a.DecidedAt.UTC().Format("2006-01-02 15:04 MST")
	switch a.State {
	case Approved:
		return "This was approved by " + by + " at " + at + "."
	case Denied:
		return "This was denied by " + by + " at " + at + "."
	case Expired:
		return "This approval expired at " + at + ". Please ask again."
	case Cancelled:
		return "This was cancelled at " + at + "."
	}
	return "This is waiting for a decision."
}

// DecisionPayload is the value of the field "decision" in a resumed turn's state.
type DecisionPayload struct {
	Approval ApprovalID    `json:"approval"`
	State    ApprovalState `json:"state"`
	By       string        `json:"by,omitempty"`
	Reason   string        `json:"reason,omitempty"`
}

// Signal is the event that a settled approval adds to its conversation. Its id is made from the approval's, so that it is stored only
// once.
func (a Approval) Signal() Event {
	by := cmp.Or(a.DecidedBy.Name, a.DecidedBy.ID)
	decision, _ := json.Marshal(DecisionPayload{Approval: a.ID, State: a.State, By: by, Reason: a.Reason})
	payload, _ := json.Marshal(SignalPayload{
		SignalID:   SignalID(a.ID),
		Invocation: a.Invocation,
		Payload:    map[string]json.RawMessage{"decision": decision},
	})
	return Event{
		Platform: a.Address.Platform, ID: signalPrefix + string(a.ID), Conversation: a.Conversation, Body: SignalEvent{Approval: a.ID},
		Actor: a.DecidedBy, Address: a.Address, Payload: payload,
	}
}

// signalPrefix begins the ids of signals; no other event's id begins with it, see FromPlatform.
const signalPrefix = "signal/"

// CardKey is the outbox key of an approval's card.
func (a Approval) CardKey() string { return "card/" + string(a.ID) }
