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
		var names []string
		for _, p := range posts {
			names = append(names, destination(p))
		}
		if err := t.lockDestinationOf(row.Seq, names...); err != nil {
			return err
		}
		if _, err := t.savePost(row); err != nil {
			return err
		}
		for _, p := range posts {
			known, err := t.exists(`select 1 from outbox where key = $1`, p.Key)
			if err != nil {
				return err
			}
			if known {
				continue
			}
			if err := t.putPost(p); err != nil {
				return err
			}
		}
		return nil
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
	return one(t, readOutbox, `select `+outboxColumns+` from outbox where key = $1`+t.forUpdate(), key)
}

// ListPosts returns up to n rows (0: all) in these states (nil: any) and this conversation ("": any), the latest first.
func (s *Store) ListPosts(ctx context.Context, states []core.RowState, conversation core.ConversationID, n int) ([]core.OutboxRow, error) {
	var where conditions
	if slices.Equal(states, []core.RowState{core.RowWaiting}) { // the common query, which has its own index
		where.and("state = 'waiting'")
	} else {
		in(&where, "state", states)
	}
	where.is("conversation", string(conversation))
	return list(ctx, s, readOutbox, `select `+outboxColumns+` from outbox`, where, "seq", n)
}
