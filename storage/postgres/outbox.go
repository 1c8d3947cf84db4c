package postgres

import (
	"context"
	"strings"

	"gatehouse/core"
)

// Say puts posts into the outbox while a turn runs.
func (s *Store) AddPosts(ctx context.Context, c core.Claim, posts []core.Post) error {
	return s.fenced(ctx, c, func(t *tx) error {
		for _, p := range posts {
			t.say(p)
		}
		return nil
	})
}

// destination is where posts keep their order. Working states have one of their own: they neither wait for an answer nor hold it
// up.
func destination(p core.Post) string {
	parts := []string{p.To.Platform, p.To.Channel, p.To.Thread}
	if p.Kind == core.PostWorking {
		parts = append(parts, string(core.PostWorking))
	}
	return strings.Join(parts, "\x1f")
}

func editable(parts []core.Part) bool {
	return len(parts) == 1 && parts[0].Ref != "" && !parts[0].InDoubt
}

// due sets when a destination, whose lock is held, has something to deliver: its first row that waits, but not before the one in
// flight is back.
func (t *tx) due(destination string) error {
	_, err := t.exec(`
		update destinations d set platform = coalesce(w.platform, d.platform), conversation = coalesce(w.conversation, d.conversation), ready_at = w.ready_at
		from (select $1::text as destination) k left join lateral (
			select platform, conversation, greatest(next_at, (select max(lease_until) from outbox where destination = $1 and owner <> '')) as ready_at
			from outbox where destination = $1 and state = 'waiting' order by seq limit 1) w on true
		where d.destination = k.destination`, destination)
	return err
}

const outboxColumns = `seq, post, wanted, shown, parts, state, attempts, next_at, cause, owner, fence, created_at, sent_at`

func readOutbox(scan func(...any) error) (core.OutboxRow, error) {
	var r core.OutboxRow
	err := scan(&r.Seq, fromJSON{&r.Post}, &r.Wanted, &r.Shown, fromJSON{&r.Parts}, &r.State, &r.Attempts, stamp{&r.NextAt}, &r.Cause, &r.Owner, &r.Fence,
		stamp{&r.CreatedAt}, stamp{&r.SentAt})
	if len(r.Parts) == 0 {
		r.Parts = nil
	}
	return r, err
}

// outboxRow takes the row's lock and reads it.
func (t *tx) outboxRow(key string) (core.OutboxRow, bool, error) {
	found, err := list(t, readOutbox, `select `+outboxColumns+` from outbox where key = $1 for update`, key)
	if err != nil || len(found) == 0 {
		return core.OutboxRow{}, false, err
	}
	return found[0], true, nil
}

// ListPosts reads rows along the index that fits the filter best.
func (s *Store) ListPosts(ctx context.Context, states []core.RowState, conversation core.ConversationID, n int) (rows []core.OutboxRow, err error) {
	var where conditions
	in(&where, "state", states)
	where.is("conversation", string(conversation))
	end, args := where.sql("seq", n)
	err = s.read(ctx, func(t *tx) error {
		rows, err = list(t, readOutbox, `select `+outboxColumns+` from outbox`+end, args...)
		return err
	})
	return rows, err
}
