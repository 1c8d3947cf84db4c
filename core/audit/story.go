package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// Story is what the log tells of an approval and of its call.
type Story struct {
	Opened time.Time
	State  core.ApprovalState // that the last decision gave it; "" = not decided
	Begun  bool               // its call was started
	NotRun bool               // its turn ended without the call
	Last   int64              // the last entry

	by      string
	votes   []string // who voted what
	call    digest   // that was asked for
	terms   digest
	record  digest
	facts   digest
	texts   digest
	started digest    // the call that was begun
	began   time.Time // when
	ended   time.Time
	outcome string // of the call: succeeded, or a category
	result  digest
}

// digest is a digest in an entry's detail, and the key that it was made with.
type digest struct{ key, text string }

// Silent are the actions that tell nothing of what an approval is: of a vote that did not count, the approval may not
// even exist. That a card was sent, or none was, is compared with nothing: a card is pruned before its approval.
var Silent = []string{Rejected, Altered, Sent, Undelivered, Revealed, Reminded, Overtaken, Used}

// Tell adds an entry of the approval to the story. The entries come in their order.
func (s *Story) Tell(e Entry) {
	if slices.Contains(Silent, e.Action) {
		return
	}
	s.Last = e.Seq
	for kind, held := range map[string]*digest{
		OfTerms: &s.terms, OfRecord: &s.record, OfFacts: &s.facts, OfTexts: &s.texts,
	} {
		if e.Held(kind) != "" {
			*held = heldBy(e, kind)
		}
	}
	switch e.Action {
	case "opened":
		s.Opened, s.call = e.At, heldBy(e, "digest")
	case "voted", Changed:
		s.votes = append(s.votes, e.Actor+" "+firstIn(e))
	case Edited:
		s.votes, s.call = append(s.votes, e.Actor+" "+firstIn(e)), heldBy(e, "digest")
	case "begun":
		s.Begun, s.began, s.started = true, e.At, heldBy(e, "digest")
	case "settled", "unknown":
		s.ended, s.outcome, s.result = e.At, firstIn(e), heldBy(e, "digest")
	case NotRun:
		s.NotRun, s.ended, s.outcome, s.result = true, e.At, firstIn(e), heldBy(e, "digest")
	case Escalated, Amended, Erased:
	default:
		s.State, s.by = core.ApprovalState(e.Action), e.Actor
	}
}

// heldBy returns the digest of a kind that an entry holds.
func heldBy(e Entry, kind string) digest { return digest{e.Key, e.Held(kind)} }

// firstIn returns the first part of an entry's detail: the choice of a vote, or how a call ended.
func firstIn(e Entry) string {
	first, _, _ := strings.Cut(e.Detail, ",")
	return first
}

// Whole reports whether the log records of the approval all that it records today. An entry of an earlier build has no
// digests of names, times and reasons, so these are compared with nothing.
func (s *Story) Whole() bool { return s.facts.text != "" && s.texts.text != "" }

