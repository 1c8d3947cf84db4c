package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
)

// A restored database does not know what was decided, run and sent after its copy was made. The copy carries a mark
// (the value restoreMark), and a process that is to serve it settles that first, in batches of one transaction each,
// which also stores how far it is:
//
//	posts      what was not sent is in doubt: it is looked up before it is sent
//	turns      what was paused ends, and its open calls get results that say so
//	approvals  open ones, and decided whose call was not begun, are cancelled; begun calls have an unknown outcome
//	events     what had not ended is a dead letter
//	memories   what is remembered of an approval ends: it may have been stopped, or used up
//
// What can't be read ends, too: otherwise no process could ever serve. At last the numbers of what is new are moved on,
// so that none is given out that was given out after the copy.
//
// Each batch locks the mark, so of several processes one works at a time; once the mark is gone, none does. After a
// crash the next process goes on. Posts come first, since what follows adds new ones.

// The names of the mark, and of what is kept of the last restore.
const (
	restoreMark = "restored"
	lastRestore = "last-restore"
)

// restoreKept is how long the last restore is told of.
const restoreKept = 30 * 24 * time.Hour

// settleStep is how many rows a batch settles.
const settleStep = 200

// Leap is how far a restore moves numbers on that are given out one after another. More are not given out between two
// backups.
const Leap = 1_000_000

// MarkRestored marks the database as one that was put back. It takes the place of an earlier mark.
func (s *Store) MarkRestored(ctx context.Context, m core.RestoreMark) error {
	return s.write(ctx, func(t *Tx) error { return t.putMark(m) })
}

func (t *Tx) putMark(m core.RestoreMark) error {
	_, err := t.Exec(`insert into kv (name, value) values ($1, $2) on conflict (name) do update
		set value = excluded.value`, restoreMark, asJSON{m})
	return err
}

func (t *Tx) removeMark() error {
	_, err := t.Exec(`delete from kv where name = $1`, restoreMark)
	return err
}

// RestoreMark returns the mark of a database that was put back, until it is settled; nil: it has none.
func (s *Store) RestoreMark(ctx context.Context) (*core.RestoreMark, error) {
	return read(ctx, s, func(t *Tx) (*core.RestoreMark, error) { return t.mark("") })
}

func (t *Tx) mark(lock string) (*core.RestoreMark, error) {
	var m core.RestoreMark
	marked, err := t.Row([]any{fromJSON{&m}}, `select value from kv where name = $1`+lock, restoreMark)
	if err != nil || !marked {
		return nil, err
	}
	return &m, nil
}

// Settle settles the next batch of a database that is marked as restored. more is false once nothing is left but
// EndRestore, or there is no mark.
func (s *Store) Settle(ctx context.Context) (more bool, err error) {
	steps := []func(*Tx, *core.RestoreMark) (done bool, err error){
		(*Tx).settlePosts, (*Tx).settleTurns, settleApprovals(core.Open), settleApprovals(core.Approved),
		settleApprovals(core.Answered), (*Tx).settleEvents, (*Tx).settleMemories,
	}
	return write(ctx, s, func(t *Tx) (bool, error) {
		m, err := t.mark(t.sql.forUpdate())
		if err != nil || m == nil || m.Step >= len(steps) {
			return false, err
		}
		if err := t.readClock(); err != nil {
			return false, err
		}
		done, err := steps[m.Step](t, m)
		if err != nil {
			return false, err
		}
		if done {
			m.Step, m.After = m.Step+1, 0
		}
		return m.Step < len(steps), t.putMark(*m)
	})
}

