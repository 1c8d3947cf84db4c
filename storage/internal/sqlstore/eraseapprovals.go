package sqlstore

import (
	"context"
	"slices"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// erasedTurn is why a turn of an erased person ends.
const erasedTurn = "the person who asked was erased"

// cancelOpen ends the person's paused turns, with their approvals, and withdraws their messages that wait.
func (e *eraser) cancelOpen(ctx context.Context) error {
	var waiting []core.Approval
	if err := e.eachApproval(ctx, func(a core.Approval) error {
		open := a.State == core.Open || (a.State == core.Approved || a.State == core.Answered) && !a.Begun
		if a.Requester.ID == e.person.id && open {
			waiting = append(waiting, a)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, a := range waiting {
		if err := e.write(ctx, func(t *Tx) error {
			if _, err := t.lockKnownQueue(a.Conversation.Queue()); err != nil {
				return err
			}
			return t.abandonErased(a)
		}); err != nil {
			return err
		}
	}
	for _, event := range e.person.events {
		if !event.EndedAt.IsZero() || event.Kind() != core.KindMessage {
			continue
		}
		if err := e.write(ctx, func(t *Tx) error {
			if _, err := t.lockKnownQueue(event.QueueKey()); err != nil {
				return err
			}
			waits, err := t.exists(`select 1 from events where seq = $1 and ended_at = 0
				and not exists (select 1 from queues where queue_key = $2 and owner <> '' and event = events.seq)`,
				event.Seq, event.QueueKey())
			if err != nil || !waits {
				return err
			}
			if err := t.endEvent(event.Seq, core.EndWithdrawn, erasedTurn); err != nil {
				return err
			}
			return t.updateReady(event.QueueKey())
		}); err != nil {
			return err
		}
	}
	return nil
}

// abandonErased ends the paused turn of an approval, which has a result for each call that is still open.
func (t *Tx) abandonErased(a core.Approval) error {
	said, err := List(t, readMessage, `select `+messageColumns+` from messages where session = $1 and invocation = $2
		order by n`, a.Session, a.Invocation)
	if err != nil {
		return err
	}
	c := core.Abandon{
		Invocation: a.Invocation, Cancel: true, Reason: erasedTurn, By: core.Actor{ID: core.LocalAdmin},
	}
	for _, call := range core.OpenCalls(said) {
		c.Rows = append(c.Rows, core.Result(call.ID, "Not run: "+erasedTurn+"."))
	}
	return t.abandon(c, core.Claim{Owner: core.LocalAdmin})
}

// approvals erases in approvals, in what became of their calls, and in the reasons of the audit log. Of one that the
// person asked for, or that quotes them, all texts go, so that the audit log can tell an erasure from a change. Where a
// name goes, too, the log is told what the approval is now.
func (e *eraser) approvals(ctx context.Context) error {
	if e.own {
		if err := e.change(ctx, []func(*Tx) error{
			update(`update audit set reason = '' where seq > 0 and actor = $1 and reason <> ''`, e.person.id),
		}); err != nil {
			return err
		}
	}
	return e.eachApproval(ctx, func(a core.Approval) error {
		theirs := a.Requester.ID == e.person.id
		waits := a.State == core.Open
		if !waits {
			var err error
			waits, err = read(ctx, e.Store, func(t *Tx) (bool, error) { return t.goesOn(a.Invocation) })
			if err != nil {
				return err
			}
		}
		if waits && e.own || !waits && theirs != e.own {
			return nil
		}
		stored, err := read(ctx, e.Store, func(t *Tx) (result, error) { return t.result(a.ID) })
		if err != nil {
			return err
		}
		if waits {
			if theirs || e.quotes(a, stored) || !e.unnamed(a) {
				e.done.Approvals = append(e.done.Approvals, a.ID)
			}
			return nil
		}
		texts := theirs || e.quotes(a, stored)
		if e.unnamed(a) && (!texts || isErased(a) && stored.isErased()) {
			return nil
		}
		return e.change(ctx, []func(*Tx) error{func(t *Tx) error { return t.storeErased(e, a.ID) }})
	})
}

// goesOn reports whether a turn has not ended, or is suspended: it may still act on its approvals.
func (t *Tx) goesOn(i core.InvocationID) (bool, error) {
	return t.exists(`select 1 where exists (select 1 from paused where invocation = $1)
		or exists (select 1 from events where invocation = $1 and ended_at = 0)`, i)
}

// result is what is stored of an approved call that was run.
type result struct{ content, progress string }

func (r result) isErased() bool { return (r.content == "" || r.content == `""`) && r.progress == "" }

func (t *Tx) result(id core.ApprovalID) (r result, err error) {
	_, err = t.Row([]any{&r.content, &r.progress}, `select content, progress from intents where approval = $1`, id)
	return r, err
}

// quotes reports whether the texts of an approval, or the result of its call, quote the person.
func (e *eraser) quotes(a core.Approval, r result) bool {
	texts := []string{a.Call.Summary, a.Asked.Message, a.Asked.Dropped, a.Reason, a.Changed}
	raw := []string{string(a.Call.Arguments), r.content, r.progress}
	for _, v := range a.Votes {
		texts = append(texts, v.Reason)
		raw = append(raw, string(v.Answer), string(v.Before))
	}
	if a.Question != nil {
		question, _ := encode(a.Question)
		if _, is := e.words.Fields([]byte(question)); is {
			return true
		}
	}
	return slices.ContainsFunc(texts, func(text string) bool { return e.words.Text(text) != text }) ||
		slices.ContainsFunc(raw, func(text string) bool {
			_, is := withoutWords(e.words, text)
			return is
		})
}

// unnamed reports whether an approval has no name and no reason of the person.
func (e *eraser) unnamed(a core.Approval) bool {
	was, err := encode(a)
	now, err2 := encode(e.withoutPerson(a, false))
	return err == nil && err2 == nil && was == now
}

// isErased reports whether an approval has no texts any more.
func isErased(a core.Approval) bool {
	was, err := encode(a)
	now, err2 := encode(a.Erased())
	return err == nil && err2 == nil && was == now
}

// withoutPerson is an approval without the person's name and reasons and, if all texts go, without these.
func (e *eraser) withoutPerson(a core.Approval, all bool) core.Approval {
	a.Votes = slices.Clone(a.Votes)
	if all {
		a = a.Erased()
	}
	if a.Requester.ID == e.person.id {
		a.Requester.Name = ""
	}
	if a.DecidedBy.ID == e.person.id {
		a.DecidedBy.Name, a.Reason = "", ""
	}
	for i := range a.Votes {
		if a.Votes[i].Actor.ID == e.person.id {
			a.Votes[i].Actor.Name, a.Votes[i].Reason, a.Votes[i].Answer = "", "", nil
		}
	}
	return a
}

// storeErased erases in an approval as it is now.
func (t *Tx) storeErased(e *eraser, id core.ApprovalID) error {
	was, err := t.lockedApproval(id)
	if err != nil {
		return err
	}
	waits, err := t.goesOn(was.Invocation)
	if err != nil || waits || was.State == core.Open {
		return err
	}
	stored, err := t.result(id)
	if err != nil {
		return err
	}
	texts := was.Requester.ID == e.person.id || e.quotes(was, stored)
	now := e.withoutPerson(was, texts)
	before, err := encode(was)
	if err != nil {
		return err
	}
	after, err := encode(now)
	if err != nil {
		return err
	}
	record := before != after
	if err = t.checkedBefore(was); err != nil {
		return err
	}
	if record {
		if _, err := t.Exec(`update approvals set body = $1, reason = $2, changed = $3, decided_by = $4 where id = $5`,
			asJSON{bodyOf(now)}, free(now.Reason), free(now.Changed), asJSON{now.DecidedBy}, now.ID); err != nil {
			return err
		}
		for n, v := range now.Votes {
			if _, err := t.Exec(`update votes set body = $1 where approval = $2 and n = $3`, asJSON{v}, now.ID,
				n); err != nil {
				return err
			}
		}
		t.audit(now.ID, audit.Erased, core.LocalAdmin, t.auditedTerms(now)+", "+t.auditedRecord(now))
	}
	if !texts {
		return nil
	}
	if _, err := t.Exec(`update intents set content = '""', digest = '', progress = '' where approval = $1
		and ended_at > 0`, now.ID); err != nil {
		return err
	}
	if _, err := t.Exec(`update audit set reason = '' where approval = $1 and reason <> ''`, now.ID); err != nil {
		return err
	}
	_, err = t.Exec(`update events set payload = null where kind in ('click', 'again') and subject = $1
		and ended_at > 0 and payload is not null`, now.ID)
	return err
}
