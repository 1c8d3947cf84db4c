package core

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"gatehouse/core/mask"
)

// LocalAdmin is the id of the person at the command line. No platform has people with such an id: theirs begin with its
// name.
const LocalAdmin = "local-admin"

// MayWithdraw reports whether a person may cancel the approval: who requested it, is at the command line, or could end
// it alone by a denial without a reason. A question is withdrawn by who asked it alone.
func (a Approval) MayWithdraw(who Actor) bool {
	if a.Question != nil {
		return a.AskedBy(who) || who.ID == LocalAdmin
	}
	return a.AskedBy(who) || who.ID == LocalAdmin ||
		a.Rule.Vetoes <= 1 && !a.Rule.Reason && a.Rule.MayDecide(who, a.Requester)
}

// AskedBy reports whether the approval was requested by this person, from any of their accounts.
func (a Approval) AskedBy(who Actor) bool {
	return a.Rule.Person(who.ID) == a.Rule.Person(a.Requester.ID)
}

// RefusalToAskAgain is why a person can't ask again for what the approval was requested for, for that person to read;
// nil if they can: they asked for it, and it expired, or a restore has cancelled it. Errors: not_allowed, invalid (it
// is still open), approval_decided.
func (a Approval) RefusalToAskAgain(who Actor) error {
	switch {
	case !a.AskedBy(who):
		return Errorf(NotAllowed, "Only the person who asked can ask again.")
	case a.State == Open:
		return Errorf(Invalid, "%s", a.StateSentence())
	case a.State != Expired && !a.Restored():
		return Errorf(ApprovalDecided, "%s", a.StateSentence())
	}
	return nil
}

// Decide applies a decision at a moment of the store's clock, which for a click is when its event was accepted. It is
// pure: the store calls it inside its transaction. The result's Approval is the one to store or, with an error, the
// unchanged one.
//
// Errors: approval_decided (it is not open; the first decision counts), approval_expired (the decision came after the
// deadline), not_allowed, invalid. As many people's approvals as the rule's quorum approve, as many denials as its
// vetoes deny; people count, not accounts, and each may change their vote while the approval is open, up to MaxVotes
// votes. A withdrawal by who asked cancels. A repeat of the same event's vote or withdrawal is counted once and gives
// no error.
func (a Approval) Decide(d Decision, at time.Time) (Decided, error) {
	stands := Decided{Approval: a}
	if a.counted(d, at) {
		return Decided{Approval: a, Counted: true, Settled: a.State != Open}, nil
	}
	if d.Vote != nil && d.Vote.Choice == Forget {
		return a.forget(d, at)
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
	case d.Remind != "" && late:
		return stands, Errorf(ApprovalExpired, "The approval %s expired.", a.ID)
	case d.Remind != "":
		return Decided{Approval: a, Counted: true}, nil
	case d.Cancel:
		a.settle(Cancelled, d.By, d.Reason, at)
	case d.Vote == nil:
		return stands, Errorf(Invalid, "A decision needs a vote, an expiry or a cancellation.")
	case d.Vote.Choice == Withdraw && !a.AskedBy(d.Vote.Actor):
		return stands, Errorf(NotAllowed, "Only the person who asked can withdraw this request.")
	case d.Vote.Choice == Withdraw:
		a.settle(Cancelled, d.Vote.Actor, "withdrawn by "+cmp.Or(d.Vote.Actor.Name, "the person who asked"), at)
	case d.Altered:
		return stands, Errorf(Invalid, "The stored request is not the one that was asked for, so it can't be "+
			"approved. Deny it, and tell whoever runs gatehouse: somebody changed its database.")
	case late:
		return stands,
			Errorf(ApprovalExpired, "This %s expired at %s. Please ask again.", a.noun(),
				a.Deadline.UTC().Format(time.RFC3339))
	default:
		if err := a.vote(d, at); err != nil {
			return stands, err
		}
	}
	return Decided{Approval: a, Counted: true, Settled: a.State != Open}, nil
}

// counted reports whether a click's event was counted before: its vote is there or, since a withdrawal is no vote, it
// is what settled the approval.
func (a Approval) counted(d Decision, at time.Time) bool {
	if d.Vote == nil || d.Event == 0 {
		return false
	}
	if d.Vote.Choice == Withdraw {
		return a.State == Cancelled && a.DecidedBy.ID == d.Vote.Actor.ID && a.DecidedAt.Equal(at)
	}
	return slices.ContainsFunc(a.Votes, func(v Vote) bool { return v.Event == d.Event })
}

// MaxVotes is how often a person may vote on an approval, counting the changes of their vote, and how often they may
// change its arguments.
const MaxVotes = 20

// voted returns how often a person has voted or, with edits, has changed the arguments.
func (a Approval) voted(who Actor, edits bool) (n int) {
	for _, v := range a.Votes {
		if (v.Choice == Edit) == edits && a.Rule.Person(v.Actor.ID) == a.Rule.Person(who.ID) {
			n++
		}
	}
	return n
}