// EndRestore removes the mark of a database that was settled, and keeps what became of it for LastRestore.
func (s *Store) EndRestore(ctx context.Context) error {
	return s.write(ctx, func(t *Tx) error {
		m, err := t.mark(t.sql.forUpdate())
		if err != nil || m == nil {
			return err
		}
		if err := t.readClock(); err != nil {
			return err
		}
		if err := t.removeMark(); err != nil {
			return err
		}
		leaps := append([]string{fmt.Sprintf(`update mailboxes set seq = seq + %d where mailbox > ''`, Leap)},
			t.sql.Leaps...)
		for _, leap := range leaps {
			if _, err := t.Exec(leap); err != nil {
				return err
			}
		}
		_, err = t.Exec(`insert into kv (name, value, expires_at) values ($1, $2, $3) on conflict (name) do update
			set value = excluded.value, expires_at = excluded.expires_at`,
			lastRestore, asJSON{core.Restored{RestoreMark: *m, At: t.Now}}, t.Now.Add(restoreKept))
		return err
	})
}

// LastRestore returns the last restore of this database that was settled, for some weeks; nil: there was none.
func (s *Store) LastRestore(ctx context.Context) (*core.Restored, error) {
	return read(ctx, s, func(t *Tx) (*core.Restored, error) {
		var r core.Restored
		found, err := t.Row([]any{fromJSON{&r}}, `select value from kv where name = $1`, lastRestore)
		if err != nil || !found {
			return nil, err
		}
		return &r, nil
	})
}

// Serving watches the processes that registered for a while, and returns one that lives; "" if none does.
func (s *Store) Serving(ctx context.Context, watch time.Duration) (owner string, err error) {
	beats := func() (map[string]int64, error) {
		all := map[string]int64{}
		_, err := readAll(ctx, s, func(scan func(...any) error) (_ struct{}, err error) {
			var name string
			var beat int64
			err = scan(&name, &beat)
			all[name] = beat
			return struct{}{}, err
		}, `select owner, beat from owners`)
		return all, err
	}
	before, err := beats()
	if err != nil {
		return "", err
	}
	timer := time.NewTimer(watch)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	after, err := beats()
	for name, beat := range after {
		if was, known := before[name]; !known || was != beat {
			owner = name
		}
	}
	return owner, err
}

// settlePosts makes what was not sent doubtful.
func (t *Tx) settlePosts(m *core.RestoreMark) (done bool, err error) {
	type post struct {
		core.OutboxRow
		destination string
		fault       error
	}
	rows, err := List(t, func(scan func(...any) error) (p post, err error) {
		p.OutboxRow, err = readOutbox(lenient(before(scan, &p.destination), &p.fault))
		return p, err
	}, `select destination, `+outboxColumns+` from outbox where state = 'waiting' and state <> 'sent'
		and seq > $1 order by seq limit $2`, m.After, settleStep)
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		m.After = row.Seq
		if err := t.lockDestinations(row.destination); err != nil {
			return false, err
		}
		if row.fault != nil {
			err = t.settleUnreadable(row.Seq, row.fault, m)
		} else {
			err = t.settlePost(row.OutboxRow, m)
		}
		if err != nil {
			return false, err
		}
	}
	return len(rows) < settleStep, nil
}

// before scans columns that come before those that are read otherwise.
func before(scan func(...any) error, first ...any) func(...any) error {
	return func(others ...any) error { return scan(append(first, others...)...) }
}

// settleUnreadable gives up a post that can't be read.
func (t *Tx) settleUnreadable(seq int64, fault error, m *core.RestoreMark) error {
	gone, err := t.Exec(`delete from outbox where seq = $1 and kind in ('twin', 'working')`, seq)
	if err != nil || gone > 0 {
		return err
	}
	m.Settled.Posts++
	cause := core.Wrap(core.StoreUnreadable, fault, "What is stored of this post can't be read.").Error()
	_, err = t.Exec(`update outbox set state = 'unknown', cause = $1, owner = '' where seq = $2`, free(cause), seq)
	return err
}

// clocksApart is how far the clocks of a platform and of the database may be apart.
const clocksApart = 10 * time.Minute

