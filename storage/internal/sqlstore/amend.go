package sqlstore

import (
	"encoding/json"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// amend applies an amendment and stores its event as ended, with the result. It locks the amended event's queue first:
// so the event's turn has either begun or will read the new text, and two amendments are applied one after the other. A
// message that was repeated since, by "Try again" or "Ask again", is amended in its last repetition, which is in the
// same queue.
func (t *Tx) amend(e core.Event) (core.Receipt, error) {
	var a core.Amendment
	if err := json.Unmarshal(e.Payload, &a); err != nil {
		return core.Receipt{}, core.Wrap(core.Invalid, err, "The amendment of %s can't be read.", e.Subject())
	}
	target, err := t.known(e.Platform, e.Subject())
	if err != nil || target.Seq == 0 {
		return core.Receipt{}, err
	}
	amended, err := t.event(target.Seq)
	if err != nil {
		return core.Receipt{}, err
	}
	e.Conversation = amended.Conversation
	if err := t.lockQueues(e.Platform, e.Conversation, amended.Conversation.Queue(), amended.QueueKey()); err != nil {
		return core.Receipt{}, err
	}
	if r, err := t.known(e.Platform, e.ID); err != nil || r.Seq != 0 {
		return r, err
	}
	if amended, err = t.lastRepetition(target.Seq); err != nil {
		return core.Receipt{}, err
	}
	end, err := t.applyAmendment(target.Seq, amended, e.Actor, a)
	if err != nil {
		return core.Receipt{}, err
	}
	var r core.Receipt
	err = t.storeEvent(&r, newEvent{Event: e, invocation: amended.Invocation})
	if err == nil {
		err = t.flush()
	}
	if err != nil {
		return r, err
	}
	if !r.Fresh {
		return t.known(e.Platform, e.ID)
	}
	return r, t.endEvent(r.Seq, end.Kind, end.Cause)
}

// lastRepetition returns the event that repeats an event last, or the event itself if none does.
func (t *Tx) lastRepetition(seq int64) (core.EventRecord, error) {
	for {
		var next int64
		found, err := t.Row([]any{&next}, `select seq from events where retry_of = $1 and retry_of <> 0`, seq)
		if err != nil {
			return core.EventRecord{}, err
		}
		if !found {
			return t.event(seq)
		}
		seq = next
	}
}

// applyAmendment amends the event e, which is the message original or its last repetition. The revisions are those of
// the original.
func (t *Tx) applyAmendment(original int64, e core.EventRecord, by core.Actor, a core.Amendment) (core.End, error) {
	ignored := func(why string) (core.End, error) { return core.End{Kind: core.EndIgnored, Cause: why}, nil }
	if !a.Allowed(by, e.Actor) {
		return ignored("only its author may change it")
	}
	var last string
	if _, err := t.Row([]any{&last}, `select revision from events where seq = $1`, original); err != nil {
		return core.End{}, err
	}
	if a.Revision <= last {
		return ignored("a later change was already applied")
	}
	begun, err := t.exists(`select 1 from queues where queue_key = $1 and event = $2`, e.QueueKey(), e.Seq)
	if err != nil {
		return core.End{}, err
	}
	if a.Added && (begun || e.Retries > 0 || !e.EndedAt.IsZero()) {
		return ignored("its turn had already begun")
	}
	if _, err := t.Exec(`update events set revision = $1 where seq = $2`, a.Revision, original); err != nil {
		return core.End{}, err
	}
	switch {
	case !e.EndedAt.IsZero():
		return t.changeApproval(e.Invocation, by, a)
	case begun:
		return ignored("its turn had already begun")
	case len(a.Payload) == 0:
		if err := t.endEvent(e.Seq, core.EndWithdrawn, "the message was deleted"); err != nil {
			return core.End{}, err
		}
		return core.End{Kind: core.EndApplied, Cause: "the waiting message was withdrawn"}, t.updateReady(e.QueueKey())
	}
	_, err = t.Exec(`update events set payload = $1, fetched = '' where seq = $2`, []byte(a.Payload), e.Seq)
	return core.End{Kind: core.EndApplied, Cause: "the waiting message was updated"}, err
}

// changeApproval updates the open approval cards of the turn to show that the request was changed.
func (t *Tx) changeApproval(id core.InvocationID, by core.Actor, a core.Amendment) (core.End, error) {
	open, err := List(t, readApproval, `select `+approvalColumns+` from approvals where invocation = $1
		and state = 'open' order by seq`+t.sql.forUpdate(), id)
	if err != nil {
		return core.End{}, err
	}
	if len(open) == 0 {
		return core.End{Kind: core.EndIgnored, Cause: "the message was already answered"}, nil
	}
	text := a.Text
	if len(a.Payload) == 0 {
		text = deleted
	}
	for _, approval := range open {
		if err := t.checkedBefore(approval); err != nil {
			return core.End{}, err
		}
		approval.Changed = text
		if _, err := t.Exec(`update approvals set changed = $1 where id = $2`, free(text), approval.ID); err != nil {
			return core.End{}, err
		}
		t.audit(approval.ID, audit.Amended, by.ID, t.auditedRecord(approval))
		t.redrawCards(approval.ID)
	}
	return core.End{Kind: core.EndApplied, Cause: "the approval card shows the change"}, nil
}

// deleted is the text that an approval's card shows if the request's message was deleted.
const deleted = "(the message was deleted)"
