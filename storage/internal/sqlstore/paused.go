package sqlstore

import (
	"context"

	"gatehouse/core"
)

// LoadPaused returns the paused record of an invocation. If id is empty, it returns the latest record with that signal.
// It returns nil, nil if there is none. Error: session_load_failed for one that can't be read, with its ids alone.
func (s *Store) LoadPaused(
	ctx context.Context, id core.InvocationID, signal core.SignalID,
) (*core.PausedRecord, error) {
	return read(ctx, s, func(t *Tx) (*core.PausedRecord, error) { return t.pausedRecord(id, signal) })
}

func (t *Tx) pausedRecord(id core.InvocationID, signal core.SignalID) (*core.PausedRecord, error) {
	query, key := `select invocation, session, signal, record from paused where invocation = $1`, string(id)
	if id == "" {
		query, key = `select invocation, session, signal, record from paused where signal = $1 order by created_at desc
			limit 1`, string(signal)
	}
	var ids, rec core.PausedRecord
	var fault error
	found, err := t.Row(
		[]any{&ids.Invocation, &ids.Session, &ids.Descriptor.SignalID, maybeJSON{sessionJSON{&rec}, &fault}}, query,
		key)
	switch {
	case err != nil || !found:
		return nil, err
	case fault != nil:
		return &ids, fault
	}
	return &rec, nil
}

// storePaused stores a paused record. It replaces an earlier record of the same invocation, which belongs to the
// segment before.
func (t *Tx) storePaused(rec *core.PausedRecord) error {
	_, err := t.Exec(`
		insert into paused (invocation, session, signal, record, created_at) values ($1, $2, $3, $4, $5)
		on conflict (invocation) do update
			set session = excluded.session, signal = excluded.signal, record = excluded.record,
				created_at = excluded.created_at`,
		rec.Invocation, rec.Session, rec.Descriptor.SignalID, asJSON{rec}, t.Now)
	return err
}

func (t *Tx) deletePaused(id core.InvocationID) error {
	_, err := t.Exec(`delete from paused where invocation = $1`, id)
	return err
}

// queuesOf returns the queues that abandoning these invocations writes to: their conversations' queues, and those where
// signals wait for them.
func (t *Tx) queuesOf(invocations []string) ([]core.QueueKey, error) {
	var c conditions
	in(&c, "invocation", invocations)
	which := c.parts[0]
	sessions, err := t.Texts(`select session from paused where `+which, c.args...)
	if err != nil {
		return nil, err
	}
	queues, err := t.Texts(`select distinct queue_key from events where `+which+` and signal = true and ended_at = 0`,
		c.args...)
	if err != nil {
		return nil, err
	}
	var all []core.QueueKey
	for _, s := range sessions {
		all = append(all, core.SessionID(s).Conversation().Queue())
	}
	for _, q := range queues {
		all = append(all, core.QueueKey(q))
	}
	return all, nil
}

// abandon ends a paused invocation. by is the claim of the turn that abandons it; that turn ends its event itself.
func (t *Tx) abandon(c core.Abandon, by core.Claim) error {
	rec, err := t.pausedRecord(c.Invocation, "")
	if rec == nil && err != nil {
		return err
	}
	if rec != nil {
		if err := t.deletePaused(c.Invocation); err != nil {
			return err
		}
		if err := t.appendMessages(rec.Session, c.Invocation, rec.Messages, c.Rows); err != nil {
			return err
		}
	}
	if err := t.withdrawSignals(c, by.Event.Seq); err != nil {
		return err
	}
	if err := t.cancelUnbegun(c); err != nil {
		return err
	}
	return t.endCalls(c.Invocation, by.Owner, c.NotRun, false)
}

// cancelUnbegun cancels the approvals of an abandoned invocation, if that is asked for.
func (t *Tx) cancelUnbegun(c core.Abandon) error {
	if !c.Cancel {
		return nil
	}
	open, err := List(t, readApproval, `
		select `+approvalColumns+` from approvals where invocation = $1 and state in ('open', 'approved', 'answered')
			and begun = false order by seq`+t.sql.forUpdate(), c.Invocation)
	if err != nil {
		return err
	}
	for _, a := range open {
		if err := t.cancelApproval(a, c); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) withdrawSignals(c core.Abandon, except int64) error {
	keys, err := t.Texts(`select distinct queue_key from events where invocation = $1 and signal = true and ended_at = 0
		and seq <> $2`, c.Invocation, except)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if _, err := t.lockKnownQueue(core.QueueKey(key)); err != nil {
			return err
		}
		if _, err := t.Exec(`
			update events set ended_at = $1, end_kind = $2, end_cause = $3 where queue_key = $4 and invocation = $5
				and signal = true and ended_at = 0 and seq <> $6`,
			t.Now, core.EndWithdrawn, free(c.Reason), key, c.Invocation, except); err != nil {
			return err
		}
		if err := t.updateReady(core.QueueKey(key)); err != nil {
			return err
		}
	}
	return nil
}
