package postgres

import (
	"context"
	"time"

	"gatehouse/core"
)

// deliverable are the destinations with something to deliver.
const deliverable = `
	from destinations where ready_at <= (select clock_timestamp())
	and (platform = any($1::text[]) or (platform, conversation) in (select p, l from unnest($2::text[], $3::text[]) as pairs (p, l)))`

// ClaimPosts leases the first row of each destination that is due, those that wait longest first. A destination whose lock
// somebody holds is passed over; the next look finds it.
func (s *Store) ClaimPosts(ctx context.Context, r core.PostRequest) ([]core.OutboxRow, error) {
	if r.Owner == "" {
		return nil, core.Errorf(core.Invalid, "A claim needs an owner.")
	}
	if r.Limit <= 0 || len(r.Scopes) == 0 {
		return nil, nil
	}
	in := scopes(r.Scopes)
	var worth bool
	err := s.read(ctx, func(t *tx) (err error) {
		worth, err = t.exists(`select 1 `+deliverable+` limit 1`, in.platforms, in.pairsOf, in.pairedConversations)
		return err
	})
	if err != nil || !worth {
		return nil, err
	}
	var rows []core.OutboxRow
	err = s.write(ctx, func(t *tx) error {
		rows = nil
		places, err := t.texts(`select destination `+deliverable+` order by ready_at limit $4 for update of destinations skip locked`, in.platforms, in.pairsOf, in.pairedConversations, r.Limit)
		if err != nil || len(places) == 0 {
			return err
		}
		if err := t.clock(); err != nil {
			return err
		}
		for _, d := range places {
			claimed, err := t.claimPost(r, d)
			if err != nil {
				return err
			}
			rows = append(rows, claimed...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (t *tx) claimPost(r core.PostRequest, destination string) ([]core.OutboxRow, error) {
	rows, err := list(t, readOutbox, `
		update outbox set owner = $1, lease_until = $2, fence = fence + 1
		where seq = (select seq from outbox where destination = $3 and state = 'waiting' order by seq limit 1)
		returning `+outboxColumns, r.Owner, t.now.Add(r.Lease), destination)
	if err != nil {
		return nil, err
	}
	return rows, t.due(destination)
}

// SavePost stores how far a delivery has come: before a send that it is in doubt, after it the answer.
func (s *Store) SavePost(ctx context.Context, row core.OutboxRow) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.savePost(row)
		return err
	})
}

// savePost stores the delivery's own fields and gives the row's wanted version; what is to be said may have changed meanwhile and
// is left alone.
func (t *tx) savePost(row core.OutboxRow) (wanted int, err error) {
	parts := row.Parts
	if parts == nil {
		parts = []core.Part{}
	}
	held, err := t.row([]any{&wanted}, `
		update outbox set parts = $1, shown = $2, attempts = $3, cause = $4
		where seq = $5 and owner = $6 and owner <> '' and fence = $7
		returning wanted`, asJSON{parts}, row.Shown, row.Attempts, free(row.Cause), row.Seq, row.Owner, row.Fence)
	if err == nil && !held {
		err = core.Errorf(core.LeaseLost, "Another process delivers the post %s now.", row.Key)
	}
	return wanted, err
}

// ReleasePost ends a delivery.
func (s *Store) ReleasePost(ctx context.Context, row core.OutboxRow, wait time.Duration) error {
	return s.write(ctx, func(t *tx) error {
		at, err := t.place(row)
		if err != nil {
			return err
		}
		return t.to(at, func(s *speaker) error { return s.release(row, wait) })
	})
}

// place is where the row's post goes.
func (t *tx) place(row core.OutboxRow) (map[string]bool, error) {
	found, err := t.texts(`select destination from outbox where seq = $1`, row.Seq)
	if err == nil && len(found) == 0 {
		err = core.Errorf(core.LeaseLost, "The post %s is gone.", row.Key)
	}
	all := map[string]bool{}
	add(all, found)
	return all, err
}

func (s *speaker) release(row core.OutboxRow, wait time.Duration) error {
	wanted, err := s.savePost(row)
	if err != nil {
		return err
	}
	state, sent := row.State, row.SentAt
	switch state {
	case core.RowWaiting:
	case core.RowSent:
		sent = s.now
		if wanted > row.Shown {
			state = core.RowWaiting
		}
	case core.RowUnknown, core.RowDead:
		if wanted > row.Wanted && editable(row.Parts) {
			state = core.RowWaiting
		}
	default:
		return core.Errorf(core.Invalid, "A post can't be left in the state %q.", state)
	}
	moved, err := s.texts(`
		update outbox set state = $1, next_at = $2, sent_at = $3, owner = '', lease_until = null where seq = $4
		returning destination`, state, s.now.Add(max(0, wait)), sent, row.Seq)
	if err != nil {
		return err
	}
	return s.at(moved[0])
}

// Spread puts posts beside a row that is being delivered.
func (s *Store) AddCopies(ctx context.Context, row core.OutboxRow, posts []core.Post) error {
	return s.write(ctx, func(t *tx) error {
		at, err := t.place(row)
		if err != nil {
			return err
		}
		for _, p := range posts {
			at[destination(p)] = true
		}
		return t.to(at, func(s *speaker) error { return s.spread(row, posts) })
	})
}

func (s *speaker) spread(row core.OutboxRow, posts []core.Post) error {
	if _, err := s.savePost(row); err != nil {
		return err
	}
	for _, p := range posts {
		known, err := s.exists(`select 1 from outbox where key = $1`, p.Key)
		if err != nil {
			return err
		}
		if known {
			continue
		}
		if err := s.add(p); err != nil {
			return err
		}
	}
	return nil
}
