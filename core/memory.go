package core

import (
	"slices"
	"time"
)

// Memory is what an approval that is remembered allows: the same call in its conversation, for a while after the
// decision and so many times. The zero Memory allows none.
type Memory struct {
	For  time.Duration
	Uses int
}

// DefaultUses is how many further calls a remembered approval allows if its rule does not say.
const DefaultUses = 5

// MaxRemembered is how many approved calls of a conversation, the latest first, are looked through for one that is
// remembered.
const MaxRemembered = 200

// Memory is what the rule lets an approver allow with one press, for a call of this risk; zero if only that call.
func (r Rule) Memory(risk Risk) Memory {
	switch {
	case r.Verdict != VerdictAsk || r.Remember <= 0 || risk == Dangerous && !r.RememberDangerous:
		return Memory{}
	case r.RememberUses > 0:
		return Memory{r.Remember, r.RememberUses}
	}
	return Memory{r.Remember, DefaultUses}
}

// Offers is what an approver of the open approval may allow besides its own call; zero if nothing.
func (a Approval) Offers() Memory {
	if a.Question != nil || a.External != nil { // no conversation of ours would ask for the same call again
		return Memory{}
	}
	return a.Rule.Memory(a.Call.Risk)
}

// Use is one of the calls that a remembered approval allows.
type Use struct {
	Of    ApprovalID `json:"of"`    // the approval
	N     int        `json:"n"`     // which use this is, from 1
	Uses  int        `json:"uses"`  // of so many
	Until time.Time  `json:"until"` // from when on it allows none
}

// Memory is what the approval allows besides its own call, as those who approved it said; zero if nothing, or no more.
// As many of them as the rule's quorum must have said so.
func (a Approval) Memory() Memory {
	if a.State != Approved || a.Use != nil || a.Forgotten() ||
		!a.rememberedFor(a.Requester, a.Rule.At(a.CreatedAt, a.DecidedAt)) {
		return Memory{}
	}
	return a.Rule.Memory(a.Call.Risk)
}

// rememberedFor reports whether enough of those who may decide a request of this person under a rule remembered the
// approval.
func (a Approval) rememberedFor(requester Actor, rule Rule) bool {
	n := 0
	for _, v := range a.Standing() {
		if v.Choice == Approve && v.Remember && rule.MayDecide(v.Actor, requester) {
			n++
		}
	}
	return n >= max(1, rule.Quorum)
}

// Forgotten reports whether somebody said that the approval is not to be remembered any more.
func (a Approval) Forgotten() bool {
	return slices.ContainsFunc(a.Votes, func(v Vote) bool { return v.Choice == Forget })
}

// Remembers reports whether this approval allows a call of another requester, or of the same, under today's rule for
// that: it is remembered, the call, the tool's schema and the rule are the same, and those who remembered it could
// approve it for the requester. How long ago it was decided, and how often it was used, does not matter here.
func (a Approval) Remembers(call Call, rule Rule, requester Actor) bool {
	if rule.Escalate.After > 0 && !a.Rule.Same(rule) {
		rule = rule.Escalated() // as it is stored with an approval that was decided later
	}
	return a.Call.Tool == call.Tool && a.Call.Digest == call.Digest && a.Call.Risk == call.Risk &&
		a.Call.Bound.Schema == call.Bound.Schema && a.Rule.Same(rule) && a.Memory() != Memory{} &&
		a.rememberedFor(requester, rule.At(a.CreatedAt, a.DecidedAt))
}

// NextUse is the use of this approval at a moment, if those of uses have been made; nil if it allows no further one.
func (a Approval) NextUse(uses int, at time.Time) *Use {
	m, until := a.Memory(), a.DecidedAt.Add(a.Rule.Remember)
	if uses >= m.Uses || !at.Before(until) {
		return nil
	}
	return &Use{Of: a.ID, N: uses + 1, Uses: m.Uses, Until: until}
}

var (
	errForgotten = Errorf(ApprovalDecided,
		"This is not remembered, or not any more: the next such call needs an approval.")
	errNotYours = Errorf(NotAllowed, "Only the person who asked and the approvers can stop this.")
)

// CheckForget is why this person can't stop what the card says is remembered, as far as the card shows; nil if they
// can.
func (c Card) CheckForget(who Actor) error {
	switch {
	case c.Memory == Memory{}:
		return errForgotten
	case !c.AskedBy(who) && !c.rule().MayDecide(who, Actor{}):
		return errNotYours
	}
	return nil
}

// forget ends what a remembered approval allows. Whoever asked, may decide, or is at the command line may do that.
func (a Approval) forget(d Decision, at time.Time) (Decided, error) {
	v := *d.Vote
	switch {
	case a.Memory() == Memory{} || !at.Before(a.DecidedAt.Add(a.Rule.Remember)):
		return Decided{Approval: a}, errForgotten
	case !d.Admin && !a.AskedBy(v.Actor) && !a.Rule.MayDecide(v.Actor, Actor{}):
		return Decided{Approval: a}, errNotYours
	}
	v.Event, v.At = d.Event, at
	a.Votes = append(slices.Clone(a.Votes), v)
	return Decided{Approval: a, Counted: true}, nil
}
