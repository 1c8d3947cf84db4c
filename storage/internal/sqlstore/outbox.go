package sqlstore

import (
	"context"
	"slices"
	"strings"

	"gatehouse/core"
)

// AddPosts adds posts to the outbox while a turn runs; a post whose key is known changes the earlier post. It fails with lease_lost
// if the claim no longer holds its queue.
func (s *Store) AddPosts(ctx context.Context, c core.Claim, posts []core.Post) error {
	return s.fenced(ctx, c, func(t *Tx) error {
		for _, p := range posts {
			t.addPost(p)
		}
		return nil
	})
}

// AddCopies adds posts that go with a row that is being delivered. Posts whose key is known stay as they are, so it may be repeated.
// It fails with lease_lost if the row is no longer leased by this delivery.
func (s *Store) AddCopies(ctx context.Context, row core.OutboxRow, posts []core.Post) error {
	return s.write(ctx, func(t *Tx) error {
		touched, err := t.destinationOf(row)
		if err != nil {
			return err
		}
		for _, p := range posts {
			touched[destination(p)] = true
		}
		return t.withDestinations(touched, func(w *outboxWriter) error {
			if _, err := w.savePost(row); err != nil {
				return err
			}
			for _, p := range posts {
				known, err := w.exists(`select 1 from outbox where key = $1`, p.Key)
				if err != nil {
					return err
				}
				if known {
					continue
				}
				if err := w.put(p); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// destination returns the queue in which a post keeps its order. Typing indicators have their own: they neither wait for an answer
// nor delay it.
func destination(p core.Post) string {
	parts := []string{p.To.Platform, p.To.Channel, p.To.Thread}
	if p.Kind == core.PostWorking {
		parts = append(parts, string(core.PostWorking))
	}
	return strings.Join(parts, "\x1f")
}

// destinationOf returns the row's present destination as the set of destinations to lock.
func (t *Tx) destinationOf(row core.OutboxRow) (map[string]bool, error) {
	touched := map[string]bool{}
	if !t.hooks.RowLocks {
		return touched, nil
	}
	found, err := t.Texts(`select destination from outbox where seq = $1`, row.Seq)
	if err == nil && len(found) == 0 {
		err = core.Errorf(core.LeaseLost, "The post %s no longer exists.", row.Key)
	}
	for _, d := range found {
		touched[d] = true
	}
	return touched, err
}

func editable(parts []core.Part) bool {
	return len(parts) == 1 && parts[0].Ref != "" && !parts[0].InDoubt
}

// updateDestination sets when a destination can next deliver: when its first waiting row is due, but not while another row is in
// flight. The caller holds its lock.
func (t *Tx) updateDestination(destination string) error {
	_, err := t.Exec(`
		insert into destinations (destination, platform, conversation, ready_at)
		select $1, coalesce(head.platform, ''), coalesce(head.conversation, ''), case when flight.ends > head.next_at then flight.ends else head.next_at end
		from (select coalesce(max(lease_until), 0) as ends from outbox where destination = $1 and owner <> '') flight
		left join (select platform, conversation, next_at from outbox where destination = $1 and state = 'waiting' order by seq limit 1) head on true
		where true
		on conflict (destination) do update set platform = excluded.platform, conversation = excluded.conversation, ready_at = excluded.ready_at`, destination)
	return err
}

const outboxColumns = `seq, post, wanted, shown, parts, state, attempts, next_at, cause, owner, fence, created_at, sent_at`

func readOutbox(scan func(...any) error) (core.OutboxRow, error) {
	var r core.OutboxRow
	err := scan(&r.Seq, fromJSON{&r.Post}, &r.Wanted, &r.Shown, fromJSON{&r.Parts}, &r.State, &r.Attempts, timestamp{&r.NextAt}, &r.Cause, &r.Owner, &r.Fence,
		timestamp{&r.CreatedAt}, timestamp{&r.SentAt})
	if len(r.Parts) == 0 {
		r.Parts = nil
	}
	return r, err
}

// outboxRow locks the row of a key and reads it.
func (t *Tx) outboxRow(key string) (core.OutboxRow, bool, error) {
	found, err := List(t, readOutbox, `select `+outboxColumns+` from outbox where key = $1`+t.forUpdate(), key)
	if err != nil || len(found) == 0 {
		return core.OutboxRow{}, false, err
	}
	return found[0], true, nil
}

// ListPosts returns up to n rows (0: all) in these states (nil: any) and this conversation ("": any), the latest first.
func (s *Store) ListPosts(ctx context.Context, states []core.RowState, conversation core.ConversationID, n int) (rows []core.OutboxRow, err error) {
	var where conditions
	if slices.Equal(states, []core.RowState{core.RowWaiting}) { // the common query, which has its own index
		where.and("state = 'waiting'")
	} else {
		in(&where, "state", states)
	}
	where.is("conversation", string(conversation))
	end, args := where.sql("seq", n)
	err = s.read(ctx, func(t *Tx) error {
		rows, err = List(t, readOutbox, `select `+outboxColumns+` from outbox`+end, args...)
		return err
	})
	return rows, err
}
