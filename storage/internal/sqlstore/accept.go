package sqlstore

import (
	"context"
	"encoding/json"

	"gatehouse/core"
)

// Accept stores an event. An event whose (platform, id) is known returns its first receipt, with Fresh false; so Accept
// may be repeated. An incomplete event is invalid. The queue's lock is taken first, so Seq follows the order of commits
// within a queue. The store's limits apply.
func (s *Store) Accept(ctx context.Context, e core.Event) (core.Receipt, error) {
	if err := checkEvent(e); err != nil {
		return core.Receipt{}, err
	}
	var r core.Receipt // whole once the transaction is committed
	if err := s.write(ctx, func(t *Tx) error { return t.accept(&r, newEvent{Event: e}, s.limits) }); err != nil {
		return core.Receipt{}, err
	}
	return s.numbered(ctx, e, r)
}

// unnumbered is the number of an event that turned out to be known, in the receipt of storeEvent.
const unnumbered = -1

// numbered returns the receipt of an event with its number.
func (s *Store) numbered(ctx context.Context, e core.Event, r core.Receipt) (core.Receipt, error) {
	if r.Seq != unnumbered {
		return r, nil
	}
	return read(ctx, s, func(t *Tx) (core.Receipt, error) { return t.known(e.Platform, e.ID) })
}

func checkEvent(e core.Event) error {
	if e.Platform == "" || e.ID == "" || e.Conversation == "" || e.Kind() == "" {
		return core.Errorf(core.Invalid, "An event needs a platform, an id, a conversation and a kind.")
	}
	return nil
}

// accept stores the event unless it is known; a known event uses up no number. The receipt is there after flush, see
// storeEvent.
func (t *Tx) accept(r *core.Receipt, added newEvent, l core.Limits) (err error) {
	*r = core.Receipt{}
	e := added.Event
	if e.Kind() == core.KindAmend {
		*r, err = t.amend(e)
		return err
	}
	known, err := t.followsUp(e)
	if err != nil || !known {
		return err
	}
	key := e.QueueKey()
	if err := t.store.engine.LockQueue(t, key, e.Platform, e.Conversation); err != nil {
		return err
	}
	var over reached
	if err := t.askLimits(&over, e, l); err != nil {
		return err
	}
	if added.invocation == "" {
		added.invocation = t.invocation(e)
	}
	if err := t.storeEvent(r, added); err != nil {
		return err
	}
	if e.Kind() == core.KindMessage && (l.PerMinute > 0 || l.Waiting > 0) {
		if err := t.flush(); err != nil {
			return err
		}
	}
	if err := t.refuse(r, e, over, l); err != nil {
		return err
	}
	return t.updateReady(key)
}

// followsUp reports whether the event may be stored as far as FollowUp is concerned.
func (t *Tx) followsUp(e core.Event) (bool, error) {
	if !e.FollowUp {
		return true, nil
	}
	return t.exists(`select 1 from queues where queue_key = $1`, e.Conversation)
}

// rank is the place of a new event, so that people take turns, however many messages one of them sends: a message comes
// after those whose turn is next, and two after the last unended one of its actor, so that somebody else's fits between
// them. Nobody is overtaken forever, because no message joins those whose turn is next. Other events do; there are only
// as many of them as turns that wait for a person. $17: the actor of a message, "" for another event.
const rank = `(select coalesce(max(place), 0) from (
	select min(rank) + (case when $17 = '' then 0 else 1 end) as place from queues where ready_at = 0
	union all select max(rank) from queues where owner <> ''
	union all select max(rank) + 2 from events where actor_id = $17 and actor_id <> '' and ended_at = 0
) places)`

// rankOfRunning is the rank of an event that is claimed at once, since nothing waits.
const rankOfRunning = `(select coalesce(max(rank), 0) from queues where owner <> '')`

// waitsForItsTurn returns the actor whose other events the event comes after; "" if it does not wait for them.
func waitsForItsTurn(e core.Event) string {
	if e.Kind() == core.KindMessage {
		return e.Actor.ID
	}
	return ""
}

// newEvent is an event that is to be stored.
type newEvent struct {
	core.Event
	invocation core.InvocationID // "": see Tx.invocation
	retryOf    int64             // the failed event that this one retries, or 0
	attempt    int               // 1 if it is claimed at once
	session    core.SessionID    // of the claim
}

// storeEvent adds the event unless it is known; the receipt is there after flush, that of a known event unnumbered. The
// caller holds its queue's lock. If another transaction adds the same event to another queue at the same moment, the
// insert waits for that commit.
func (t *Tx) storeEvent(r *core.Receipt, e newEvent) error {
	var payload []byte
	if e.Payload != nil {
		payload = append([]byte{}, e.Payload...)
	}
	args := []any{
		e.Platform, e.ID, e.Conversation, e.QueueKey(), e.Kind(), e.Kind() == core.KindSignal, e.Subject(),
		asJSON{e.Actor}, asJSON{e.Address}, payload, e.invocation, t.Now, e.retryOf,
		e.Actor.ID, e.attempt, e.session,
	}
	place := rankOfRunning
	if e.attempt == 0 {
		place = rank
		args = append(args, waitsForItsTurn(e.Event))
	}
	r.Seq = unnumbered
	return t.ask(&r.Fresh, []any{&r.Seq}, `
		insert into events (platform, id, conversation, queue_key, kind, signal, subject, actor, address, payload,
			invocation, accepted_at, retry_of, actor_id, attempt, session, rank)
		select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, `+place+`
		where not exists (select 1 from events where platform = $1 and id = $2)
		on conflict (platform, id) do nothing returning seq`, args...)
}

// known returns the receipt of an event that was stored before, or an empty one.
func (t *Tx) known(platform, id string) (r core.Receipt, err error) {
	_, err = t.Row([]any{&r.Seq}, `select seq from events where platform = $1 and id = $2`, platform, id)
	return r, err
}

// invocation returns the run that an event belongs to: the paused one for a signal, a new one for any other event.
func (t *Tx) invocation(e core.Event) core.InvocationID {
	if e.Kind() == core.KindSignal {
		var p core.SignalPayload
		if json.Unmarshal(e.Payload, &p) == nil && p.Invocation != "" {
			return p.Invocation
		}
	}
	return core.InvocationID(t.store.newID())
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
