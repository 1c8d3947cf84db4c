package postgres

import (
	"context"

	"gatehouse/core"
)

// LoadPaused reads a paused record by its invocation or, where that is empty, the latest with that signal.
func (s *Store) LoadPaused(ctx context.Context, id core.InvocationID, signal core.SignalID) (rec *core.PausedRecord, err error) {
	err = s.read(ctx, func(t *tx) error {
		rec, err = t.pausedRecord(id, signal)
		return err
	})
	return rec, err
}

func (t *tx) pausedRecord(id core.InvocationID, signal core.SignalID) (*core.PausedRecord, error) {
	query, key := `select record from paused where invocation = $1`, string(id)
	if id == "" {
		query, key = `select record from paused where signal = $1 order by created_at desc limit 1`, string(signal)
	}
	var rec core.PausedRecord
	found, err := t.row([]any{fromJSON{&rec}}, query, key)
	if err != nil || !found {
		return nil, err
	}
	return &rec, nil
}

// pause stores a paused record; one of the same invocation is the leg before, and is replaced.
func (t *tx) pause(rec *core.PausedRecord) error {
	_, err := t.exec(`
		insert into paused (invocation, session, signal, record, created_at) values ($1, $2, $3, $4, $5)
		on conflict (invocation) do update set session = excluded.session, signal = excluded.signal, record = excluded.record, created_at = excluded.created_at`,
		rec.Invocation, rec.Session, rec.Descriptor.SignalID, asJSON{rec}, t.now)
	return err
}

func (t *tx) resumed(id core.InvocationID) error {
	_, err := t.exec(`delete from paused where invocation = $1`, id)
	return err
}

// closedLanes are the queues that ending these invocations touches: their conversations, and where signals wait for them.
func (t *tx) closedConversations(invocations []string) ([]core.QueueKey, error) {
	sessions, err := t.texts(`select session from paused where invocation = any($1::text[])`, invocations)
	if err != nil {
		return nil, err
	}
	queues, err := t.texts(`select distinct queue from events where invocation = any($1::text[]) and signal and ended_at is null`, invocations)
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

// closure ends a paused invocation. except is the event that the closing turn itself runs; its end is the turn's to tell.
func (t *tx) closure(c core.Abandon, except int64) error {
	rec, err := t.pausedRecord(c.Invocation, "")
	if err != nil {
		return err
	}
	if rec != nil {
		if err := t.resumed(c.Invocation); err != nil {
			return err
		}
		if err := t.appendMessages(rec.Session, c.Invocation, rec.Messages, c.Rows); err != nil {
			return err
		}
	}
	if err := t.withdrawSignals(c, except); err != nil || !c.Cancel {
		return err
	}
	open, err := list(t, readApproval, `
		select `+approvalColumns+` from approvals where invocation = $1 and state in ('open', 'approved') and not begun order by seq for update`, c.Invocation)
	if err != nil {
		return err
	}
	for _, a := range open {
		if err := t.cancel(a, c); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) withdrawSignals(c core.Abandon, except int64) error {
	conversations, err := t.texts(`select distinct queue from events where invocation = $1 and signal and ended_at is null and seq <> $2`, c.Invocation, except)
	if err != nil {
		return err
	}
	for _, l := range conversations {
		if _, err := t.hold(core.QueueKey(l)); err != nil {
			return err
		}
		if _, err := t.exec(`
			update events set ended_at = $1, end_kind = $2, end_cause = $3 where queue = $4 and invocation = $5 and signal and ended_at is null and seq <> $6`,
			t.now, core.EndWithdrawn, free(c.Reason), l, c.Invocation, except); err != nil {
			return err
		}
		if err := t.ready(core.QueueKey(l)); err != nil {
			return err
		}
	}
	return nil
}
