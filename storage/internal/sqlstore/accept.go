package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
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
	overtakes  bool              // it comes before messages, as a signal does
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
		e.Platform, e.ID, e.Conversation, e.QueueKey(), e.Kind(), e.overtakes || e.Kind() == core.KindSignal,
		e.Subject(),
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
	return core.InvocationID(t.store.options.NewID())
}

// reached tells which limits the actor of an event had reached before it.
type reached struct{ rate, waiting bool }

// askLimits finds out which limits the actor of a message has reached; the result is there after flush. Refused
// messages do not count, so that an actor who goes on sending is answered again after a minute.
func (t *Tx) askLimits(r *reached, e core.Event, l core.Limits) error {
	if e.Kind() != core.KindMessage || e.Actor.ID == "" {
		return nil
	}
	if l.PerMinute > 0 && !slices.Contains(l.Exempt, e.Platform) {
		var c conditions
		actor, now := c.arg(e.Actor.ID), t.clock(&c)
		err := t.askExists(&r.rate, fmt.Sprintf(`
			select 1 from events where actor_id = %s and actor_id <> '' and kind = 'message' and end_kind <> 'refused'
				and accepted_at > %s - %d and accepted_at <= %s limit 1 offset %s`,
			actor, now, time.Minute.Nanoseconds(), now, c.arg(l.PerMinute-1)), c.args...)
		if err != nil {
			return err
		}
	}
	if l.Waiting <= 0 {
		return nil
	}
	return t.askExists(&r.waiting, `select 1 from events where actor_id = $1 and actor_id <> ''
		and ended_at = 0 limit 1 offset $2`, e.Actor.ID, l.Waiting-1)
}

// clock returns the expression of the present time, which may not have been read yet.
func (t *Tx) clock(c *conditions) string {
	if t.sql.RowLocks {
		return `(select ` + t.sql.Clock + `)`
	}
	return c.arg(t.Now)
}

// any reports whether the event is to be refused.
func (r reached) any() bool { return r.rate || r.waiting }

// refuse ends a new event whose actor had reached a limit, and tells the actor once a minute.
func (t *Tx) refuse(r *core.Receipt, e core.Event, over reached, l core.Limits) error {
	if !over.any() {
		return nil
	}
	if err := t.flush(); err != nil || !r.Fresh {
		return err
	}
	cause := fmt.Sprintf("more than %d messages wait", l.Waiting)
	if over.rate {
		cause = fmt.Sprintf("more than %d messages in a minute", l.PerMinute)
	}
	if _, err := t.Exec(`update events set ended_at = $1, end_kind = $2, end_category = $3, end_cause = $4
		where seq = $5`,
		t.Now, core.EndRefused, core.RateLimited, cause, r.Seq); err != nil {
		return err
	}
	key := fmt.Sprintf("refused/%s/%d", e.Actor.ID, t.Now.Truncate(time.Minute).Unix())
	told, err := t.exists(`select 1 from outbox where key = $1`, key)
	if err != nil || told {
		return err
	}
	t.addPost(
		core.Post{
			Key: key, To: e.Address, Conversation: e.Conversation, Kind: core.PostNotice, Text: l.Refusal, Event: r.Seq,
		})
	return nil
}

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
	abandons := end.Kind == ""
	if abandons { // what is told of the turn goes where it was asked for
		e.Address = amended.Address
	}
	var r core.Receipt
	added := newEvent{Event: e, invocation: amended.Invocation, overtakes: abandons}
	if err := t.flushed(t.storeEvent(&r, added)); err != nil {
		return r, err
	}
	switch {
	case !r.Fresh:
		return t.known(e.Platform, e.ID)
	case abandons:
		return r, t.updateReady(e.QueueKey())
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
// the original. It returns the amendment's end; none, if a paused turn is to be abandoned, which only a turn can do.
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
	if len(a.Payload) == 0 {
		if end, ends, err := t.deleteBegun(e, by); err != nil || ends {
			return end, err
		}
	}
	switch {
	case !e.EndedAt.IsZero():
		return t.changeApproval(e.Invocation, by, a)
	case begun:
		return ignored("its turn had already begun")
	case len(a.Payload) == 0:
		if err := t.endEvent(e.Seq, core.EndWithdrawn, deleted); err != nil {
			return core.End{}, err
		}
		return core.End{Kind: core.EndApplied, Cause: "the waiting message was withdrawn"}, t.updateReady(e.QueueKey())
	}
	_, err = t.Exec(`update events set payload = $1, fetched = '' where seq = $2`, []byte(a.Payload), e.Seq)
	return core.End{Kind: core.EndApplied, Cause: "the waiting message was updated"}, err
}

// deleteBegun ends the turn of a message that was deleted, if it runs or is paused. One that runs is asked to stop, and
// its Finish is refused. Of one that is paused, what it waits for is cancelled, and a decision that it has not gone on
// with does not count any more.
func (t *Tx) deleteBegun(e core.EventRecord, by core.Actor) (end core.End, ends bool, err error) {
	stopped, err := t.Exec(`update queues set stop = -event where queue_key = $1
		and event in (select seq from events where invocation = $2)`, e.QueueKey(), e.Invocation)
	if err != nil || stopped > 0 {
		return core.End{Kind: core.EndApplied, Cause: "the message's turn was stopped"}, stopped > 0, err
	}
	paused, err := t.exists(`select 1 from paused where invocation = $1`, e.Invocation)
	if err != nil || !paused {
		return core.End{}, false, err
	}
	c := core.Abandon{Invocation: e.Invocation, Cancel: true, Reason: deleted, By: by}
	if err := t.withdrawSignals(c, e.Seq); err != nil {
		return core.End{}, false, err
	}
	return core.End{}, true, t.cancelUnbegun(c)
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
	for _, approval := range open {
		if err := t.checkedBefore(approval); err != nil {
			return core.End{}, err
		}
		approval.Changed = a.Text
		if _, err := t.Exec(`update approvals set changed = $1 where id = $2`, free(a.Text), approval.ID); err != nil {
			return core.End{}, err
		}
		t.audit(approval.ID, audit.Amended, by.ID, t.auditedRecord(approval))
		t.redrawCards(approval.ID)
	}
	return core.End{Kind: core.EndApplied, Cause: "the approval card shows the change"}, nil
}

// deleted is why what a deleted message had asked for was withdrawn.
const deleted = "the message was deleted"