// vote adds a vote. A person has one: a later one of theirs, of the other choice, takes its place.
func (a *Approval) vote(d Decision, at time.Time) error {
	v := *d.Vote
	v.Event, v.At = d.Event, at
	if v.Remember && (v.Choice != Approve || a.Offers() == Memory{}) {
		return Errorf(Invalid,
			"An approval of this request can't be remembered: its rule does not allow that. Approve it for this one "+
				"time.")
	}
	if err := a.refusal(v.Actor, at); err != nil && !d.Admin {
		return err
	}
	switch {
	case a.Question != nil:
		return a.answer(v, at)
	case v.Choice == Edit:
		return a.edit(v, d)
	case v.Choice != Approve && v.Choice != Deny:
		return Errorf(Invalid, "Unknown choice %q. Use approve or deny.", v.Choice)
	case v.Choice == Approve && v.Edits != a.Edits():
		return ErrChanged
	case v.Choice == Deny && a.Rule.Reason && strings.TrimSpace(v.Reason) == "":
		return Errorf(Invalid, "To deny this, a reason is needed. Please deny it again and say why.")
	}
	for _, o := range a.Standing() {
		if o.Choice == v.Choice && a.Rule.Person(o.Actor.ID) == a.Rule.Person(v.Actor.ID) {
			return Errorf(ApprovalDecided, "You have already voted on this. Your vote counts.")
		}
	}
	if a.voted(v.Actor, false) >= MaxVotes && !d.Admin {
		return Errorf(ApprovalDecided,
			"You have voted on this %d times, and more are not counted. Another approver can decide it, or an admin.",
			MaxVotes)
	}
	a.Votes = append(slices.Clone(a.Votes), v)
	count := 0
	for _, o := range a.Standing() {
		if o.Choice == v.Choice {
			count++
		}
	}
	switch {
	case v.Choice == Deny && (d.Admin || count >= max(1, a.Rule.Vetoes)):
		a.settle(Denied, v.Actor, v.Reason, at)
	case v.Choice == Approve && (d.Admin || count >= max(1, a.Rule.Quorum)):
		a.settle(Approved, v.Actor, v.Reason, at)
	}
	return nil
}

// answer settles a question with the answer of a person who is asked.
func (a *Approval) answer(v Vote, at time.Time) error {
	if v.Choice != Answer {
		return Errorf(Invalid, "This is a question, so it can be answered, and who asked can withdraw it.")
	}
	checked, err := a.Question.Check(v.Answer)
	if err != nil {
		return Wrap(Invalid, err, "That is no answer to this question: %s.", mask.Text(err.Error()))
	}
	v.Answer = checked
	a.Votes = append(slices.Clone(a.Votes), v)
	a.settle(Answered, v.Actor, "", at)
	return nil
}

// Answer is what a question was answered with, as question.Question.Check returned it; nil if it was not, or the answer
// is erased.
func (a Approval) Answer() json.RawMessage {
	if n := len(a.Votes); a.State == Answered && n > 0 {
		return a.Votes[n-1].Answer
	}
	return nil
}

// refusal is why a person may not decide this at a moment, as not_allowed; nil if they may.
func (a Approval) refusal(who Actor, at time.Time) error {
	err := a.Rule.At(a.CreatedAt, at).refusal(who, a.Requester)
	if err != nil && a.Question != nil {
		return Errorf(NotAllowed, "This question is for somebody else.")
	}
	return err
}

// noun is what people call this.
func (a Approval) noun() string {
	if a.Question != nil {
		return "question"
	}
	return "approval"
}

// ErrChanged refuses an approval, or a change, of arguments that were changed since the card was drawn.
var ErrChanged = Errorf(Invalid,
	"The arguments were changed after this card was drawn, so nothing was decided. Look at the card again.")

// edit changes the arguments of the call. Who approved it before has approved something else.
func (a *Approval) edit(v Vote, d Decision) error {
	switch {
	case !a.Rule.Edit:
		return Errorf(NotAllowed, "The rule for this request does not let approvers change its arguments.")
	case d.Edit == nil:
		return Errorf(Invalid, "The changed arguments are missing.")
	case v.Edits != a.Edits():
		return ErrChanged
	case a.voted(v.Actor, true) >= MaxVotes && !d.Admin:
		return Errorf(ApprovalDecided,
			"You have changed the arguments %d times, which is the limit. Another approver can change them, or an "+
				"admin.", MaxVotes)
	}
	a.Requested, v.Before = cmp.Or(a.Requested, a.Call.Digest), a.Call.Arguments
	a.Call, a.Votes = *d.Edit, append(slices.Clone(a.Votes), v)
	return nil
}

