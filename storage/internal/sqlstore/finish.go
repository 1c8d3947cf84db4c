package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"gatehouse/core"
)

// Finish writes everything that a turn changed in one transaction. It fails with lease_lost if the claim no longer
// holds its queue, and with session_write_conflict if the session has changed since it was loaded; then nothing is
// stored. The order matters: the session is saved before abandoned invocations append to it, and the record that the
// turn resumed is removed before the new one, possibly of the same invocation, is stored.
func (s *Store) Finish(ctx context.Context, f core.Finish) error {
	if err := checkFinish(f); err != nil {
		return err
	}
	var saved core.SessionRecord
	var left *core.Left // of the transaction, which adds to it until it is committed
	end := func(handover *handover) error {
		return s.write(ctx, func(t *Tx) (err error) {
			if handover != nil {
				handover.taken = nil
				t.outbox.handover = handover
			}
			saved, err = t.end(f)
			left = &t.left
			return err
		})
	}
	var err error
	if h := f.Handover; h == nil {
		err = end(nil)
	} else {
		h.Rows, err = claiming(ctx, s, f.Claim.Owner, func() ([]core.OutboxRow, error) {
			inside := &handover{Handover: *h, owner: f.Claim.Owner}
			if err := end(inside); err != nil {
				return nil, err
			}
			return inside.rows(), nil
		}, (*claimed).addPost)
	}
	if err == nil && f.Session != nil {
		*f.Session = saved
	}
	if err == nil && f.Left != nil {
		*f.Left = *left
	}
	s.ended(f.Claim, err)
	return err
}

// end is the transaction of Finish. It returns the session as it was saved.
func (t *Tx) end(f core.Finish) (core.SessionRecord, error) {
	others, err := t.otherQueues(f)
	if err != nil {
		return core.SessionRecord{}, err
	}
	var stored storedSession
	where := notDeleted
	if f.End.Kind == core.EndWithdrawn {
		where = ""
	}
	deleted, err := t.fenceAsking(f.Claim, others, where, func() error {
		if f.Session != nil {
			if err := t.askSession(&stored, *f.Session); err != nil {
				return err
			}
		}
		if !onlyAnswers(f) {
			return nil
		}
		return t.lookAhead(f.Claim.Event.Seq, f.Posts)
	})
	switch {
	case err != nil:
		return core.SessionRecord{}, err
	case deleted:
		return core.SessionRecord{}, core.Errorf(core.Stopped, "The message was deleted while its turn ran.")
	case f.Retry != nil:
		return core.SessionRecord{}, t.retry(f)
	}
	return t.finish(f, stored)
}

// onlyAnswers reports whether the end of a turn locks nothing between its session and the one destination of its posts.
func onlyAnswers(f core.Finish) bool {
	if f.Session != nil && f.Session.Messages != nil &&
		slices.ContainsFunc(f.Session.Messages.Added(), func(m core.Message) bool {
			return len(m.StoredImages()) > 0
		}) {
		return false
	}
	for _, p := range f.Posts {
		if destination(p) != destination(f.Posts[0]) {
			return false
		}
	}
	rest := f.Changes
	rest.Session, rest.Posts, rest.Evidence = nil, nil, nil
	return rest.IsZero()
}

func checkFinish(f core.Finish) error {
	if f.Retry == nil {
		if f.End.Kind == "" {
			return core.Errorf(core.Internal, "A turn can't be finished without an end.")
		}
		return nil
	}
	if f.End.Kind != "" || !f.IsZero() {
		return core.Errorf(core.Internal, "A turn that will be retried can't store anything else.")
	}
	return nil
}

// otherQueues returns the other queues that the end of the turn writes to; they are locked before everything else. A
// signal that arrives between this query and the locks has its queue locked late, which at worst costs a repeat of the
// transaction.
func (t *Tx) otherQueues(f core.Finish) ([]core.QueueKey, error) {
	if !t.sql.RowLocks {
		return nil, nil
	}
	var all []core.QueueKey
	if f.NewGeneration {
		all = append(all, f.Claim.Event.Conversation.Queue())
	}
	if f.Approval != nil {
		all = append(all, f.Approval.Conversation.Queue())
	}
	if len(f.Abandoned) == 0 {
		return all, nil
	}
	invocations := make([]string, len(f.Abandoned))
	for i, c := range f.Abandoned {
		invocations[i] = string(c.Invocation)
	}
	abandoned, err := t.queuesOf(invocations)
	return append(all, abandoned...), err
}

