package sqlstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// FailPost ends a delivery as ReleasePost does, and stores how people are told instead, in one transaction. Repeating it tells nothing twice.
// It fails with lease_lost if the row is no longer leased by this delivery.
func (s *Store) FailPost(ctx context.Context, row core.OutboxRow, wait time.Duration, f core.Fallback) error {
	posts := slices.Clone(f.Posts)
	if f.Notice != nil {
		posts = append(posts, *f.Notice)
	}
	return s.releasing(ctx, row, func(t *Tx) error {
		// The lock of the quiet card's destination also orders two copies that fail at once: the later one knows of the other.
		names, err := destinationsOf(t, "key", []string{f.Asks}, "")
		if err != nil {
			return err
		}
		for _, p := range posts {
			names = append(names, destination(p))
		}
		if err := t.lockDestinationOf(row.Seq, names...); err != nil {
			return err
		}
		if err := t.release(row, wait); err != nil {
			return err
		}
		if err := t.unquiet(f.Asks, f.LeftOut, f.Untold); err != nil {
			return err
		}
		if err := t.putUnknown(f.Posts); err != nil || f.Notice == nil {
			return err
		}
		told, err := t.toldInstead(row, f.Asks)
		if err != nil || told {
			return err
		}
		return t.putUnknown([]core.Post{*f.Notice})
	})
}

// unquiet makes a quiet card name the approvers, and say how many were left out, with the one who did not get the copy untold. A missing card,
// or one that does so, is no error.
func (t *Tx) unquiet(key string, leftOut int, untold string) error {
	row, found, err := t.outboxRow(key)
	known := untold == "" || slices.Contains(strings.Split(row.Untold, "\n"), untold)
	if err != nil || !found || !row.Quiet && row.LeftOut >= leftOut && known {
		return err
	}
	p := row.Post
	p.Quiet, p.LeftOut = false, max(p.LeftOut, leftOut)
	if !known {
		p.Untold += untold + "\n"
	}
	return t.changeRow(row, p)
}

// toldInstead reports whether a copy instead of a quiet card, other than the failed one, has arrived or has yet to be tried.
func (t *Tx) toldInstead(failed core.OutboxRow, quiet string) (bool, error) {
	cards, err := t.cards(failed.Approval)
	return slices.ContainsFunc(cards, func(r core.OutboxRow) bool {
		hope := r.State == core.RowWaiting && r.Attempts == 0
		return r.Seq != failed.Seq && r.Instead == quiet && (hope || len(r.Delivered()) > 0)
	}), err
}

// Cards returns the cards of an approval and their copies.
func (s *Store) Cards(ctx context.Context, id core.ApprovalID) ([]core.OutboxRow, error) {
	return read(ctx, s, func(t *Tx) ([]core.OutboxRow, error) { return t.cards(id) })
}

func (t *Tx) cards(id core.ApprovalID) ([]core.OutboxRow, error) {
	return List(t, readOutbox, `select `+outboxColumns+` from outbox where approval = $1 and approval <> '' and kind = 'card' order by seq`, id)
}
