package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// Decide applies a decision and commits the result: vote, audit entries, signal and new card. All checks run under the
// approval's lock, so the first of two concurrent decisions wins. It returns the errors of Approval.Decide, with the
// approval as it is now. An expiry fails with store_busy while a click that was accepted before the deadline waits to
// be counted. An unknown approval is not_found.
func (s *Store) Decide(ctx context.Context, d core.Decision) (core.Decided, error) {
	var decided core.Decided
	// the error of Approval.Decide, not_found or a click that waits; at most the audit log was changed, so the
	// transaction may commit
	var refused error
	err := s.write(ctx, func(t *Tx) error {
		d := d // as it is when the transaction is repeated
		decided, refused = core.Decided{}, nil
		a, err := t.lockForDecision(d)
		if core.CategoryOf(err) == core.NotFound {
			refused = err
			return t.auditRejected(d, "", refused)
		}
		if err != nil {
			return err
		}
		at, err := t.decidedAt(d)
		if err != nil {
			return err
		}
		if d.Expire && a.State == core.Open {
			waits, err := t.clickWaits(a)
			if err != nil {
				return err
			}
			if waits {
				decided.Approval, refused = a,
					core.Errorf(core.StoreBusy, "A click on %s came in time and has not been counted yet.", a.ID)
				return nil
			}
		}
		contradiction := t.checkBefore(a)
		if contradiction != nil && !t.audited.contradicted[a.ID] {
			return contradiction
		}
		if d, err = checkVote(a, d, contradiction); core.CategoryOf(err) == core.Unsupported {
			decided.Approval, refused = a, err
			return t.auditRejected(d, a.Session, refused)
		}
		decided, refused = a.Decide(d, at)
		if contradiction != nil && core.CategoryOf(refused) == core.ApprovalDecided {
			// not by whom, as the database says
			refused = core.Errorf(core.ApprovalDecided, "%s", core.MessageOf(contradiction))
		}
		if refused != nil {
			return t.auditRejected(d, a.Session, refused)
		}
		if d.Remind != "" {
			return t.remind(a, d)
		}
		if !changed(a, decided.Approval) {
			return nil
		}
		return t.storeDecided(a, decided, d)
	})
	if err != nil {
		return core.Decided{Approval: decided.Approval}, err
	}
	return decided, refused
}