// settlePost settles one post. A typing indicator is cleared, and nobody looks for twins any more. What stands for a
// copy for each approver can't be looked up. A post is looked up from long before it was made: a clock of a platform is
// another one.
func (t *Tx) settlePost(row core.OutboxRow, m *core.RestoreMark) error {
	cause := core.Errorf(core.DeliveryInDoubt, "The database was restored from a backup: it is looked up whether the "+
		"post had arrived.").Error()
	switch {
	case row.Kind == core.PostTwin:
		_, err := t.Exec(`delete from outbox where seq = $1`, row.Seq)
		return err
	case row.Kind == core.PostWorking:
		row.On = false
		_, err := t.Exec(`update outbox set post = $1, owner = '', next_at = 0 where seq = $2`, asJSON{row.Post},
			row.Seq)
		return err
	case row.ForEach():
		m.Settled.Posts++
		_, err := t.Exec(`update outbox set state = 'unknown', cause = $1, owner = '' where seq = $2`, free(cause),
			row.Seq)
		return err
	}
	n := len(row.Parts)
	if n == 0 || !row.Parts[n-1].InDoubt && row.Parts[n-1].More {
		row.Parts = append(row.Parts, core.Part{InDoubt: true, SentAt: row.CreatedAt.Add(-clocksApart)})
		n++
	}
	if last := &row.Parts[n-1]; last.InDoubt { // otherwise an edit is due, which may be made twice
		last.Rest, last.LostAt, last.ReadAt, last.Looks = true, t.Now, time.Time{}, 0
		row.Cause = cause
		m.Settled.Posts++
	}
	_, err := t.Exec(`update outbox set parts = $1, cause = $2, owner = '', next_at = 0 where seq = $3`,
		partsJSON(row.Parts), free(row.Cause), row.Seq)
	return err
}

// settleTurns ends paused turns. Their decisions are events that had not ended; see settleEvents.
func (t *Tx) settleTurns(*core.RestoreMark) (done bool, err error) {
	type turn struct {
		invocation core.InvocationID
		queue      core.QueueKey
	}
	turns, err := List(t, func(scan func(...any) error) (x turn, err error) {
		var session core.SessionID
		err = scan(&x.invocation, &session)
		x.queue = session.Conversation().Queue()
		return x, err
	}, `select invocation, session from paused where invocation > '' order by invocation limit $1`, settleStep)
	if err != nil {
		return false, err
	}
	var keys []core.QueueKey
	for _, x := range turns {
		keys = append(keys, x.queue)
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if _, err := t.lockKnownQueue(key); err != nil {
			return false, err
		}
	}
	for _, x := range turns {
		if err := t.settleTurn(x.invocation); err != nil {
			return false, err
		}
	}
	return len(turns) < settleStep, nil
}

func (t *Tx) settleTurn(id core.InvocationID) error {
	rec, err := t.pausedRecord(id, "")
	if rec == nil && err != nil {
		return err
	}
	if rec != nil && err == nil {
		if err := t.appendLost(rec); err != nil {
			return err
		}
	}
	return t.deletePaused(id)
}

// appendLost gives the open calls of a paused turn results that say that their outcome is unknown, so that no later
// turn waits for them. Calls run in order, so a recorded result is that of the first one.
func (t *Tx) appendLost(rec *core.PausedRecord) error {
	messages, err := List(t, readMessage, `select `+messageColumns+` from messages where session = $1
		and invocation = $2 order by n`, rec.Session, rec.Invocation)
	if core.CategoryOf(err) == core.SessionLoadFailed {
		return nil
	}
	if err != nil {
		return err
	}
	i, err := t.intent(core.ApprovalID(rec.Descriptor.SignalID))
	if err != nil {
		return err
	}
	var rows []core.Message
	for n, call := range core.OpenCalls(messages) {
		result := lostResult(call.Name)
		if n == 0 && i != nil && i.Result != nil && len(messages) <= rec.Messages {
			result = i.Result.Content
		}
		rows = append(rows, core.Result(call.ID, result))
	}
	return t.appendMessages(rec.Session, rec.Invocation, rec.Messages, rows)
}

