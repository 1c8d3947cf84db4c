package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"gatehouse/core"
)

// Accept stores an event. The conversation's row comes first; the writer's lock is held from the start, so numbers follow the commits.
func (s *Store) Accept(ctx context.Context, e core.Event) (core.Receipt, error) {
	if e.Platform == "" || e.ID == "" || e.Conversation == "" || e.Kind() == "" {
		return core.Receipt{}, core.Errorf(core.Invalid, "An event needs a platform, an id, a conversation and a kind.")
	}
	var r core.Receipt
	err := s.write(ctx, func(t *tx) (err error) {
		r, err = t.accept(e, 0)
		return err
	})
	return r, err
}

// accept stores the event unless it is known. retryOf is 0, or the failed event that this one tries again.
func (t *tx) accept(e core.Event, retryOf int64) (core.Receipt, error) {
	if e.Kind() == core.KindAmend {
		return t.amend(e)
	}
	queue := e.QueueKey()
	if e.FollowUp {
		known, err := t.exists(`select 1 from queues where queue = ?`, e.Conversation)
		if err != nil || !known {
			return core.Receipt{}, err
		}
	}
	if err := t.conversation(queue, e.Platform, e.Conversation); err != nil {
		return core.Receipt{}, err
	}
	var known int64
	found, err := t.row([]any{&known}, `select seq from events where platform = ? and id = ?`, e.Platform, e.ID)
	if err != nil || found {
		return core.Receipt{Seq: known}, err
	}
	seq, err := t.storeEvent(e, t.invocation(e), retryOf)
	if err != nil {
		return core.Receipt{}, err
	}
	return core.Receipt{Seq: seq, Fresh: true}, t.ready(queue)
}

func (t *tx) storeEvent(e core.Event, invocation core.InvocationID, retryOf int64) (int64, error) {
	signal := 0
	if e.Kind() == core.KindSignal {
		signal = 1
	}
	var payload []byte
	if e.Payload != nil {
		payload = append([]byte{}, e.Payload...)
	}
	return t.insert(`
		insert into events (platform, id, conversation, queue, kind, signal, subject, actor, address, payload, invocation, accepted_at, retry_of)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Platform, e.ID, e.Conversation, e.QueueKey(), e.Kind(), signal, e.Subject(), asJSON{e.Actor}, asJSON{e.Address}, payload, invocation, ns(t.now), retryOf)
}

// invocation is the run that an event is for: a signal's is the paused one, any other's is new.
func (t *tx) invocation(e core.Event) core.InvocationID {
	if e.Kind() == core.KindSignal {
		var p core.SignalPayload
		if json.Unmarshal(e.Payload, &p) == nil && p.Invocation != "" {
			return p.Invocation
		}
	}
	return core.InvocationID(t.newID())
}

// eventColumns are what readEvent reads.
const eventColumns = `seq, platform, id, conversation, kind, subject, actor, address, payload, invocation, session, accepted_at, attempt, retries,
	not_before, ended_at, end_kind, end_category, end_cause, retry_of`

func readEvent(scan func(...any) error) (core.EventRecord, error) {
	var e core.EventRecord
	var kind core.Kind
	var subject string
	var payload sql.RawBytes
	err := scan(&e.Seq, &e.Platform, &e.ID, &e.Conversation, &kind, &subject, fromJSON{&e.Actor}, fromJSON{&e.Address}, &payload, &e.Invocation, &e.Session,
		stamp{&e.AcceptedAt}, &e.Attempt, &e.Retries, stamp{&e.NotBefore}, stamp{&e.EndedAt}, &e.End.Kind, &e.End.Category, &e.End.Cause, &e.RetryOf)
	e.Body = core.BodyOf(kind, subject)
	if payload != nil {
		e.Payload = append(json.RawMessage{}, payload...)
	}
	return e, err
}

// event reads one event; not_found where there is none.
func (t *tx) event(seq int64) (core.EventRecord, error) {
	found, err := list(t, readEvent, `select `+eventColumns+` from events where seq = ?`, seq)
	if err != nil {
		return core.EventRecord{}, err
	}
	if len(found) == 0 {
		return core.EventRecord{}, core.Errorf(core.NotFound, "There is no event %d.", seq)
	}
	return found[0], nil
}
