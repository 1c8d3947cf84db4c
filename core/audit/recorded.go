package audit

import (
	"crypto/hmac"
	"strings"

	"gatehouse/core"
)

// Facts returns a digest of what stays of an approval when its session is deleted: the tool, who voted and decided, and
// when.
func Facts(a core.Approval) string {
	call := core.Call{
		Tool: a.Call.Tool, CallID: a.Call.CallID, Secret: a.Call.Secret, Risk: a.Call.Risk, Bound: a.Call.Bound,
	}
	votes := []any{}
	for _, v := range a.Votes {
		votes = append(votes, []any{v.Event, v.Actor, v.Choice, v.Edits, moment(v.At)})
	}
	return digestOf(call, votes, a.State, a.DecidedBy, moment(a.DecidedAt))
}

// Texts returns a digest of what people wrote about an approval, as the database keeps it: the reasons, and that the
// request was changed.
func Texts(a core.Approval) string {
	votes := []string{}
	for _, v := range a.Votes {
		votes = append(votes, kept(v.Reason))
	}
	return digestOf(kept(a.Reason), kept(a.Changed), votes)
}

// kept is a text as the database keeps it: with a replacement for what it can't hold.
func kept(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// IsErased reports whether an approval is decided, and what its card said of the call was erased with its session.
func IsErased(a core.Approval) bool {
	return a.State != core.Open && Record(a) == Record(a.Erased())
}

// Contradiction is in what an approval in the database is not what the audit log records.
type Contradiction struct {
	Faults []string // a sentence each
	// what is known of it all the same: its id, the state that the log records, and its terms unless these were changed
	Holds core.Approval
}

// Error is all faults.
func (c *Contradiction) Error() string { return strings.Join(c.Faults, " ") }

// contradicted is what people and programs are told in place of an approval.
const contradicted = "The audit log contradicts what the database says of this request, so nothing was done, and " +
	"nothing is told of it. " +
	"Do not act on it. Tell whoever runs gatehouse: somebody changed its database, and gatehouse approvals log " +
	"--verify says what."

// CheckRecorded compares an approval, and once it is approved what became of its call, with the entries of the log
// about it, all but Silent ones, in their order. What a state, a card, an answer, a callback or a proof says is made
// from an approval that passes. That the last entries of the log were removed, and the approval put back to what it was
// before, only the check of the whole log finds.
//
// Errors, with a Contradiction behind them: approval_mismatch, and unsupported if the key of an entry is not among
// these.
func (all Keys) CheckRecorded(a core.Approval, i *core.IntentRecord, entries []Entry) error {
	var s Story
	var found faults
	for _, e := range entries {
		if at := all.position(e.Key); at >= 0 && !hmac.Equal([]byte(e.Hash), []byte(all[at].hash(e))) {
			found.add("Entry %d of the audit log was changed since it was written.", e.Seq)
			continue
		}
		s.Tell(e)
	}
	refusal := all.CheckRecord(a, entries)
	if IsErased(a) && core.CategoryOf(refusal) == core.ApprovalMismatch {
		refusal = nil
	}
	found = append(found, s.Faults(all, a)...)
	switch {
	case i != nil:
		found = append(found, s.CallFaults(all, &a, IntentOf(*i))...)
	case a.State == core.Approved && (s.Begun || s.NotRun):
		found.add("The audit log says what became of the tool of the approval %s, but the database does not: that "+
			"was removed.", a.ID)
	}
	if refusal == nil && len(found) == 0 {
		return nil
	}
	told := &core.Error{Category: core.ApprovalMismatch, Message: contradicted}
	if core.CategoryOf(refusal) == core.Unsupported {
		told.Category, told.Message = core.Unsupported, core.MessageOf(refusal)
	}
	c := &Contradiction{Faults: found, Holds: core.Approval{ID: a.ID, State: core.Open}}
	if s.State != "" {
		c.Holds.State = s.State
	}
	if all.Knows(s.terms.key) && !all.differs(s.terms, a.ID, OfTerms, Terms(a)) {
		c.Holds.Invocation, c.Holds.Session, c.Holds.Conversation, c.Holds.Address = a.Invocation, a.Session,
			a.Conversation, a.Address
		c.Holds.External, c.Holds.Requester, c.Holds.Rule, c.Holds.CreatedAt, c.Holds.Deadline = a.External,
			a.Requester, a.Rule, a.CreatedAt, a.Deadline
	}
	told.Err = c
	return told
}