// lostResult is what a model is told of a call that nobody knows the outcome of.
func lostResult(tool string) string {
	text, _ := json.Marshal(map[string]any{"error": map[string]any{
		"category": core.OutcomeUnknown,
		"message": "The outcome of " + tool + " is unknown: gatehouse was restored from a backup that was made " +
			"before it was known. Please check whether it took effect.",
	}}) // texts can always be encoded
	return string(text)
}

// settleApprovals cancels the approvals in a state that were open, or decided and not begun, and gives begun calls
// without a result an unknown outcome. What another agent asked for has no call here: a decision of it stands.
func settleApprovals(state core.ApprovalState) func(*Tx, *core.RestoreMark) (bool, error) {
	return func(t *Tx, m *core.RestoreMark) (done bool, err error) {
		ids, err := List(t, func(scan func(...any) error) (id core.ApprovalID, err error) {
			return id, scan(&m.After, &id)
		}, `select seq, id from approvals where state = $1 and seq > $2
			and (begun = false or exists (select 1 from intents i where i.approval = approvals.id and i.ended_at = 0))
			and not exists (select 1 from intents i where i.approval = approvals.id and i.ended_at > 0)
			order by seq limit $3`, state, m.After, settleStep)
		if err != nil {
			return false, err
		}
		for _, id := range ids {
			a, fault, err := t.legibleApproval(id)
			switch {
			case err != nil:
			case a.Begun:
				err = t.storeResult(id, core.RestoredBy.ID, core.ToolResult{
					Content: core.UnknownOutcome(a.Call.Tool).Message, Category: core.OutcomeUnknown,
				})
			case fault != nil:
				m.Settled.Approvals++
				err = t.cancelUnreadable(a)
			case a.External == nil || a.State == core.Open:
				m.Settled.Approvals++
				err = t.cancelLost(a)
			}
			if err != nil {
				return false, err
			}
		}
		return len(ids) < settleStep, nil
	}
}

// legibleApproval locks an approval and reads what can be read of it.
func (t *Tx) legibleApproval(id core.ApprovalID) (a core.Approval, fault error, err error) {
	if t.sql.RowLocks {
		if _, err := t.exists(`select 1 from approvals where id = $1 for update`, id); err != nil {
			return a, nil, err
		}
	}
	a, found, err := one(t, func(scan func(...any) error) (core.Approval, error) {
		return readApproval(lenient(scan, &fault))
	}, `select `+approvalColumns+` from approvals where id = $1`, id)
	if err == nil && !found {
		err = noApproval(id)
	}
	return a, fault, err
}

// cancelUnreadable cancels an approval that can't be read. What it was is not recorded.
func (t *Tx) cancelUnreadable(a core.Approval) error {
	t.audited.contradicted[a.ID] = true
	a.State, a.Reason, a.DecidedBy, a.DecidedAt = core.Cancelled, core.RestoredReason, core.RestoredBy, t.Now
	if err := t.storeDecision(a); err != nil {
		return err
	}
	t.auditReason(a.ID, a.Session, string(core.Cancelled), a.DecidedBy.ID, "", a.Reason)
	return t.endTasks(a)
}

// cancelLost cancels an approval of which nobody knows what became of it.
func (t *Tx) cancelLost(a core.Approval) error {
	if err := t.checkedBefore(a); err != nil {
		return err
	}
	a.State, a.Reason, a.DecidedBy, a.DecidedAt = core.Cancelled, core.RestoredReason, core.RestoredBy, t.Now
	if err := t.storeDecision(a); err != nil {
		return err
	}
	t.auditReason(a.ID, a.Session, string(core.Cancelled), a.DecidedBy.ID, t.auditedRecord(a), a.Reason)
	if a.External != nil && a.External.Callback != "" {
		t.addPost(a.CallbackPost())
	}
	t.redrawCards(a.ID)
	return t.endTasks(a)
}

