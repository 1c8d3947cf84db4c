package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/core"
)

// The tables of this file belong to no conversation: values, leases, rate limits, notes, counts of tokens, and tasks.
//
// Names in the table kv have the prefix "kept/" or "put/" of the methods that wrote them, so that they never collide
// with each other or with the store's own names, such as "paused".

// PutIfAbsent stores a value unless the name has one, and returns the value that is kept. Such a value never changes.
func (s *Store) PutIfAbsent(ctx context.Context, name, value string) (string, error) {
	return write(ctx, s, func(t *Tx) (kept string, err error) {
		if _, err := t.Exec(`insert into kv (name, value) values ($1, $2) on conflict (name) do nothing`,
			"kept/"+name, value); err != nil {
			return "", err
		}
		_, err = t.Row([]any{&kept}, `select value from kv where name = $1`, "kept/"+name)
		return kept, err
	})
}

// Put stores a value in place of any earlier one; an empty value removes it. Values are kept as JSON, which can hold a
// zero byte. A value that core.CheckValue refuses is invalid.
func (s *Store) Put(ctx context.Context, name, value string) error {
	if err := core.CheckValue(name, value); err != nil {
		return err
	}
	return s.write(ctx, func(t *Tx) error { return t.put(name, value, time.Time{}) })
}

// PutFor stores a value for a lifetime, for secrets that are worthless later. After the lifetime Get returns "" and
// Prune removes the value, whatever age Prune is called with. A lifetime of zero or less removes the value at once.
// Otherwise PutFor works as Put.
func (s *Store) PutFor(ctx context.Context, name, value string, lifetime time.Duration) error {
	if err := core.CheckValue(name, value); err != nil {
		return err
	}
	return s.write(ctx, func(t *Tx) error {
		if lifetime <= 0 {
			return t.put(name, "", time.Time{})
		}
		if err := t.readClock(); err != nil {
			return err
		}
		return t.put(name, value, t.Now.Add(lifetime))
	})
}

func (t *Tx) put(name, value string, expires time.Time) error {
	if value == "" {
		_, err := t.Exec(`delete from kv where name = $1`, "put/"+name)
		return err
	}
	_, err := t.Exec(`
		insert into kv (name, value, expires_at) values ($1, $2, $3)
		on conflict (name) do update set value = excluded.value, expires_at = excluded.expires_at`,
		"put/"+name, asJSON{value}, expires)
	return err
}

// Get returns the value that Put or PutFor stored; "" if there is none.
func (s *Store) Get(ctx context.Context, name string) (string, error) {
	return read(ctx, s, func(t *Tx) (value string, err error) {
		var expires time.Time
		_, err = t.Row([]any{fromJSON{&value}, timestamp{&expires}, Clock{t}}, `select value, expires_at,
			`+t.sql.Clock+` from kv where name = $1`, "put/"+name)
		if !expires.IsZero() && !expires.After(t.Now) {
			value = ""
		}
		return value, err
	})
}

// AcquireLease takes or renews the lease of a name for owner, or releases it if lease is zero or less. It reports
// whether owner now holds the name. A lease that began at a time still to come is over: the clock was set back. An
// empty owner is invalid.
func (s *Store) AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (bool, error) {
	if owner == "" {
		return false, core.Errorf(core.Invalid, "The lease %s needs an owner with a name.", name)
	}
	return write(ctx, s, func(t *Tx) (bool, error) {
		if lease <= 0 {
			_, err := t.Exec(`delete from leases where name = $1 and owner = $2`, name, owner)
			return false, err
		}
		if _, err := t.lockRows(`leases where name = $1`, name); err != nil {
			return false, err
		}
		n, err := t.Exec(`
			insert into leases (name, owner, lease_until, delay) values ($1, $2, $3, $4)
			on conflict (name) do update set owner = excluded.owner, lease_until = excluded.lease_until,
				delay = excluded.delay
			where leases.owner = excluded.owner or leases.lease_until <= $5
				or leases.lease_until - leases.delay > $6`,
			name, owner, t.Now.Add(lease), lease, t.Now, t.Now.Add(SetBack))
		return n == 1, err
	})
}

