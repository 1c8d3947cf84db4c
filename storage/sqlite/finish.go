package sqlite

import (
	"context"
	"fmt"

	"gatehouse/core"
)

// Finish writes all that a turn changed in one fenced transaction. The session comes first, then what closures append to it; the
// record that the turn took up goes before the one it leaves behind, which may be of the same invocation.
func (s *Store) Finish(ctx context.Context, f core.Finish) error {
	if err := checkFinish(f); err != nil {
		return err
	}
	var saved saved
	err := s.fenced(ctx, f.Claim, func(t *tx) (err error) {
		if f.Retry != nil {
			return t.retry(f)
		}
		saved, err = t.finish(f)
		return err
	})
	if err == nil && f.Session != nil {
		saved.mark(f.Session)
	}
	return err
}

func checkFinish(f core.Finish) error {
	if f.Retry == nil {
		if f.End.Kind == "" {
			return core.Errorf(core.Internal, "A turn was to be finished without saying how it ended.")
		}
		return nil
	}
	kept := f.Session != nil || f.Paused != nil || f.Approval != nil || f.PressedCard != nil || f.Resumed != "" || f.NewGeneration || len(f.Abandoned)+len(f.Posts)+len(f.Pressed)+len(f.Evidence) > 0
	if kept || f.End.Kind != "" {
		return core.Errorf(core.Internal, "A turn that is tried again can't keep anything.")
	}
	return nil
}

func (t *tx) finish(f core.Finish) (s saved, err error) {
	c := f.Claim
	session := c.Session
	if f.Session != nil {
		session = f.Session.ID
		if s, err = t.saveSession(f.Session); err != nil {
			return s, fmt.Errorf("saving the session: %w", err)
		}
	}
	for _, closure := range f.Abandoned {
		if err := t.closure(closure, c.Event.Seq); err != nil {
			return s, fmt.Errorf("closing %s: %w", closure.Invocation, err)
		}
	}
	if f.Resumed != "" {
		if err := t.takenUp(f); err != nil {
			return s, err
		}
	}
	if f.Paused != nil {
		if err := t.pause(f.Paused); err != nil {
			return s, fmt.Errorf("pausing: %w", err)
		}
	}
	if f.Approval != nil {
		if err := t.open(*f.Approval); err != nil {
			return s, fmt.Errorf("opening the approval: %w", err)
		}
	}
	if f.NewGeneration {
		if err := t.newGeneration(c.Event.Event); err != nil {
			return s, err
		}
	}
	for _, p := range f.Posts {
		if err := t.say(p); err != nil {
			return s, fmt.Errorf("saying %s: %w", p.Key, err)
		}
	}
	if f.PressedCard != nil {
		if err := t.see(*f.PressedCard); err != nil {
			return s, fmt.Errorf("noting that a card is there: %w", err)
		}
	}
	for _, key := range f.Pressed {
		if err := t.press(key); err != nil {
			return s, fmt.Errorf("taking the button off %s: %w", key, err)
		}
	}
	if f.Evidence != nil {
		if err := t.testify(c.Event, session, f.Evidence); err != nil {
			return s, fmt.Errorf("keeping the evidence: %w", err)
		}
	}
	if _, err := t.exec(`update events set ended_at = ?, end_kind = ?, end_category = ?, end_cause = ?, session = ? where seq = ?`,
		ns(t.now), f.End.Kind, f.End.Category, f.End.Cause, session, c.Event.Seq); err != nil {
		return s, err
	}
	return s, t.letGo(c)
}

// takenUp removes the record that this turn resumed, and marks its approval as begun: a refusal, too, can't be cancelled any more
// once a turn has answered it.
func (t *tx) takenUp(f core.Finish) error {
	if _, err := t.exec(`update approvals set begun = 1 where id = ? and invocation = ? and state not in ('open', 'cancelled')`, f.Claim.Event.Subject(), f.Resumed); err != nil {
		return err
	}
	return t.resumed(f.Resumed)
}

func (t *tx) newGeneration(e core.Event) error {
	if err := t.conversation(e.Conversation.Queue(), e.Platform, e.Conversation); err != nil {
		return err
	}
	_, err := t.exec(`update queues set generation = generation + 1 where queue = ?`, e.Conversation)
	return err
}

// retry puts the event back. Its category and cause are kept with it, so that people see why it waits.
func (t *tx) retry(f core.Finish) error {
	_, err := t.exec(`update events set attempt = attempt - 1, retries = retries + 1, not_before = ?, end_category = ?, end_cause = ? where seq = ?`,
		ns(t.now.Add(f.Retry.After)), f.Retry.Category, f.Retry.Cause, f.Claim.Event.Seq)
	if err != nil {
		return err
	}
	return t.letGo(f.Claim)
}
