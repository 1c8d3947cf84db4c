package sqlstore

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// AddPosts adds posts to the outbox while a turn runs; a post whose key is known changes the earlier post. It fails
// with lease_lost if the claim no longer holds its queue.
func (s *Store) AddPosts(ctx context.Context, c core.Claim, posts []core.Post) error {
	return s.fenced(ctx, c, func(t *Tx) error {
		for _, p := range posts {
			t.addPost(p)
		}
		return nil
	})
}

// AddCopies saves a delivery as SavePost does, adds posts that go with it, and notes on a card that approvers were left
// out. Posts whose key is known stay as they are, so it may be repeated. It fails with lease_lost if the row is no
// longer held by this delivery.
func (s *Store) AddCopies(ctx context.Context, row core.OutboxRow, c core.Copies) error {
	return s.write(ctx, func(t *Tx) error {
		var names []string
		for _, p := range c.Posts {
			names = append(names, destination(p))
		}
		if err := t.lockDestinationOf(row.Seq, names...); err != nil {
			return err
		}
		if err := t.savePost(row); err != nil {
			return err
		}
		if c.LeftOut > 0 {
			now, found, err := t.outboxRow(row.Key)
			if err != nil || !found {
				return err
			}
			now.Quiet, now.LeftOut = false, c.LeftOut
			if _, err := t.Exec(`update outbox set post = $1 where seq = $2`, asJSON{now.Post}, now.Seq); err != nil {
				return err
			}
		}
		return t.putUnknown(c.Posts)
	})
}

const outboxColumns = `seq, post, wanted, shown, parts, state, attempts, next_at, cause, owner, fence,
	created_at, sent_at`

func readOutbox(scan func(...any) error) (core.OutboxRow, error) {
	var r core.OutboxRow
	err := scan(&r.Seq, fromJSON{&r.Post}, &r.Wanted, &r.Shown, fromJSON{&r.Parts}, &r.State, &r.Attempts,
		timestamp{&r.NextAt}, &r.Cause, &r.Owner, &r.Fence,
		timestamp{&r.CreatedAt}, timestamp{&r.SentAt})
	if len(r.Parts) == 0 {
		r.Parts = nil
	}
	return r, err
}

// outboxRow locks the row of a key and reads it.
func (t *Tx) outboxRow(key string) (core.OutboxRow, bool, error) {
	return one(t, readOutbox, `select `+outboxColumns+` from outbox where key = $1`+t.sql.forUpdate(), key)
}

// ListPosts returns up to n rows (0: all) in these states (nil: any) and this conversation ("": any), the latest first.
// Looks for twins, which say nothing, are left out.
func (s *Store) ListPosts(
	ctx context.Context, states []core.RowState, conversation core.ConversationID, n int,
) ([]core.OutboxRow, error) {
	var where conditions
	switch {
	case slices.Equal(states, []core.RowState{core.RowWaiting}) && conversation != "":
		// the common query, which has its own index
		where.and("state = 'waiting'")
	case states != nil && !slices.Contains(states, core.RowSent):
		// all but those that were sent are few, and have an index
		where.and("state <> 'sent'")
		fallthrough
	default:
		in(&where, "state", states)
	}
	where.is("conversation", string(conversation))
	where.and("kind <> 'twin'")
	return list(ctx, s, readOutbox, `select `+outboxColumns+` from outbox`, where, "seq", n)
}

// HeldPosts returns up to n posts (0: all) that wait and whose last attempt failed, the latest first.
func (s *Store) HeldPosts(ctx context.Context, n int) ([]core.OutboxRow, error) {
	var where conditions
	where.and("state = 'waiting' and cause <> '' and kind <> 'twin'")
	return list(ctx, s, readOutbox, `select `+outboxColumns+` from outbox`, where, "seq", n)
}

// ClaimPosts takes the first row of each due destination, the longest waiting first. A row is returned again if its
// owner dies. It skips a locked destination; the next call finds it.
func (s *Store) ClaimPosts(ctx context.Context, r core.PostRequest) ([]core.OutboxRow, error) {
	if r.Limit <= 0 || len(r.Scopes) == 0 {
		return nil, nil
	}
	due := func(t *Tx, take bool) ([]string, error) { return s.engine.DueDestinations(t, r, take) }
	claim := func(t *Tx, destination string) ([]core.OutboxRow, error) { return t.claimPost(r, destination) }
	return claiming(ctx, s, r.Owner, func() ([]core.OutboxRow, error) { return claimEach(ctx, s, r.Owner, due, claim) },
		(*claimed).addPost)
}

