package sqlstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// FailPost ends a delivery as ReleasePost does, and stores how people are told instead, in one transaction. Repeating
// it tells nothing twice. It fails with lease_lost if the row is no longer held by this delivery.
func (s *Store) FailPost(ctx context.Context, row core.OutboxRow, wait time.Duration, f core.Fallback) error {
	posts := slices.Clone(f.Posts)
	if f.Notice != nil {
		posts = append(posts, *f.Notice)
	}
	return s.releasing(ctx, row, func(t *Tx) error {
		// The lock of the quiet card's destination also orders two copies that fail at once: the later one knows of the
		// other.
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
		if err := t.putUnknown(f.Posts); err != nil {
			return err
		}
		if f.Notice == nil {
			return t.recordUndelivered(row)
		}
		told, err := t.toldInstead(row, f.Asks)
		if err != nil || told {
			return err
		}
		return t.putUnknown([]core.Post{*f.Notice})
	})
}

// unquiet makes a quiet card name the approvers, and say how many were left out, with the one who did not get the copy
// untold. A missing card, or one that does so, is no error.
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

// toldInstead reports whether a copy instead of a quiet card, other than the failed one, has arrived or has yet to be
// tried.
func (t *Tx) toldInstead(failed core.OutboxRow, quiet string) (bool, error) {
	cards, err := t.cards(failed.Approval)
	return slices.ContainsFunc(cards, func(r core.OutboxRow) bool {
		hope := r.State == core.RowWaiting && r.Attempts == 0
		return r.Seq != failed.Seq && r.Instead == quiet && (hope || len(r.Delivered()) > 0)
	}), err
}

// recordUndelivered records in the audit log, once, that none of the cards of an agent's open request has arrived,
// and none is on its way for the first time; failed is the last one.
func (t *Tx) recordUndelivered(failed core.OutboxRow) error {
	if !isCard(failed) {
		return nil
	}
	a, err := t.approval(failed.Approval)
	if err != nil || a.External == nil || a.State != core.Open {
		if core.CategoryOf(err) == core.NotFound {
			err = nil
		}
		return err
	}
	known, err := t.exists(`select 1 from outbox where approval = $1 and approval <> '' and kind = 'card'
		and `+hopeful+`
		union all select 1 from audit where approval = $1 and action = $2 limit 1`, a.ID, audit.Undelivered)
	if err == nil && !known {
		cause, _, _ := strings.Cut(failed.Cause, ":") // the rest may quote what a platform said
		t.audit(a.ID, audit.Undelivered, failed.Owner, cause)
	}
	return err
}

// hopeful is a card that has arrived, or may yet arrive at the first attempt: one that only waits for a rate limit.
const hopeful = `(arrived or state = 'waiting' and (cause = '' or attempts = 0 and parts = '[]'))`

// Undelivered returns the open requests of agents of which nobody was told, the oldest first: none of their cards has
// arrived. One without cards waits on the pages.
func (s *Store) Undelivered(ctx context.Context) (ids []core.ApprovalID, err error) {
	return read(ctx, s, func(t *Tx) ([]core.ApprovalID, error) {
		found, err := t.Texts(`
			select id from approvals a where state = 'open' and conversation like 'external:%'
			and exists (select 1 from outbox where approval = a.id and approval <> '' and kind = 'card')
			and not exists (
				select 1 from outbox where approval = a.id and approval <> '' and kind = 'card' and ` + hopeful + `
			) order by seq limit 100`)
		for _, id := range found {
			ids = append(ids, core.ApprovalID(id))
		}
		return ids, err
	})
}

// Cards returns the cards of an approval and their copies.
func (s *Store) Cards(ctx context.Context, id core.ApprovalID) ([]core.OutboxRow, error) {
	return read(ctx, s, func(t *Tx) ([]core.OutboxRow, error) { return t.cards(id) })
}

func (t *Tx) cards(id core.ApprovalID) ([]core.OutboxRow, error) {
	return List(t, readOutbox, `select `+outboxColumns+` from outbox where approval = $1 and approval <> ''
		and kind = 'card' order by seq`, id)
}