// Edits is how often approvers have changed the arguments.
func (a Approval) Edits() (n int) {
	for _, v := range a.Votes {
		if v.Choice == Edit {
			n++
		}
	}
	return n
}

// Before is what the arguments were before approvers changed them; nil if nobody did, or it is erased.
func (a Approval) Before() json.RawMessage {
	for _, v := range a.Votes {
		if v.Choice == Edit {
			return v.Before
		}
	}
	return nil
}

// Editor is the approver who changed the arguments last; the zero Actor if nobody did.
func (a Approval) Editor() (who Actor) {
	for _, v := range a.Votes {
		if v.Choice == Edit {
			who = v.Actor
		}
	}
	return who
}

// ArgumentsChanged begins the sentence of EditNote.
const ArgumentsChanged = "An approver changed the arguments to "

// EditNote tells the model, with the outcome of a call that was started, that its arguments were not its own; secrets
// are masked. It is "" if nobody changed them.
func (a Approval) EditNote() string {
	if a.Requested == "" {
		return ""
	}
	return ArgumentsChanged + string(a.Call.Masked()) + "."
}

// Standing returns the votes that count: the last one of each person, in the order in which the people first voted. An
// approval of other arguments does not count.
func (a Approval) Standing() (votes []Vote) {
	place := map[string]int{}
	for _, v := range a.Votes {
		if v.Choice == Forget {
			continue
		}
		if v.Choice == Edit {
			kept := votes[:0:0]
			clear(place)
			for _, o := range votes {
				if o.Choice != Approve {
					place[a.Rule.Person(o.Actor.ID)] = len(kept)
					kept = append(kept, o)
				}
			}
			votes = kept
			continue
		}
		person := a.Rule.Person(v.Actor.ID)
		if i, voted := place[person]; voted {
			votes[i] = v
			continue
		}
		place[person] = len(votes)
		votes = append(votes, v)
	}
	return votes
}

func (a *Approval) settle(s ApprovalState, by Actor, reason string, at time.Time) {
	a.State, a.DecidedBy, a.Reason, a.DecidedAt = s, by, reason, at
}

// StateSentence describes the approval's state in a sentence.
func (a Approval) StateSentence() string {
	by := a.DecidedBy.Called()
	at := a.DecidedAt.UTC().Format("2006-01-02 15:04 MST")
	switch a.State {
	case Approved:
		return "This was approved by " + by + " at " + at + "."
	case Denied:
		return "This was denied by " + by + " at " + at + "."
	case Answered:
		return "This was answered by " + by + " at " + at + "."
	case Expired:
		return "This " + a.noun() + " expired at " + at + ". Please ask again."
	case Cancelled:
		return "This was cancelled at " + at + "."
	}
	if a.Question != nil {
		return "This is waiting for an answer."
	}
	return "This is waiting for a decision."
}

// DecisionPayload is the value of the field "decision" in a resumed turn's state.
type DecisionPayload struct {
	Approval ApprovalID    `json:"approval"`
	State    ApprovalState `json:"state"`
	By       string        `json:"by,omitempty"`
	Reason   string        `json:"reason,omitempty"`

	Answer json.RawMessage `json:"answer,omitempty"` // to a question
}

// Signal is the event that a settled approval adds to its conversation. Its id is made from the approval's, so that it
// is stored only once.
func (a Approval) Signal() Event {
	by := a.DecidedBy.Called()
	decision, _ := json.Marshal(
		DecisionPayload{Approval: a.ID, State: a.State, By: by, Reason: a.Reason, Answer: a.Answer()})
	payload, _ := json.Marshal(SignalPayload{
		SignalID:   SignalID(a.ID),
		Invocation: a.Invocation,
		Payload:    map[string]json.RawMessage{"decision": decision},
	})
	return Event{
		Platform: a.Address.Platform, ID: signalPrefix + string(a.ID), Conversation: a.Conversation,
		Body:  SignalEvent{Approval: a.ID},
		Actor: a.DecidedBy, Address: a.Address, Payload: payload,
	}
}

// CallbackPost is the post that tells the agent which requested the approval of its decision. The thread makes it a
// destination of its own, so that no decision waits for another.
func (a Approval) CallbackPost() Post {
	return Post{
		Key:          "callback/" + string(a.ID),
		To:           Address{Platform: CallbackPlatform, Channel: a.External.Callback, Thread: string(a.ID)},
		Conversation: a.Conversation, Kind: PostCallback,
		Approval: a.ID,
	}
}

// CallbackPlatform is the name of the platform that delivers posts of the kind PostCallback. Their channel is the URL.
const CallbackPlatform = "callback"

// signalPrefix begins the ids of signals; no other event's id begins with it, see FromPlatform.
const signalPrefix = "signal/"

// CardKey is the outbox key of an approval's card.
func (a Approval) CardKey() string { return "card/" + string(a.ID) }
