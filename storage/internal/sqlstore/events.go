package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
)

// Events returns the events that match the filter, the latest first.
func (s *Store) Events(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error) {
	var where conditions
	if slices.Equal(f.Ends, []core.EndKind{core.EndDead}) { // the common query, which has its own index
		where.and("end_kind = 'dead'")
	} else {
		in(&where, "end_kind", f.Ends)
	}
	if f.Waiting {
		where.and("ended_at = 0")
	}
	where.is("platform", f.Platform)
	where.is("id", f.ID)
	where.is("conversation", string(f.Conversation))
	where.is("session", string(f.Session))
	where.is("conversation", string(f.Session.Conversation())) // it has an index
	where.is("invocation", string(f.Invocation))
	if f.Seq != 0 {
		where.and("seq = " + where.arg(f.Seq))
	}
	in(&where, "kind", f.Kinds)
	if f.Before != "" {
		where.and("seq < (select seq from events where platform = " + where.arg(f.Platform) +
			" and id = " + where.arg(f.Before) + ")")
	}
	columns := eventColumns
	if f.Bare {
		columns = strings.NewReplacer("payload", "null", "fetched", "''").Replace(columns)
	}
	return list(ctx, s, readEvent, `select `+columns+` from events`, where, "seq", f.Limit)
}

// eventColumns are the columns that readEvent scans.
const eventColumns = `seq, platform, id, conversation, kind, subject, actor, address, payload, invocation, session,
	accepted_at, attempt, retries, not_before, ended_at, end_kind, end_category, end_cause, retry_of, fetched`

func readEvent(scan func(...any) error) (core.EventRecord, error) {
	var e core.EventRecord
	var kind core.Kind
	var subject, fetched string
	var payload []byte
	err := scan(&e.Seq, &e.Platform, &e.ID, &e.Conversation, &kind, &subject, fromJSON{&e.Actor}, fromJSON{&e.Address},
		&payload, &e.Invocation, &e.Session,
		timestamp{&e.AcceptedAt}, &e.Attempt, &e.Retries, timestamp{&e.NotBefore}, timestamp{&e.EndedAt}, &e.End.Kind,
		&e.End.Category, &e.End.Cause, &e.RetryOf, &fetched)
	e.Body = core.BodyOf(kind, subject)
	if payload != nil {
		e.Payload = payload
	}
	if err == nil && fetched != "" {
		e.Fetched = &core.Message{}
		err = json.Unmarshal([]byte(fetched), e.Fetched)
	}
	return e, err
}

// event reads one event; it fails with not_found if there is none.
func (t *Tx) event(seq int64) (core.EventRecord, error) {
	e, found, err := one(t, readEvent, `select `+eventColumns+` from events where seq = $1`, seq)
	if err == nil && !found {
		err = core.Errorf(core.NotFound, "There is no event %d.", seq)
	}
	return e, err
}

// endEvent ends an event outside its turn.
func (t *Tx) endEvent(seq int64, kind core.EndKind, cause string) error {
	_, err := t.Exec(`update events set ended_at = $1, end_kind = $2, end_category = '', end_cause = $3
		where seq = $4`, t.Now, kind, free(cause), seq)
	return err
}

// Retry adds a new event with the content of a failed one and returns its receipt. A message keeps its invocation: its
// turn goes on after what the failed one has saved. A decision that a restore made a dead letter has no turn any more:
// its message is asked again, as by AskAgain. Repeating it returns the same event. It fails with not_found if there is
// no such event, and with invalid if the event did not fail or its paused turn has ended.
func (s *Store) Retry(ctx context.Context, seq int64) (core.Receipt, error) {
	return write(ctx, s, func(t *Tx) (core.Receipt, error) {
		e, err := t.event(seq)
		if err == nil && e.Kind() == core.KindSignal && e.End.Cause == core.BeforeRestore {
			a, err := t.approval(core.ApprovalID(e.Subject()))
			if err != nil {
				return core.Receipt{}, err
			}
			return t.askAgain(a)
		}
		return t.repeat(seq, fmt.Sprintf("again/%d", seq), true, t.checkFailed)
	})
}

// AskAgain adds a new event with the content of the message whose turn requested an approval that has expired, or that
// a restore has cancelled, and returns its receipt. Repeating it returns the same event; so does asking again for
// another approval of the same turn. Only who requested the approval may do so: the errors are those of
// Approval.RefusalToAskAgain. It fails with not_found if there is no such approval, or if the message was pruned or
// erased; and with invalid if the message was changed after it was asked, if another call of its turn has begun, which
// would be done twice, or if it was asked again by another button, or the audit log contradicts what is stored.
func (s *Store) AskAgain(ctx context.Context, id core.ApprovalID, by core.Actor) (core.Receipt, error) {
	return write(ctx, s, func(t *Tx) (r core.Receipt, err error) {
		a, err := t.approval(id)
		if err != nil {
			return r, err
		}
		if err := t.checkBefore(a); t.audited.contradicted[a.ID] {
			return r, core.Errorf(core.Invalid, "%s", core.MessageOf(err))
		} else if err != nil {
			return r, err
		}
		if err := a.RefusalToAskAgain(by); err != nil {
			return r, err
		}
		return t.askAgain(a)
	})
}

