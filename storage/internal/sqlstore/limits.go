package sqlstore

import (
	"fmt"
	"time"

	"gatehouse/core"
)

// limit refuses a new message that exceeds its actor's limits. Refused messages do not count, so that an actor who goes on sending is
// answered again after a minute.
func (t *Tx) limit(e core.Event, seq int64, l core.Limits) error {
	if e.Kind() != core.KindMessage || e.Actor.ID == "" {
		return nil
	}
	rate, err := t.reaches(l.PerMinute, `
		select 1 from events where actor_id = $1 and actor_id <> '' and kind = 'message' and end_kind <> 'refused' and accepted_at > $2 and seq <> $3 limit 1 offset $4`,
		e.Actor.ID, t.Now.Add(-time.Minute), seq)
	if err != nil {
		return err
	}
	waiting, err := t.reaches(l.Waiting, `select 1 from events where actor_id = $1 and ended_at = 0 and seq <> $2 limit 1 offset $3`, e.Actor.ID, seq)
	if err != nil {
		return err
	}
	cause := ""
	switch {
	case rate:
		cause = fmt.Sprintf("more than %d messages in a minute", l.PerMinute)
	case waiting:
		cause = fmt.Sprintf("more than %d messages wait", l.Waiting)
	default:
		return nil
	}
	if _, err := t.Exec(`update events set ended_at = $1, end_kind = $2, end_category = $3, end_cause = $4 where seq = $5`,
		t.Now, core.EndRefused, core.RateLimited, cause, seq); err != nil {
		return err
	}
	key := fmt.Sprintf("refused/%s/%d", e.Actor.ID, t.Now.Truncate(time.Minute).Unix())
	told, err := t.exists(`select 1 from outbox where key = $1`, key)
	if err != nil || told {
		return err
	}
	t.addPost(core.Post{Key: key, To: e.Address, Conversation: e.Conversation, Kind: core.PostNotice, Text: l.Refusal, Event: seq})
	return nil
}

// reaches reports whether a query returns at least n rows; n 0: no limit. The query's last argument is the number of rows to skip.
func (t *Tx) reaches(n int, query string, args ...any) (bool, error) {
	if n <= 0 {
		return false, nil
	}
	return t.exists(query, append(args, n-1)...)
}