// claimPost takes the first row of a destination that waits.
func (t *Tx) claimPost(r core.PostRequest, destination string) ([]core.OutboxRow, error) {
	row, found, err := one(t, readOutbox, `select `+outboxColumns+` from outbox where seq = (select min(seq) from outbox
		where destination = $1 and state = 'waiting' and owner = '')`+t.sql.forUpdate(), destination)
	if err != nil || !found {
		return nil, err
	}
	row.Owner, row.Age = r.Owner, t.Now.Sub(row.CreatedAt)
	row.Fence++
	if first := cmp.Or(row.Reminds, row.Like); first != "" {
		card, _, err := one(t, readOutbox, `select `+outboxColumns+` from outbox where key = $1`, first)
		if err != nil {
			return nil, err
		}
		for _, part := range card.Delivered() {
			row.First = part.Ref
		}
	}
	row.Doubted = sentAsItIs(row.Post) && len(row.Parts) == 0
	parts := row.Parts
	if row.Doubted {
		parts = inDoubt(r.SentAt)
	}
	if err := t.Do(`update outbox set owner = $1, fence = $2, parts = $3 where seq = $4`, r.Owner, row.Fence,
		partsJSON(parts), row.Seq); err != nil {
		return nil, err
	}
	err = t.Do(`update destinations set ready_at = null, head = null where destination = $1`, destination)
	return []core.OutboxRow{row}, err
}

// inDoubt are the parts of a post whose first part is about to be sent.
func inDoubt(at time.Time) []core.Part { return []core.Part{{InDoubt: true, SentAt: at}} }

func partsJSON(parts []core.Part) asJSON {
	if parts == nil {
		parts = []core.Part{}
	}
	return asJSON{parts}
}

// sentAsItIs reports whether a post is sent as soon as it is claimed: nothing is drawn or looked up before.
func sentAsItIs(p core.Post) bool {
	switch p.Kind {
	case core.PostReply, core.PostError, core.PostNotice, core.PostPrivate:
		return true
	}
	return false
}

// SavePost stores the progress of a delivery: before a send that it is in doubt, after the send its result. It may be
// repeated. It fails with lease_lost if the row is no longer held by this delivery.
func (s *Store) SavePost(ctx context.Context, row core.OutboxRow) error {
	return s.write(ctx, func(t *Tx) error {
		if !isCard(row) {
			t.run.Last()
		}
		err := t.savePost(row)
		return err
	})
}

// LoadPost returns a post by its key. It fails with not_found if there is none.
func (s *Store) LoadPost(ctx context.Context, key string) (core.OutboxRow, error) {
	return read(ctx, s, func(t *Tx) (core.OutboxRow, error) {
		row, found, err := one(t, readOutbox, `select `+outboxColumns+` from outbox where key = $1`, key)
		if err == nil && !found {
			err = core.Errorf(core.NotFound, "There is no post %q.", key)
		}
		return row, err
	})
}

// MovePart replaces the reference of a part of a post by another one, unless the part has a different one by now or the
// post is being delivered. Repeating it changes nothing.
func (s *Store) MovePart(
	ctx context.Context, key string, part int, from, to core.Ref,
) (moved bool, err error) {
	return write(ctx, s, func(t *Tx) (bool, error) {
		row, found, err := t.outboxRow(key)
		if err != nil || !found || row.Owner != "" || part >= len(row.Parts) || row.Parts[part].Ref != from {
			return false, err
		}
		row.Parts[part].Ref = to
		_, err = t.Exec(`update outbox set parts = $1 where seq = $2`, partsJSON(row.Parts), row.Seq)
		return err == nil, err
	})
}

func deliveryLost(row core.OutboxRow) error {
	return core.Errorf(core.ClaimLost, "Another process delivers the post %s now.", row.Key)
}

func isCard(row core.OutboxRow) bool { return row.Kind == core.PostCard && row.Approval != "" }