// TakeToken counts a use of a rate-limited name. If the limit is reached, it counts nothing and returns the time until
// the next use is possible. Uses in the future do not count: the clock was set back. A limit below 1 is invalid. The
// name is locked first, so every earlier use is visible.
func (s *Store) TakeToken(ctx context.Context, name string, limit int, window time.Duration) (time.Duration, error) {
	if limit < 1 {
		return 0, core.Errorf(core.Invalid, "The rate limit of %s is %d; it must be at least 1.", name, limit)
	}
	return write(ctx, s, func(t *Tx) (time.Duration, error) {
		if err := t.store.engine.LockRateLimit(t, name, window); err != nil {
			return 0, err
		}
		begin := t.Now.Add(-window)
		// Removes uses older than the window; if there are very many, the next call removes the rest.
		if _, err := t.Exec(`delete from rate_tokens where seq in (select seq from rate_tokens where name = $1
			and at <= $2 limit $3)`, name, begin, pruneStep); err != nil {
			return 0, err
		}
		// The next use is possible once the limit-th latest use leaves the window.
		var at time.Time
		full, err := t.Row([]any{timestamp{&at}}, `select at from rate_tokens where name = $1 and at > $2 and at <= $3
			order by at desc limit 1 offset $4`, name, begin, t.Now, limit-1)
		if err != nil {
			return 0, err
		}
		if full {
			return at.Add(window).Sub(t.Now), nil
		}
		_, err = t.Exec(`insert into rate_tokens (name, at, ends) values ($1, $2, $3)`, name, t.Now, t.Now.Add(window))
		return 0, err
	})
}

// Moved is what a database that was copied into another one says of it, as the value of MovedName in kv.
type Moved struct {
	ID   string    `json:"id"` // of the copy; it has it as the value of ArrivedName
	To   string    `json:"to"` // the other database's address, without its password
	At   time.Time `json:"at"`
	Done bool      `json:"done"` // the copy is known to be committed; otherwise it may be
}

// MovedName and ArrivedName are the store's own names in kv: of a Moved, and of the ID of the copy that a database is.
const (
	MovedName   = "moved"
	ArrivedName = "arrived"
)

// Moved returns what the database says of the one into which it was copied; nil if it was not.
func (s *Store) Moved(ctx context.Context) (*Moved, error) {
	return read(ctx, s, func(t *Tx) (*Moved, error) {
		var text string
		found, err := t.Row([]any{&text}, `select value from kv where name = $1`, MovedName)
		if err != nil || !found {
			return nil, err
		}
		return ReadMoved(text)
	})
}

// ReadMoved reads the value of MovedName.
func ReadMoved(text string) (*Moved, error) {
	m := &Moved{}
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return nil, core.Wrap(core.StoreUnreadable, err, "What the database says of the one to which it was moved "+
			"can't be read: the value of %q in its table kv was changed.", MovedName)
	}
	return m, nil
}

// AddNote writes a note of the demo's note tool; repeating it writes a second one.
func (s *Store) AddNote(ctx context.Context, owner, text string) error {
	return s.write(ctx, func(t *Tx) error {
		_, err := t.Exec(`insert into notes (owner, text) values ($1, $2)`, owner, free(text))
		return err
	})
}

// Notes returns an owner's notes, the oldest first.
func (s *Store) Notes(ctx context.Context, owner string) ([]string, error) {
	return read(ctx, s, func(t *Tx) ([]string, error) {
		return t.Texts(`select text from notes where owner = $1 order by seq`, owner)
	})
}

// keepTokens is how long a day's count is kept.
const keepTokens = 8 * 24 * time.Hour