// settleEvents makes dead letters of the events that had not ended. People are told of their messages, and of allowed
// calls, which have no card.
func (t *Tx) settleEvents(m *core.RestoreMark) (done bool, err error) {
	type lost struct {
		core.EventRecord
		queue core.QueueKey
		fault error
	}
	events, err := List(t, func(scan func(...any) error) (e lost, err error) {
		var kind core.Kind
		var subject string
		err = lenient(scan, &e.fault)(&e.Seq, &e.queue, &e.Conversation, &kind, &subject, fromJSON{&e.Address})
		e.Body = core.BodyOf(kind, subject)
		return e, err
	}, `select seq, queue_key, conversation, kind, subject, address from events where ended_at = 0 and seq > $1
		order by seq limit $2`, m.After, settleStep)
	if err != nil {
		return false, err
	}
	var keys []core.QueueKey
	for _, e := range events {
		keys = append(keys, e.queue)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for _, key := range keys {
		if _, err := t.lockKnownQueue(key); err != nil {
			return false, err
		}
	}
	for _, e := range events {
		m.After = e.Seq
		m.Settled.Events++
		if _, err := t.Exec(`update events set ended_at = $1, end_kind = $2, end_category = $3, end_cause = $4
			where seq = $5`, t.Now, core.EndDead, core.OutcomeUnknown, core.BeforeRestore, e.Seq); err != nil {
			return false, err
		}
		t.clearWorking(e.Seq)
		if e.fault != nil {
			continue
		}
		tell, err := t.tellsOfLost(e.EventRecord)
		if err != nil {
			return false, err
		}
		if tell {
			t.addPost(core.LostPost(e.EventRecord))
		}
	}
	for _, key := range keys {
		if _, err := t.Exec(`update queues set owner = '', event = 0, stop = 0, fence = fence + 1
			where queue_key = $1`, key); err != nil {
			return false, err
		}
		if err := t.updateReady(key); err != nil {
			return false, err
		}
	}
	return len(events) < settleStep, nil
}

// tellsOfLost reports whether people are told that an event is a dead letter.
func (t *Tx) tellsOfLost(e core.EventRecord) (bool, error) {
	if e.Kind() != core.KindSignal {
		return e.Kind() == core.KindMessage, nil
	}
	a, _, err := t.legibleApproval(core.ApprovalID(e.Subject()))
	if core.CategoryOf(err) == core.NotFound {
		return false, nil
	}
	return a.Rule.Verdict == core.VerdictAllow, err
}

// settleMemories ends what approvals are remembered for. One that can't be read allows nothing.
func (t *Tx) settleMemories(m *core.RestoreMark) (done bool, err error) {
	type memory struct {
		core.Approval
		seq   int64
		fault error
	}
	all, err := List(t, func(scan func(...any) error) (a memory, err error) {
		a.Approval, err = readApproval(lenient(before(scan, &a.seq), &a.fault))
		return a, err
	}, `select seq, `+approvalColumns+` from approvals where state = 'approved' and seq > $1 order by seq limit $2`,
		m.After, settleStep)
	if err != nil {
		return false, err
	}
	for _, a := range all {
		m.After = a.seq
		if a.fault != nil || a.NextUse(0, t.Now) == nil {
			continue
		}
		if err := t.forget(a.ID); err != nil {
			return false, err
		}
	}
	return len(all) < settleStep, nil
}

// forget ends what an approval is remembered for. One that the audit log contradicts allows nothing.
func (t *Tx) forget(id core.ApprovalID) error {
	a, err := t.lockedApproval(id)
	if err != nil {
		return err
	}
	if err := t.checkedBefore(a); err != nil || t.audited.contradicted[id] {
		return err
	}
	d := core.Decision{
		Approval: id, Admin: true,
		Vote: &core.Vote{Actor: core.RestoredBy, Choice: core.Forget, Reason: core.RestoredReason},
	}
	decided, err := a.Decide(d, t.Now)
	if core.CategoryOf(err) == core.ApprovalDecided { // it is over
		return nil
	}
	if err != nil {
		return err
	}
	return t.storeDecided(a, decided, d)
}