func (t *Tx) finish(f core.Finish, stored storedSession) (s core.SessionRecord, err error) {
	c := f.Claim
	session := c.Session
	if f.Session != nil {
		session = f.Session.ID
		if s, err = t.saveSession(*f.Session, stored); err != nil {
			return s, fmt.Errorf("saving the session: %w", err)
		}
	}
	for _, a := range f.Abandoned {
		if err := t.abandon(a, c); err != nil {
			return s, fmt.Errorf("abandoning %s: %w", a.Invocation, err)
		}
	}
	if f.Resumed != "" {
		if err := t.removeResumed(f); err != nil {
			return s, err
		}
	}
	if f.Paused != nil {
		if err := t.storePaused(f.Paused); err != nil {
			return s, fmt.Errorf("pausing: %w", err)
		}
	}
	if f.Approval != nil {
		if err := t.openRequest(*f.Approval, f.Posts); err != nil {
			return s, fmt.Errorf("opening the approval: %w", err)
		}
	}
	if f.NewGeneration {
		if err := t.newGeneration(c.Event.Event); err != nil {
			return s, err
		}
	}
	for _, p := range f.Posts {
		t.addPost(p)
	}
	for _, id := range f.Show {
		t.redrawCards(id)
	}
	if f.Redraw != "" {
		t.redrawAfterPress(f.Redraw)
	}
	if f.AskedAgain != "" {
		t.buttonsPressed(f.AskedAgain)
	}
	if f.PressedCard != nil {
		t.cardPressed(*f.PressedCard, c.Owner)
	}
	for _, key := range f.Pressed {
		t.buttonPressed(key)
	}
	if f.Evidence != nil {
		if err := t.storeEvidence(c.Event, session, f.Evidence); err != nil {
			return s, fmt.Errorf("storing the evidence: %w", err)
		}
	}
	if err := t.Do(`update events set ended_at = $1, end_kind = $2, end_category = $3, end_cause = $4, session = $5
		where seq = $6`,
		t.Now, f.End.Kind, f.End.Category, free(f.End.Cause), session, c.Event.Seq); err != nil {
		return s, err
	}
	return s, t.releaseQueue(c.Key, c.Event.Seq)
}

// removeResumed removes the paused record that this turn resumed, marks its approval as begun, and records an approved
// call that was not. Once a turn has answered it, even a refused approval can't be cancelled.
func (t *Tx) removeResumed(f core.Finish) error {
	if _, err := t.Exec(`update approvals set begun = true where id = $1 and invocation = $2
		and state not in ('open', 'cancelled')`, f.Claim.Event.Subject(), f.Resumed); err != nil {
		return err
	}
	if err := t.endCalls(f.Resumed, f.Claim.Owner, f.NotRun, f.Paused != nil); err != nil {
		return err
	}
	return t.deletePaused(f.Resumed)
}

func (t *Tx) newGeneration(e core.Event) error {
	if err := t.store.engine.LockQueue(t, e.Conversation.Queue(), e.Platform, e.Conversation); err != nil {
		return err
	}
	_, err := t.Exec(`update queues set generation = generation + 1 where queue_key = $1`, e.Conversation)
	return err
}

// retry returns the event to its queue. It stores the category and cause, so that users can see why the event waits.
func (t *Tx) retry(f core.Finish) error {
	_, err := t.Exec(`
		update events set attempt = attempt - 1, retries = retries + 1, not_before = $1, due_at = $1, delay = $2,
			end_category = $3, end_cause = $4 where seq = $5`,
		t.delayed(f.Retry.After), f.Retry.After, f.Retry.Category, free(f.Retry.Cause), f.Claim.Event.Seq)
	if err != nil {
		return err
	}
	return t.releaseQueue(f.Claim.Key, f.Claim.Event.Seq)
}

// LoadEvidence returns what an invocation did; nil, nil if nothing is stored.
func (s *Store) LoadEvidence(ctx context.Context, id core.InvocationID) (json.RawMessage, error) {
	return read(ctx, s, func(t *Tx) (json.RawMessage, error) {
		var body string
		found, err := t.Row([]any{&body}, `select body from evidence where invocation = $1`, id)
		if err != nil || !found {
			return nil, err
		}
		return json.RawMessage(body), nil
	})
}

// storeEvidence stores what the turn's invocation did; a later segment replaces it.
func (t *Tx) storeEvidence(e core.EventRecord, session core.SessionID, evidence json.RawMessage) error {
	_, err := t.Exec(`
		insert into evidence (invocation, session, body, at) values ($1, $2, $3, $4)
		on conflict (invocation) do update set session = excluded.session, body = excluded.body, at = excluded.at`,
		e.Invocation, session, free(evidence), t.Now)
	return err
}
