package approvals

import (
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// story is what the log tells of an approval.
type story struct {
	opened  time.Time
	call    digest // that was asked for
	terms   digest
	record  digest
	votes   []string           // who voted what
	state   core.ApprovalState // "" = not decided
	by      string
	begun   bool
	started digest // the call that was begun
	notRun  bool   // its turn ended without it
	ended   bool
	outcome string // of the call: succeeded, or a category
	result  digest
	last    int64 // the last entry
}

// digest is a digest in an entry's detail, and the key that it was made with.
type digest struct{ key, text string }

// tell adds an entry to its approval's story. A vote that did not count tells nothing of the approval, which may not exist. That a card was
// sent is compared with nothing: a card is pruned before its approval.
func tell(stories map[core.ApprovalID]*story, e audit.Entry) {
	if e.Action == audit.Rejected || e.Action == audit.Altered || e.Action == audit.Sent {
		return
	}
	s := stories[e.Approval]
	if s == nil {
		s = &story{}
		stories[e.Approval] = s
	}
	s.last = e.Seq
	if e.Held(audit.OfTerms) != "" {
		s.terms = digestOf(e, audit.OfTerms)
	}
	if e.Held(audit.OfRecord) != "" {
		s.record = digestOf(e, audit.OfRecord)
	}
	switch e.Action {
	case "opened":
		s.opened, s.call = e.At, digestOf(e, "digest")
	case "voted", audit.Changed:
		s.votes = append(s.votes, e.Actor+" "+firstIn(e))
	case audit.Edited:
		s.votes, s.call = append(s.votes, e.Actor+" "+firstIn(e)), digestOf(e, "digest")
	case "begun":
		s.begun, s.started = true, digestOf(e, "digest")
	case "settled", "unknown":
		s.ended, s.outcome, s.result = true, firstIn(e), digestOf(e, "digest")
	case audit.NotRun:
		s.notRun, s.outcome, s.result = true, firstIn(e), digestOf(e, "digest")
	case audit.Revealed, audit.Reminded, audit.Overtaken, audit.Escalated:
	default:
		s.state, s.by = core.ApprovalState(e.Action), e.Actor
	}
}

// digestOf returns the digest of a kind that an entry holds.
func digestOf(e audit.Entry, kind string) digest { return digest{e.Key, e.Held(kind)} }

// firstIn returns the first part of an entry's detail: the choice of a vote, or how a call ended.
func firstIn(e audit.Entry) string {
	first, _, _ := strings.Cut(e.Detail, ",")
	return first
}

// comparison checks the records against the stories.
type comparison struct {
	*LogReport
	keys    audit.Keys
	stories map[core.ApprovalID]*story
}

// records skips approvals that the log mentions after the records were begun to be read.
func (c comparison) records(records audit.Records) {
	changing := map[core.ApprovalID]bool{}
	for id, s := range c.stories {
		changing[id] = s.last > records.Before.Seq
	}
	stored, begun := map[core.ApprovalID]bool{}, map[core.ApprovalID]bool{}
	for _, a := range records.Approvals {
		if stored[a.ID] = true; changing[a.ID] {
			continue
		}
		c.Approvals++
		c.approval(c.stories[a.ID], a)
	}
	for _, i := range records.Intents {
		if begun[i.Approval] = true; changing[i.Approval] {
			continue
		}
		if !i.NotRun {
			c.Intents++
		}
		c.intent(c.stories[i.Approval], i)
	}
	for id, s := range c.stories {
		if s.begun && s.notRun {
			c.fault("The audit log says of the tool of the approval %s both that it was started and that it was not run.", id)
		}
		pruned := s.state != "" && !s.opened.After(records.After.Pruned)
		switch {
		case changing[id]:
			c.Changing++
		case pruned:
		case !stored[id]:
			c.fault("The audit log tells of the approval %s, which is not in the database and was not pruned: it was removed.", id)
		case s.begun && !begun[id]:
			c.fault("The audit log says that the tool of the approval %s was started, but the database has no intent of it: it was removed.", id)
		case s.notRun && !begun[id]:
			c.fault("The audit log says that the tool of the approval %s was not run, but the database does not: that was removed.", id)
		}
	}
}

func (c comparison) approval(s *story, a audit.Approval) {
	switch {
	case a.Fault != nil:
		c.fault("The approval %s can't be read from the database (%v): somebody changed it.", a.ID, a.Fault)
		return
	case s == nil || s.opened.IsZero():
		c.fault("The approval %s is in the database, but the audit log does not say that it was opened.", a.ID)
		return
	case a.State != core.Open && s.state == "":
		c.fault("The approval %s is %s in the database, but the audit log has no entry of its decision.", a.ID, a.State)
	case a.State == core.Open && s.state != "", a.State != core.Open && a.State != s.state:
		c.fault("The approval %s is %s in the database, but %s in the audit log.", a.ID, a.State, s.state)
	case a.State != core.Open && a.DecidedBy.ID != s.by:
		c.fault("The approval %s was decided by %q in the database, but by %q in the audit log.", a.ID, a.DecidedBy.ID, s.by)
	}
	text := string(a.Call.Arguments)
	erased := a.State != core.Open && (text == "" || text == "null")
	if erased {
		c.Calls++
	} else if altered(a.Call) {
		c.fault("The tool or the arguments of the approval %s were changed: they are not those that its digest is of.", a.ID)
	}
	if !erased && c.differs(s.call, a.ID, audit.OfCall, a.Call.Digest) {
		c.fault("The approval %s is for another call in the database than in the audit log.", a.ID)
	}
	if c.differs(s.terms, a.ID, audit.OfTerms, audit.Terms(a.Approval)) {
		c.fault("The rule, the requester, the deadline or the conversation of the approval %s was changed since it was recorded.", a.ID)
	}
	if !erased && c.differs(s.record, a.ID, audit.OfRecord, audit.Record(a.Approval)) {
		c.fault("What the card of the approval %s says of the call, or its decision, was changed since it was recorded.", a.ID)
	}
	var votes []string
	for _, v := range a.Votes {
		votes = append(votes, v.Actor.ID+" choice "+string(v.Choice))
	}
	switch {
	case len(votes) != len(s.votes):
		c.fault("The approval %s has %d votes in the database, but %d in the audit log.", a.ID, len(votes), len(s.votes))
	case !slices.Equal(votes, s.votes):
		c.fault("The approval %s has votes of other people or for another choice in the database than in the audit log.", a.ID)
	}
}

func (c comparison) intent(s *story, i audit.Intent) {
	switch {
	case i.Fault != nil:
		c.fault("The result of the tool of the approval %s can't be read from the database (%v): somebody changed it.", i.Approval, i.Fault)
		return
	case i.NotRun && (s == nil || !s.notRun):
		c.fault("The tool of the approval %s was not run, says the database, but the audit log has no entry of that.", i.Approval)
		return
	case i.NotRun:
	case s == nil || !s.begun:
		c.fault("The tool of the approval %s was started, but the audit log has no entry of it.", i.Approval)
		return
	case i.Digest != "" && c.differs(s.started, i.Approval, audit.OfCall, i.Digest):
		c.fault("The tool of the approval %s was started for another call in the database than in the audit log.", i.Approval)
	case i.Ended != s.ended:
		c.fault("The tool of the approval %s has ended either in the database or in the audit log, but not in both.", i.Approval)
		return
	}
	if i.Ended {
		c.result(s, i)
	}
}

// result checks how a call ended and, unless that was erased, what its result was.
func (c comparison) result(s *story, i audit.Intent) {
	if outcome := audit.Outcome(i.Category); outcome != s.outcome {
		c.fault("The result of the tool of the approval %s is %q in the database, but %q in the audit log.", i.Approval, outcome, s.outcome)
	}
	switch {
	case i.Result != "":
		if c.differs(s.result, i.Approval, audit.OfResult, i.Result) {
			c.fault("The result of the tool of the approval %s is not the one that the audit log has the digest of: it was changed.", i.Approval)
		}
	case c.differs(s.result, i.Approval, audit.OfResult, ""):
		c.Results++
	}
}

// differs reports whether a digest is not the one that the log holds. With a key that is not among the keys it can't be told; that is a
// fault of the entry.
func (c comparison) differs(held digest, id core.ApprovalID, kind, stored string) bool {
	return c.keys.Knows(held.key) && c.keys.Digest(held.key, id, kind, stored) != held.text
}