// savePost stores the delivery's own fields. The post itself may have changed meanwhile and is left alone.
func (t *Tx) savePost(row core.OutboxRow) error {
	held, err := t.exists(`
		update outbox set parts = $1, shown = $2, attempts = $3, cause = $4
		where seq = $5 and owner = $6 and owner <> '' and fence = $7
		returning 1`, partsJSON(row.Parts), row.Shown, row.Attempts, free(row.Cause), row.Seq, row.Owner, row.Fence)
	if err == nil && !held {
		err = deliveryLost(row)
	}
	if err == nil && len(row.Delivered()) > 0 {
		err = t.arrived(row, row.Owner)
	}
	return err
}

// arrived records in the audit log that a card has reached its destination, once for each row. by is the process that
// found out.
func (t *Tx) arrived(row core.OutboxRow, by string) error {
	if !isCard(row) {
		return nil
	}
	first, err := t.Exec(`update outbox set arrived = true where seq = $1 and arrived = false`, row.Seq)
	if err != nil || first == 0 {
		return err
	}
	if t.Now.IsZero() { // nothing was locked
		if err := t.readClock(); err != nil {
			return err
		}
	}
	t.audit(row.Approval, audit.Sent, by, sentTo(row.Post))
	return nil
}

// sentTo is the detail of an entry about a card that was sent: where it is, and for whom a copy is.
func sentTo(p core.Post) string {
	var to []string
	if p.To.Channel != "" {
		place := p.To.Platform + ":" + p.To.Channel
		if p.To.Thread != "" {
			place += "/" + p.To.Thread
		}
		to = append(to, place)
	}
	if p.Person != "" {
		to = append(to, p.Person)
	}
	detail := "to " + strings.Join(to, " for ")
	if p.Copy {
		detail += ", copy"
	}
	return detail
}

// ReleasePost saves the delivery as SavePost does, sets its state and ends the lease. The row is due again after the
// wait if it still waits, or if its wanted version has risen. more reports whether its destination may have a post to
// deliver. It fails with lease_lost if the row is no longer held by this delivery.
func (s *Store) ReleasePost(ctx context.Context, row core.OutboxRow, wait time.Duration) (more bool, err error) {
	var left *core.Left // of the transaction, which adds to it until it is committed
	if s.sql.RowLocks && row.State == core.RowSent && wait <= 0 && !isCard(row) {
		var released bool
		err := s.write(ctx, func(t *Tx) error {
			left, released = &t.left, false
			return t.releaseSent(row, &released)
		})
		if err == nil && released {
			s.claimed.endPost(row)
		}
		if err != nil || released {
			return err == nil && left.Posts, err
		}
	}
	err = s.releasing(ctx, row, func(t *Tx) error {
		left = &t.left
		if err := t.lockDestinations(destination(row.Post)); err != nil {
			return err
		}
		return t.release(row, wait)
	})
	return err == nil && left.Posts, err
}

// releasing runs the transaction that ends a row's delivery.
func (s *Store) releasing(ctx context.Context, row core.OutboxRow, work func(*Tx) error) error {
	if row.State == core.RowSent {
		ctx = context.WithValue(ctx, patient{}, true)
	}
	err := s.write(ctx, work)
	if err == nil || core.CategoryOf(err) == core.ClaimLost {
		s.claimed.endPost(row)
	}
	return err
}

// patient marks the context of a write that can wait for others: the news that a post has arrived.
type patient struct{}

// Patient reports whether an Engine.Write of this context may wait some milliseconds for another one
// to share its commit.
func Patient(ctx context.Context) bool { return ctx.Value(patient{}) != nil }

