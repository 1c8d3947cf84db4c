package sqlite

import (
	"context"
	"time"

	"gatehouse/core"
)

// ClaimPosts leases the first row of each destination that is due, those that wait longest first.
func (s *Store) ClaimPosts(ctx context.Context, r core.PostRequest) ([]core.OutboxRow, error) {
	if r.Owner == "" {
		return nil, core.Errorf(core.Invalid, "A claim needs an owner.")
	}
	if r.Limit <= 0 || len(r.Scopes) == 0 {
		return nil, nil
	}
	var places []string
	err := s.read(ctx, func(t *tx) (err error) {
		places, err = t.places(r)
		return err
	})
	if err != nil || len(places) == 0 {
		return nil, err
	}
	var rows []core.OutboxRow
	err = s.write(ctx, func(t *tx) error {
		places, err := t.places(r)
		if err != nil {
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

func (t *tx) places(r core.PostRequest) ([]string, error) {
	var all []string
	seen := map[string]bool{}
	for _, scope := range r.Scopes {
		query, args := `select destination from destinations where platform = ? and ready_at <= ? order by ready_at limit ?`, []any{scope.Platform, ns(t.now), r.Limit}
		if scope.Conversations != nil {
			query = `
				select destination from destinations indexed by destinations_scoped
				where conversation in (select value from json_each(?)) and +platform = ? and ready_at <= ? order by ready_at limit ?`
			args = append([]any{asJSON{scope.Conversations}}, args...)
		}
		found, err := t.texts(query, args...)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			if !seen[d] {
				all = append(all, d)
			}
			seen[d] = true
		}
	}
	return all[:min(len(all), r.Limit)], nil
}

func (t *tx) claimPost(r core.PostRequest, destination string) ([]core.OutboxRow, error) {
	rows, err := list(t, readOutbox, `select `+outboxColumns+` from outbox where destination = ? and state = 'waiting' order by seq limit 1`, destination)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	row := &rows[0]
	row.Owner = r.Owner
	row.Fence++
	if _, err := t.exec(`update outbox set owner = ?, lease_until = ?, fence = ? where seq = ?`, row.Owner, ns(t.now.Add(r.Lease)), row.Fence, row.Seq); err != nil {
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
	held, err := t.row([]any{&wanted}, `select wanted from outbox where seq = ? and owner = ? and owner <> '' and fence = ?`, row.Seq, row.Owner, row.Fence)
	if err != nil {
		return 0, err
	}
	if !held {
		return 0, core.Errorf(core.LeaseLost, "Another process delivers the post %s now.", row.Key)
	}
	parts := row.Parts
	if parts == nil {
		parts = []core.Part{}
	}
	_, err = t.exec(`update outbox set parts = ?, shown = ?, attempts = ?, cause = ? where seq = ?`, asJSON{parts}, row.Shown, row.Attempts, row.Cause, row.Seq)
	return wanted, err
}

// ReleasePost ends a delivery.
func (s *Store) ReleasePost(ctx context.Context, row core.OutboxRow, wait time.Duration) error {
	return s.write(ctx, func(t *tx) error {
		wanted, err := t.savePost(row)
		if err != nil {
			return err
		}
		state, sent := row.State, row.SentAt
		switch state {
		case core.RowWaiting:
		case core.RowSent:
			sent = t.now
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
		if _, err := t.exec(`update outbox set state = ?, next_at = ?, sent_at = ?, owner = '', lease_until = 0 where seq = ?`,
			state, ns(t.now.Add(max(0, wait))), ns(sent), row.Seq); err != nil {
			return err
		}
		var d string
		if _, err := t.row([]any{&d}, `select destination from outbox where seq = ?`, row.Seq); err != nil {
			return err
		}
		return t.due(d)
	})
}