// remind adds the posts of a reminder or an escalation, unless they are known, and records it. The card that a
// reminder leads to is redrawn before: if its message was deleted, it is posted anew. A reminder that a later one has
// overtaken is only recorded, once. An escalation is recorded in the approval's rule, too, and all cards are redrawn:
// they name who may decide, and these see it in their lists, whatever the clock of the process that shows it.
func (t *Tx) remind(a core.Approval, d core.Decision) error {
	var fresh []core.Post
	for _, p := range d.Posts {
		known, err := t.exists(`select 1 from outbox where key = $1`, p.Key)
		if err != nil {
			return err
		}
		if !known {
			fresh = append(fresh, p)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if a.Overtaken(d.Task, t.Now) {
		known, err := t.exists(`select 1 from audit where approval = $1 and action = $2 and detail = $3
			limit 1`, a.ID, audit.Overtaken, d.Task)
		if err == nil && !known {
			t.audit(a.ID, audit.Overtaken, d.By.ID, d.Task)
		}
		return err
	}
	for _, p := range fresh {
		if p.Reminds != "" {
			t.changePost(p.Reminds, func(*core.Post) bool { return true })
		}
		t.addPost(p)
	}
	action, detail := audit.Reminded, ""
	if d.Remind == core.Escalated {
		action = audit.Escalated
		a.Rule = a.Rule.Escalated()
		if _, err := t.Exec(`update approvals set body = $1 where id = $2`, asJSON{bodyOf(a)}, a.ID); err != nil {
			return err
		}
		if err := t.Do(`update readers set since = 0 where since > 0
			and approval = (select seq from approvals where id = $1)`, a.ID); err != nil {
			return err
		}
		t.redrawCards(a.ID)
		detail = t.auditedTerms(a)
	}
	t.audit(a.ID, action, d.By.ID, detail)
	return nil
}

func changed(before, after core.Approval) bool {
	return before.State != after.State || len(before.Votes) != len(after.Votes)
}

// checkVote returns a decision with what the check of its approval gave. A request that the audit log contradicts can't
// be approved, answered or changed, but ended. It fails with unsupported if it can't be told whether the log does.
func checkVote(a core.Approval, d core.Decision, contradiction error) (core.Decision, error) {
	if d.Vote == nil || a.State != core.Open || d.Vote.Choice == core.Deny || d.Vote.Choice == core.Withdraw ||
		contradiction == nil {
		return d, nil
	}
	if core.CategoryOf(contradiction) == core.Unsupported {
		return d, contradiction
	}
	d.Altered = true
	return d, nil
}

// lockForDecision takes the locks in order and then reads the approval. First comes the conversation's queue, which
// receives the signal. For an expiry it also locks the queue of the approval's clicks, so that no new click can slip
// in. The approval comes last.
func (t *Tx) lockForDecision(d core.Decision) (core.Approval, error) {
	a, err := t.approval(d.Approval)
	if err != nil || !t.sql.RowLocks {
		return a, err
	}
	var keys []core.QueueKey
	if a.External == nil {
		keys = append(keys, a.Conversation.Queue())
	}
	if d.Expire {
		keys = append(keys, clicks(a.ID))
	}
	if err := t.lockQueues(a.Address.Platform, a.Conversation, keys...); err != nil {
		return a, err
	}
	if a, err = t.lockedApproval(d.Approval); err == nil && a.External != nil { // none of its queues was locked
		err = t.readClock()
	}
	return a, err
}

// clicks returns the queue of an approval's clicks.
func clicks(id core.ApprovalID) core.QueueKey {
	return core.Event{Body: core.ClickEvent{Approval: id}}.QueueKey()
}

// decidedAt returns the time of a decision. A click counts from when its event was accepted, however late it is
// processed.
func (t *Tx) decidedAt(d core.Decision) (at time.Time, err error) {
	at = t.Now
	if d.Event != 0 {
		_, err = t.Row([]any{timestamp{&at}}, `select accepted_at from events where seq = $1`, d.Event)
	}
	return at, err
}

// clickWaits reports whether a click that was made before the deadline waits to be counted.
func (t *Tx) clickWaits(a core.Approval) (bool, error) {
	if a.Deadline.IsZero() {
		return false, nil
	}
	return t.exists(`select 1 from events where queue_key = $1 and ended_at = 0 and signal = false and accepted_at < $2
		limit 1`, clicks(a.ID), a.Deadline)
}

// auditRejected records a vote that does not count, or the attempt to approve a call that was altered. A click that is
// processed twice is recorded once. session is the approval's; without an approval it is "", and the vote's reason is
// left out, since no deletion of a session would erase it.
func (t *Tx) auditRejected(d core.Decision, session core.SessionID, why error) error {
	if d.Vote == nil {
		return nil
	}
	action, detail := audit.Rejected, fmt.Sprintf("choice %s, %s", d.Vote.Choice, core.CategoryOf(why))
	if d.Altered && core.CategoryOf(why) == core.Invalid {
		action = audit.Altered
	}
	if d.Event != 0 {
		detail += fmt.Sprintf(", event %d", d.Event)
		known, err := t.exists(`select 1 from audit where approval = $1 and action = $2 and detail = $3
			limit 1`, d.Approval, action, detail)
		if err != nil || known {
			return err
		}
	}
	if t.Now.IsZero() { // nothing was locked
		if err := t.readClock(); err != nil {
			return err
		}
	}
	reason := textOf(d, d.Vote.Reason)
	if session == "" {
		reason = ""
	}
	t.auditReason(d.Approval, session, action, d.Vote.Actor.ID, join(detail, d.Detail), reason)
	return nil
}

// join joins two parts of an entry's detail; either may be empty.
func join(detail, more string) string {
	if detail == "" || more == "" {
		return detail + more
	}
	return detail + ", " + more
}

// votedBefore reports whether the n-th vote takes the place of an earlier one of the same person.
func votedBefore(a core.Approval, n int) bool {
	person := a.Rule.Person(a.Votes[n].Actor.ID)
	return slices.ContainsFunc(a.Votes[:n], func(v core.Vote) bool {
		return v.Choice != core.Edit && a.Rule.Person(v.Actor.ID) == person
	})
}

// textOf is a reason as the audit log keeps it: with the name that the local-admin gave.
func textOf(by core.Decision, reason string) string {
	switch {
	case by.As == "":
		return reason
	case reason == "":
		return fmt.Sprintf("as %q", by.As)
	}
	return fmt.Sprintf("as %q: %s", by.As, reason)
}

// storeDecided stores the result of a decision.
func (t *Tx) storeDecided(before core.Approval, d core.Decided, by core.Decision) error {
	a := d.Approval
	for n, v := range a.Votes[len(before.Votes):] {
		n += len(before.Votes)
		if _, err := t.Exec(`insert into votes (approval, n, actor, body) values ($1, $2, $3, $4)`, a.ID, n, v.Actor.ID,
			asJSON{v}); err != nil {
			return err
		}
		if v.Choice == core.Edit {
			if _, err := t.Exec(`update approvals set body = $1 where id = $2`, asJSON{bodyOf(a)}, a.ID); err != nil {
				return err
			}
			if err := cmp.Or(t.redrawSame(before), t.redrawSame(a)); err != nil {
				return err
			}
			t.audit(a.ID, audit.Edited, v.Actor.ID,
				join(join("choice edit", by.Detail),
					join(t.auditedCall(a.ID, a.Call.Tool, a.Call.Digest), t.auditedRecord(a))))
			continue
		}
		action := "voted"
		if v.Choice == core.Forget {
			if err := t.redrawUses(a); err != nil {
				return err
			}
		}
		if v.Choice != core.Forget && votedBefore(a, n) {
			action = audit.Changed
		}
		t.auditReason(a.ID, a.Session, action, v.Actor.ID,
			join(join(fmt.Sprintf("choice %s", v.Choice), by.Detail), t.auditedRecord(a)), textOf(by, v.Reason))
	}
	if before.State == core.Open { // it does not wait any more for who has voted
		if err := t.storeReaders(a); err != nil {
			return err
		}
	}
	if d.Settled {
		if err := t.storeDecision(a); err != nil {
			return err
		}
		if err := t.redrawSame(before); err != nil {
			return err
		}
		if err := t.decided(a, by.Detail, textOf(by, a.Reason)); err != nil {
			return err
		}
	}
	t.redrawCards(a.ID)
	return nil
}

// redrawSame makes the cards of the other open requests of the same call, by the same person in the same conversation,
// be drawn once more: each says which of them it is, and links to the first.
func (t *Tx) redrawSame(a core.Approval) error {
	if a.Question != nil || a.External != nil {
		return nil
	}
	// the database looks through the others' texts, so that only these are read
	open, err := List(t, readApproval, `select `+approvalColumns+` from approvals
		where requester = $1 and state = 'open' and conversation = $2 and replace(body, $3, '') <> body
		order by seq`, a.Requester.ID, a.Conversation, a.Call.Digest)
	same := slices.DeleteFunc(open, func(o core.Approval) bool { return o.Call.Digest != a.Call.Digest })
	for _, other := range same {
		if other.ID == a.ID && a.Edits() == 0 { // it is new
			continue
		}
		t.changeCards(other.ID, func(card core.OutboxRow) error {
			p := card.Post
			if p.Like == "" {
				return t.raiseWanted(card)
			}
			p.Like = same[0].CardKey() + strings.TrimPrefix(p.Key, other.CardKey())
			return t.changeRow(card, p)
		})
	}
	return err
}

// redrawMemory makes the cards of what is remembered be drawn once more after a use: they say how many are left. After
// the last one the cards of the earlier uses offer nothing to stop any more.
func (t *Tx) redrawMemory(use core.Use) error {
	t.redrawCards(use.Of)
	source, err := t.approval(use.Of)
	if core.CategoryOf(err) == core.NotFound || err == nil && use.N < use.Uses {
		return nil
	}
	if err != nil {
		return err
	}
	return t.redrawUses(source)
}

// redrawUses makes the cards of the calls that a remembered approval has allowed be drawn once more. That of the last
// one never offers to stop anything.
func (t *Tx) redrawUses(a core.Approval) error {
	later, err := List(t, readApproval, `select `+approvalColumns+` from approvals
		where conversation = $1 and state = 'approved' and decided_at >= $2`, a.Conversation, a.DecidedAt)
	for _, use := range later {
		if use.Use != nil && use.Use.Of == a.ID && use.Use.N < use.Use.Uses {
			t.redrawCards(use.ID)
		}
	}
	return err
}