// AddTokens counts n more tokens of models for a person on this day of the store's clock, in UTC, and returns the day's
// count; with 0 it counts nothing. What a turn took is lost if its process dies before it is counted.
func (s *Store) AddTokens(ctx context.Context, person string, n int64) (today int64, err error) {
	add := func(t *Tx) (int64, error) {
		if err := t.readClock(); err != nil {
			return 0, err
		}
		name := "tokens/" + t.Now.UTC().Format(time.DateOnly) + "/" + person
		if n != 0 {
			if _, err := t.Exec(`
				insert into kv (name, value, expires_at) values ($1, $2, $3)
				on conflict (name) do update set value = cast(cast(kv.value as bigint) + $4 as text)`,
				name, strconv.FormatInt(n, 10), t.Now.Add(keepTokens), n); err != nil {
				return 0, err
			}
		}
		var count string
		found, err := t.Row([]any{&count}, `select value from kv where name = $1`, name)
		if err != nil || !found {
			return 0, err
		}
		return strconv.ParseInt(count, 10, 64)
	}
	if n == 0 {
		return read(ctx, s, add)
	}
	return write(ctx, s, add)
}

// AddTask stores a task that is due after wait. A task whose key is known is left as it is, but it is due no later than
// that.
func (s *Store) AddTask(ctx context.Context, task core.Task, wait time.Duration) error {
	return s.write(ctx, func(t *Tx) error {
		if err := t.readClock(); err != nil {
			return err
		}
		task.Due = t.Now.Add(wait)
		return t.addTask(task)
	})
}

func (t *Tx) addTask(task core.Task) error {
	_, err := t.Exec(`insert into tasks (key, kind, subject, due) values ($1, $2, $3, $4) on conflict (key) do update
		set due = excluded.due where tasks.due > excluded.due`, task.Key, task.Kind, task.Subject, task.Due)
	return err
}

// ClaimTasks claims up to n due tasks, the earliest first. A task is returned again after that time unless it is ended.
func (s *Store) ClaimTasks(ctx context.Context, n int, after time.Duration) ([]core.Task, error) {
	if n <= 0 {
		return nil, nil
	}
	readTask := func(scan func(...any) error) (x core.Task, err error) {
		return x, scan(&x.Key, &x.Kind, &x.Subject, timestamp{&x.Due})
	}
	// Looking first costs no commit, and usually nothing is due.
	due, err := read(ctx, s, func(t *Tx) (bool, error) {
		var first time.Time
		found, err := t.Row([]any{timestamp{&first}, Clock{t}}, `select due, `+t.sql.Clock+` from tasks where due > 0
			order by due limit 1`)
		return found && !first.After(t.Now), err
	})
	if err != nil || !due {
		return nil, err
	}
	return write(ctx, s, func(t *Tx) ([]core.Task, error) {
		if err := t.readClock(); err != nil {
			return nil, err
		}
		tasks, err := List(t, readTask, `select key, kind, subject, due from tasks where due <= $1 order by due
			limit $2`+t.sql.skipLocked("tasks"), t.Now, n)
		if err != nil {
			return nil, err
		}
		for _, task := range tasks {
			if _, err := t.Exec(`update tasks set due = $1 where key = $2`, t.Now.Add(after), task.Key); err != nil {
				return nil, err
			}
		}
		return tasks, nil
	})
}

// EndTask removes a task, or delays it if wait is positive. Ending a missing task succeeds.
func (s *Store) EndTask(ctx context.Context, key string, wait time.Duration) error {
	return s.write(ctx, func(t *Tx) error {
		if wait <= 0 {
			return t.endTask(key)
		}
		if err := t.readClock(); err != nil {
			return err
		}
		_, err := t.Exec(`update tasks set due = $1 where key = $2`, t.Now.Add(wait), key)
		return err
	})
}

func (t *Tx) endTask(key string) error {
	_, err := t.Exec(`delete from tasks where key = $1`, key)
	return err
}

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