// release ends a delivery. The caller holds the lock of the destination that the post had when it was claimed. If it
// has moved since, the other one is locked late.
func (t *Tx) release(row core.OutboxRow, wait time.Duration) error {
	sent, due := row.SentAt, math.MaxInt // due: it waits again if its wanted version is higher
	switch row.State {
	case core.RowWaiting:
	case core.RowSent:
		sent, due = t.Now, row.Shown
	case core.RowUnknown, core.RowDead:
		if editable(row.Parts) {
			due = row.Wanted
		}
	default:
		return core.Errorf(core.Invalid, "A post can't be released in the state %q.", row.State)
	}
	released, err := t.Texts(`
		update outbox set parts = $1, shown = $2, attempts = $3, cause = $4, state = case
			when wanted > $5 then 'waiting' else $6 end, next_at = $7, delay = $8, sent_at = $9, owner = ''
		where seq = $10 and owner = $11 and owner <> '' and fence = $12
		returning destination`,
		partsJSON(row.Parts), row.Shown, row.Attempts, free(row.Cause), due, row.State, t.delayed(wait), wait, sent,
		row.Seq, row.Owner, row.Fence)
	if err != nil {
		return err
	}
	if len(released) == 0 {
		return deliveryLost(row)
	}
	if len(row.Delivered()) > 0 {
		if err := t.arrived(row, row.Owner); err != nil {
			return err
		}
	}
	return t.lockDestinations(released...)
}

// releaseSent releases a row that was sent, in one round trip; released is set once it is committed. It is not set, and
// nothing has changed, if the row is lost or the post was changed so that it belongs elsewhere.
func (t *Tx) releaseSent(row core.OutboxRow, released *bool) error {
	t.clockAsked = true // the only time that is stored is the server's, by the statement below
	at := destination(row.Post)
	if err := t.lockDestinations(at); err != nil {
		return err
	}
	t.repeatable = true
	return t.ask(released, []any{new(int64)}, `
		update outbox set parts = $1, shown = $2, attempts = $3, cause = $4, state = case
			when wanted > $2 then 'waiting' else 'sent' end, next_at = 0,
			sent_at = `+t.sql.Clock+`, owner = ''
		where seq = $5 and owner = $6 and owner <> '' and fence = $7 and destination = $8
		returning seq`,
		partsJSON(row.Parts), row.Shown, row.Attempts, free(row.Cause), row.Seq, row.Owner, row.Fence, at)
}

// Resend makes a post that gave up due again; a post that still waits is left alone. It fails with not_found if there
// is no such post, and with invalid if it was delivered. A sentence in its place that has not been sent is removed: it
// would contradict the post, and a further refusal adds it again.
func (s *Store) Resend(ctx context.Context, seq int64) error {
	return s.changeUndelivered(ctx, seq, func(t *Tx, row core.OutboxRow) error {
		if row.State == core.RowWaiting {
			return nil
		}
		_, err := t.Exec(`delete from outbox where key = $1 and state = 'waiting' and owner = '' and parts = '[]'`,
			row.KeyInPlace())
		if err != nil {
			return err
		}
		_, err = t.Exec(`update outbox set state = 'waiting', next_at = 0, parts = $1, attempts = 0, cause = ''
			where seq = $2`,
			asJSON{append([]core.Part{}, row.Delivered()...)}, seq)
		return err
	})
}

// DropPost marks a post that gave up as dropped. Dropping it twice succeeds. It fails with not_found if there is no
// such post, and with invalid if the post was delivered or still waits.
func (s *Store) DropPost(ctx context.Context, seq int64) error {
	return s.changeUndelivered(ctx, seq, func(t *Tx, row core.OutboxRow) error {
		if !row.GaveUp() {
			return core.Errorf(core.Invalid, "The post %d still waits to be sent.", seq)
		}
		_, err := t.Exec(`update outbox set state = $1 where seq = $2`, core.RowDropped, seq)
		return err
	})
}

// changeUndelivered changes a post that gave up or waits. It holds the locks of the post's destination and of its row.
func (s *Store) changeUndelivered(ctx context.Context, seq int64, change func(*Tx, core.OutboxRow) error) error {
	return s.write(ctx, func(t *Tx) error {
		if err := t.lockDestinationOf(seq); err != nil {
			return err
		}
		row, found, err := one(t, readOutbox, `select `+outboxColumns+` from outbox where seq = $1`+t.sql.forUpdate(),
			seq)
		switch {
		case err != nil:
			return err
		case !found:
			return core.Errorf(core.NotFound, "There is no post %d.", seq)
		case row.State == core.RowSent:
			return core.Errorf(core.Invalid, "The post %d was delivered.", seq)
		}
		if err := t.lockDestinations(destination(row.Post)); err != nil {
			return err
		}
		return change(t, row)
	})
}