// faults collects sentences.
type faults []string

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// Faults returns, a sentence each, in what an approval is not what the log tells of it. That its texts were erased is
// no fault.
func (s *Story) Faults(all Keys, a core.Approval) []string {
	var f faults
	switch {
	case s == nil || s.Opened.IsZero():
		f.add("The approval %s is in the database, but the audit log does not say that it was opened.", a.ID)
		return f
	case a.State != core.Open && s.State == "":
		f.add("The approval %s is %s in the database, but the audit log has no entry of its decision.", a.ID, a.State)
	case a.State == core.Open && s.State != "", a.State != core.Open && a.State != s.State:
		f.add("The approval %s is %s in the database, but %s in the audit log.", a.ID, a.State, s.State)
	case a.State != core.Open && a.DecidedBy.ID != s.by:
		f.add("The approval %s was decided by %q in the database, but by %q in the audit log.", a.ID, a.DecidedBy.ID,
			s.by)
	}
	erased := IsErased(a)
	if !erased && all.differs(s.call, a.ID, OfCall, a.Call.Digest) {
		f.add("The approval %s is for another call in the database than in the audit log.", a.ID)
	}
	if all.differs(s.terms, a.ID, OfTerms, Forms(OfTerms, a)...) {
		f.add("The rule, the requester, the deadline or the conversation of the approval %s was changed since it was "+
			"recorded.", a.ID)
	}
	if !erased && all.differs(s.record, a.ID, OfRecord, Forms(OfRecord, a)...) {
		f.add("What the card of the approval %s says of the call, or its decision, was changed since it was recorded.",
			a.ID)
	}
	if all.differs(s.facts, a.ID, OfFacts, Facts(a)) {
		f.add("Who voted on or decided the approval %s, or when, was changed since it was recorded.", a.ID)
	}
	if all.differs(s.texts, a.ID, OfTexts, Texts(a)) && (!erased || Texts(a) != Texts(a.Erased())) {
		f.add("A reason that was given with the approval %s, or the note that its request was changed, was changed "+
			"since it was recorded.", a.ID)
	}
	if s.Begun && !a.Begun {
		f.add("The tool of the approval %s was started, says the audit log, but not the database.", a.ID)
	}
	var votes []string
	for _, v := range a.Votes {
		votes = append(votes, v.Actor.ID+" choice "+string(v.Choice))
	}
	switch {
	case len(votes) != len(s.votes):
		f.add("The approval %s has %d votes in the database, but %d in the audit log.", a.ID, len(votes), len(s.votes))
	case !slices.Equal(votes, s.votes):
		f.add("The approval %s has votes of other people or for another choice in the database than in the audit log.",
			a.ID)
	}
	return f
}

// CallFaults returns, a sentence each, in what the intent of an approval's call is not what the log tells of it. a is
// nil if the approval is gone.
func (s *Story) CallFaults(all Keys, a *core.Approval, i Intent) []string {
	var f faults
	began := !i.BegunAt.IsZero()
	switch {
	case i.Fault != nil:
		f.add("The result of the tool of the approval %s can't be read from the database (%v): somebody changed it.",
			i.Approval, i.Fault)
		return f
	case !began && (s == nil || !s.NotRun):
		f.add("The tool of the approval %s was not run, says the database, but the audit log has no entry of that.",
			i.Approval)
		return f
	case began && (s == nil || !s.Begun):
		f.add("The tool of the approval %s was started, but the audit log has no entry of it.", i.Approval)
		return f
	case began && i.Digest != "" && all.differs(s.started, i.Approval, OfCall, i.Digest),
		a != nil && (a.Call.Tool != i.Tool || a.Invocation != i.Invocation):
		f.add("The tool of the approval %s was started for another call in the database than in the audit log.",
			i.Approval)
	case i.EndedAt.IsZero() != s.ended.IsZero():
		f.add("The tool of the approval %s has ended either in the database or in the audit log, but not in both.",
			i.Approval)
		return f
	}
	if began && !i.BegunAt.Truncate(time.Microsecond).Equal(s.began) ||
		!i.EndedAt.Truncate(time.Microsecond).Equal(s.ended) {
		f.add("The tool of the approval %s was started or has ended at another time in the database than in the "+
			"audit log.", i.Approval)
	}
	if i.EndedAt.IsZero() {
		return f
	}
	if outcome := Outcome(i.Category); outcome != s.outcome {
		f.add("The result of the tool of the approval %s is %q in the database, but %q in the audit log.", i.Approval,
			outcome, s.outcome)
	}
	if i.Result != "" && all.differs(s.result, i.Approval, OfResult, i.Result) {
		f.add("The result of the tool of the approval %s is not the one that the audit log has the digest of: it was "+
			"changed.", i.Approval)
	}
	return f
}

// ResultErased reports whether the log holds the digest of a result that the intent does not have any more.
func (s *Story) ResultErased(all Keys, i Intent) bool {
	return s != nil && !i.EndedAt.IsZero() && i.Result == "" && all.differs(s.result, i.Approval, OfResult, "")
}

// differs reports whether what the log holds, if it holds something, is none of the digests. With a key that is not
// among the keys it can't be told; that is a fault of the entry.
func (all Keys) differs(held digest, id core.ApprovalID, kind string, stored ...string) bool {
	return held.text != "" && all.Knows(held.key) && !all.Holds(held.key, held.text, id, kind, stored...)
}
