package sqlstore

import (
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
)

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
