package sqlite

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
	query, key := `select record from paused where invocation = ?`, string(id)
	if id == "" {
		query, key = `select record from paused where signal = ? order by created_at desc limit 1`, string(signal)
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
		insert into paused (invocation, session, signal, record, created_at) values (?, ?, ?, ?, ?)
		on conflict (invocation) do update set session = excluded.session, signal = excluded.signal, record = excluded.record, created_at = excluded.created_at`,
		rec.Invocation, rec.Session, rec.Descriptor.SignalID, asJSON{rec}, ns(t.now))
	return err
}

func (t *tx) resumed(id core.InvocationID) error {
	_, err := t.exec(`delete from paused where invocation = ?`, id)
	return err
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
		select `+approvalColumns+` from approvals where invocation = ? and state in ('open', 'approved') and begun = 0 order by seq`, c.Invocation)
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
	conversations, err := t.texts(`select distinct queue from events where invocation = ? and signal = 1 and ended_at = 0 and seq <> ?`, c.Invocation, except)
	if err != nil {
		return err
	}
	if _, err := t.exec(`
		update events set ended_at = ?, end_kind = ?, end_cause = ? where invocation = ? and signal = 1 and ended_at = 0 and seq <> ?`,
		ns(t.now), core.EndWithdrawn, c.Reason, c.Invocation, except); err != nil {
		return err
	}
	for _, l := range conversations {
		if err := t.ready(core.QueueKey(l)); err != nil {
			return err
		}
	}
	return nil
}