// askAgain repeats the message whose turn requested an approval.
func (t *Tx) askAgain(a core.Approval) (r core.Receipt, err error) {
	gone := core.Errorf(core.NotFound, "The request is no longer stored. Please write it again.")
	var seq int64
	found, err := t.Row([]any{&seq}, `select seq from events where invocation = $1 and kind = 'message'
		order by seq desc limit 1`, a.Invocation)
	if err != nil {
		return r, err
	}
	if !found {
		return r, gone
	}
	again := fmt.Sprintf("asked_again/%s", a.ID)
	r, err = t.repeat(seq, again, false, func(e core.EventRecord) error {
		if e.Payload == nil {
			return gone
		}
		return t.checkRepeatable(a)
	})
	if err != nil {
		return r, err
	}
	if made, err := t.event(r.Seq); err == nil && made.ID != again {
		return r, core.Errorf(core.Invalid, "This message was sent once more already. Please write what is left.")
	}
	return r, nil
}

// checkRepeatable refuses to repeat the whole message of an expired approval if that is not what the person would
// expect.
func (t *Tx) checkRepeatable(a core.Approval) error {
	if a.Changed != "" {
		return core.Errorf(core.Invalid, "The message was changed after it was sent. Please write your request again.")
	}
	var n int64
	begun, err := t.Row([]any{&n}, `select 1 from intents where begun_at > 0 and approval in (select id from approvals
		where invocation = $1) limit 1`, a.Invocation)
	if err == nil && begun {
		err = core.Errorf(core.Invalid, "A part of this message was already done. Please write only what is left.")
	}
	return err
}

// repeat adds an event with the content of an earlier one, which check may refuse, unless there is one already. goesOn:
// of a message, it belongs to the same invocation.
func (t *Tx) repeat(seq int64, id string, goesOn bool, check func(core.EventRecord) error) (r core.Receipt, err error) {
	e, missing := t.event(seq)
	switch core.CategoryOf(missing) {
	case "":
		if err := t.store.engine.LockQueue(t, e.QueueKey(), e.Platform, e.Conversation); err != nil {
			return r, err
		}
	case core.NotFound: // it may have been pruned after it was repeated
	default:
		return r, missing
	}
	if known, err := t.Row([]any{&r.Seq}, `select seq from events where retry_of = $1 and retry_of <> 0`,
		seq); err != nil || known {
		return r, err
	}
	if missing != nil {
		return r, missing
	}
	if e, err = t.event(seq); err != nil {
		return r, err
	}
	if err := check(e); err != nil {
		return r, err
	}
	again := newEvent{Event: e.Event, retryOf: seq}
	again.ID = id
	if goesOn && e.Kind() == core.KindMessage {
		again.invocation = e.Invocation
	}
	if err := t.accept(&r, again, core.Limits{}); err != nil {
		return r, err
	}
	if err := t.flush(); err != nil {
		return r, err
	}
	if !r.Fresh {
		return t.known(again.Platform, again.ID)
	}
	return r, t.copyFetched(e, again.Event, r.Seq)
}

// copyFetched gives a repeated event the message that the earlier one was read as, and keeps its images for it. If
// one of them is gone, the message is to be read anew.
func (t *Tx) copyFetched(e core.EventRecord, again core.Event, seq int64) error {
	if e.Fetched == nil {
		return nil
	}
	for _, digest := range slices.Sorted(slices.Values(e.Fetched.StoredImages())) {
		if known, err := t.keepBlob(again, digest, t.Now); err != nil || !known {
			return err
		}
	}
	_, err := t.Exec(`update events set fetched = (select fetched from events where seq = $1)
		where seq = $2`, e.Seq, seq)
	return err
}

// checkFailed refuses an event that can't be retried.
func (t *Tx) checkFailed(e core.EventRecord) error {
	switch e.End.Kind {
	case core.EndErrored, core.EndDead, core.EndDropped:
	default:
		return core.Errorf(core.Invalid, "The event %d did not fail; there is nothing to retry.", e.Seq)
	}
	if (e.Kind() == core.KindMessage || e.Kind() == core.KindClick) && e.Payload == nil {
		return core.Errorf(core.Invalid,
			"The %s %d was erased with its session, so it can't be retried; ask again in its conversation.", e.Kind(),
			e.Seq)
	}
	if e.Kind() != core.KindSignal {
		return nil
	}
	waits, err := t.exists(`select 1 from paused where invocation = $1`, e.Invocation)
	if err == nil && !waits {
		err = core.Errorf(core.Invalid,
			"The turn that the decision %d was for has ended, so it can't be retried; ask again in its conversation.",
			e.Seq)
	}
	return err
}

// Drop marks a dead letter as dropped. Dropping it twice succeeds. It fails with not_found if there is no such event,
// and with invalid if the event is not a dead letter.
func (s *Store) Drop(ctx context.Context, seq int64) error {
	return s.write(ctx, func(t *Tx) error {
		n, err := t.Exec(`update events set end_kind = $1 where seq = $2 and end_kind = 'dead'`, core.EndDropped, seq)
		if err != nil || n == 1 {
			return err
		}
		e, err := t.event(seq)
		if err == nil && e.End.Kind != core.EndDropped {
			err = core.Errorf(core.Invalid, "The event %d is not a dead letter.", seq)
		}
		return err
	})
}
