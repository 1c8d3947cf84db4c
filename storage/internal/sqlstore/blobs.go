package sqlstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// PutBlob stores the bytes of an image under their digest, which it returns; bytes that are stored already are not
// written again. e is the event that the image came with: until it ends, the bytes are kept though no message refers to
// them yet. So they are committed before the message is, and a turn that is interrupted may put them again.
func (s *Store) PutBlob(ctx context.Context, e core.Event, data []byte) (digest string, err error) {
	return s.PutBlobFor(ctx, e, data, 0)
}

// PutBlobFor is PutBlob for what is uploaded before there is an event: it is kept for a lifetime, too.
func (s *Store) PutBlobFor(
	ctx context.Context, e core.Event, data []byte, lifetime time.Duration,
) (digest string, err error) {
	digest = core.Digest(data)
	return digest, s.write(ctx, func(t *Tx) error {
		if err := t.readClock(); err != nil {
			return err
		}
		known, err := t.lockBlob(digest)
		if err != nil {
			return err
		}
		if !known { // another process may be adding it: the update locks its row
			if _, err := t.Exec(`insert into blobs (digest, body) values ($1, $2) on conflict (digest) do update
				set digest = excluded.digest`, digest, data); err != nil {
				return err
			}
		}
		return t.addEventBlob(e, digest, t.Now.Add(lifetime))
	})
}

// KeepBlob is PutBlobFor for bytes that are stored under a digest; known reports whether any are.
func (s *Store) KeepBlob(
	ctx context.Context, e core.Event, digest string, lifetime time.Duration,
) (known bool, err error) {
	return write(ctx, s, func(t *Tx) (bool, error) {
		if err := t.readClock(); err != nil {
			return false, err
		}
		return t.keepBlob(e, digest, t.Now.Add(lifetime))
	})
}

func (t *Tx) keepBlob(e core.Event, digest string, until time.Time) (known bool, err error) {
	if known, err = t.lockBlob(digest); err != nil || !known {
		return false, err
	}
	return true, t.addEventBlob(e, digest, until)
}

func (t *Tx) addEventBlob(e core.Event, digest string, until time.Time) error {
	_, err := t.Exec(`
		insert into event_blobs (digest, platform, event, at) values ($1, $2, $3, $4)
		on conflict (digest, platform, event) do update set at = excluded.at where event_blobs.at < excluded.at`,
		digest, e.Platform, e.ID, until)
	return err
}

// LoadBlob returns the bytes that are stored under a digest. It fails with not_found if there are none.
func (s *Store) LoadBlob(ctx context.Context, digest string) ([]byte, error) {
	return read(ctx, s, func(t *Tx) (data []byte, err error) {
		found, err := t.Row([]any{&data}, `select body from blobs where digest = $1`, digest)
		if err == nil && !found {
			err = core.Errorf(core.NotFound, "Nothing is stored under the digest %s.", digest)
		}
		return data, err
	})
}

// lockBlob locks a blob's row and reports whether there is one.
func (t *Tx) lockBlob(digest string) (known bool, err error) {
	return t.exists(`select 1 from blobs where digest = $1`+t.sql.forUpdate(), digest)
}

// addMessageBlobs records which blobs new messages refer to, so that a blob goes with the last message that does.
func (t *Tx) addMessageBlobs(id core.SessionID, w core.Writer, msgs []core.Message) error {
	type use struct {
		digest string
		n      int
	}
	var uses []use
	for i, m := range msgs {
		for _, digest := range m.StoredImages() {
			uses = append(uses, use{digest, w.From + i})
		}
	}
	slices.SortFunc(uses, func(a, b use) int { return strings.Compare(a.digest, b.digest) }) // the order of the locks
	for _, u := range uses {
		if _, err := t.Exec(`insert into message_blobs (session, invocation, n, digest)
			values ($1, $2, $3, $4)`, id, w.Invocation, u.n, u.digest); err != nil {
			return err
		}
	}
	return nil
}

// sessionBlobs returns the digests that a session's messages refer to, and those of what came with its events, in
// order. Prune keeps event_blobs small, so that all of it is read.
func (t *Tx) sessionBlobs(id core.SessionID) ([]string, error) {
	return t.Texts(`
		select digest from message_blobs where session = $1
		union select b.digest from event_blobs b join events e on e.platform = b.platform and e.id = b.event
			where b.at >= 0 and e.conversation = $2 and e.session in ($1, '')
		order by digest`, id, id.Conversation())
}

// removeUnused removes those blobs that no message refers to, no unfinished event came with and, unless they are
// erased, that are not kept for a lifetime. The digests are in order, and the clock was read.
func (t *Tx) removeUnused(digests []string, erased bool) error {
	for _, digest := range digests {
		if t.sql.RowLocks { // the next statement sees what was committed meanwhile
			if _, err := t.lockBlob(digest); err != nil {
				return err
			}
		}
		if _, err := t.Exec(`
			delete from blobs where digest = $1
			and not exists (select 1 from message_blobs m where m.digest = blobs.digest)
			and not exists (
				select 1 from event_blobs b join events e on e.platform = b.platform and e.id = b.event
				where b.digest = blobs.digest and e.ended_at = 0)
			and ($2 or not exists (select 1 from event_blobs b where b.digest = blobs.digest and b.at > $3))`,
			digest, erased, t.Now); err != nil {
			return err
		}
	}
	return nil
}

// pruneBlobs removes what at most n ended events came with, unless messages refer to it. It returns the number of
// events and blobs that it looked at.
func (t *Tx) pruneBlobs(n int) (int64, error) {
	type use struct{ digest, platform, event string }
	ended, err := List(t, func(scan func(...any) error) (u use, err error) {
		return u, scan(&u.digest, &u.platform, &u.event)
	}, `
		select b.digest, b.platform, b.event from event_blobs b where b.at <= $1
		and not exists (select 1 from events e where e.platform = b.platform and e.id = b.event and e.ended_at = 0)
		limit $2`+t.sql.skipLocked("b"), t.Now, n)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(ended, func(a, b use) int { return strings.Compare(a.digest, b.digest) })
	for _, u := range ended {
		if _, err := t.Exec(`delete from event_blobs where digest = $1 and platform = $2 and event = $3`, u.digest,
			u.platform, u.event); err != nil {
			return 0, err
		}
		if err := t.removeUnused([]string{u.digest}, false); err != nil {
			return 0, err
		}
	}
	return int64(len(ended)), nil
}
