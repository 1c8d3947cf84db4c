package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/storage/internal/erasure"
)

// Everything that ErasePerson does is repeatable, and made of short transactions. What others quote goes first, the
// person's own texts last: by these it is known what to look for, so a run that was killed can be made again.

// PersonRuns says what of a person's can't be cut: a turn that runs, or a decided call that is about to. "" = nothing.
// It fails with not_found if nothing is kept of the person.
func (s *Store) PersonRuns(ctx context.Context, id string) (string, error) {
	p, known, err := s.find(ctx, id)
	if err == nil && !known {
		p, err = s.known(ctx, id)
	}
	if err != nil {
		return "", err
	}
	return s.runs(ctx, p)
}

func (s *Store) runs(ctx context.Context, p *person) (string, error) {
	held, err := read(ctx, s, func(t *Tx) ([]string, error) {
		return t.Texts(`select conversation from queues where owner > '' and owner <> ''`)
	})
	if err != nil {
		return "", err
	}
	for _, c := range held {
		if p.conversations[core.ConversationID(c)] {
			return "A turn of the conversation " + c + " is running.", nil
		}
	}
	begun := ""
	err = s.eachApproval(ctx, func(a core.Approval) error {
		if a.Requester.ID != p.id || a.State == core.Open || !a.Begun || begun != "" {
			return nil
		}
		runs, err := read(ctx, s, func(t *Tx) (bool, error) {
			return t.exists(`select 1 from intents where approval = $1 and begun_at > 0 and ended_at = 0
				and exists (select 1 from events where invocation = $2 and ended_at = 0)`, a.ID, a.Invocation)
		})
		if runs {
			begun = "The call of " + a.Call.Tool + " that the approval " + string(a.ID) +
				" is for has begun and not ended."
		}
		return err
	})
	return begun, err
}

// Erasing is how a person is erased.
type Erasing struct {
	Replies bool // what the bot said to them goes, too
	Now     bool // even if something waits that quotes them, which is not found as theirs later
}

// ErasePerson erases a person: what they wrote, and what others quote of it, becomes "[erased]"; names, reasons, files,
// what is remembered for them, usage and notes go. What the bot said stays, unless Replies is set. Their open approvals
// are cancelled first, and their waiting messages withdrawn. Account ids, times and states stay, so the audit log can
// be verified. It fails with not_found if nothing is kept of the person, and with invalid, before it changes anything,
// while a turn or a begun call of theirs runs.
//
// What waits keeps its text; see Erasure. By the person's own texts it is known what to look for in it, so these stay
// until nothing waits, unless Now is set.
func (s *Store) ErasePerson(ctx context.Context, id string, how Erasing) (done Erasure, err error) {
	p, err := s.known(ctx, id)
	if err != nil {
		return done, err
	}
	busy, err := s.runs(ctx, p)
	if err == nil && busy != "" {
		err = core.Errorf(core.Invalid, "%s Nothing was erased. Stop it, or wait until it has ended, and try again.",
			busy)
	}
	if err != nil {
		return done, err
	}
	e := &eraser{Store: s, person: p, replies: how.Replies, done: &done}
	if err := e.cancelOpen(ctx); err != nil {
		return done, err
	}
	for left := true; left; { // sessions that are being pruned
		if left, err = s.finishRetiring(ctx); err != nil {
			return done, err
		}
	}
	if e.words, err = s.words(ctx, p); err != nil {
		return done, err
	}
	if err := e.round(ctx); err != nil {
		return done, err
	}
	if e.own = !done.Waits() || how.Now; e.own {
		if err := e.round(ctx); err != nil {
			return done, err
		}
	}
	done.Own = e.own
	return done, s.shrink(ctx)
}

// eraser erases one person, in two rounds: what others have, and then, as own, what is the person's.
type eraser struct {
	*Store
	person  *person
	words   *erasure.Words
	replies bool
	own     bool
	done    *Erasure
}

func (e *eraser) round(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		e.messages, e.mail, e.posts, e.approvals, e.rest, e.events,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// change makes one transaction of some changes, and counts them.
func (e *eraser) change(ctx context.Context, changes []func(*Tx) error) error {
	if len(changes) == 0 {
		return nil
	}
	e.done.Rows += len(changes)
	return e.write(ctx, func(t *Tx) error {
		if err := t.readClock(); err != nil {
			return err
		}
		for _, change := range changes {
			if err := change(t); err != nil {
				return err
			}
		}
		return nil
	})
}

// update is a change of one row.
func update(query string, args ...any) func(*Tx) error {
	return func(t *Tx) error {
		_, err := t.Exec(query, args...)
		return err
	}
}

// messages erases in histories. What a model was shown changes, so it is shown as a new epoch, without what it keeps of
// the old one.
func (e *eraser) messages(ctx context.Context) error {
	return e.eachSession(ctx, func(session core.SessionID, page []storedMessage) error {
		var all []func(*Tx) error
		for _, m := range page {
			theirs := e.person.theirs(session, m.invocation, decoded(m.body))
			if theirs != e.own {
				continue
			}
			body, own, is := e.words.Message(erasure.Message{Body: []byte(m.body), Theirs: theirs, Replies: e.replies})
			kept := m.kept
			if decoded(m.body).Role == core.Assistant && e.person.conversations[session.Conversation()] {
				kept = ""
			}
			if !is && kept == m.kept {
				continue
			}
			if own {
				all = append(all, func(t *Tx) error { return t.removeFiles(m) })
			}
			all = append(all, update(`update messages set body = $1, kept = $2 where session = $3 and pos = $4
				and body = $5`, string(body), kept, session, m.pos, m.body))
		}
		if len(all) > 0 {
			all = append(all, update(`update sessions set epoch = '' where id = $1`, session))
		}
		return e.change(ctx, all)
	})
}

// removeFiles removes a message's files, but for those that another message has.
func (t *Tx) removeFiles(m storedMessage) error {
	digests, err := t.Texts(`delete from message_blobs where session = $1 and invocation = $2 and n = $3
		returning digest`, m.session, m.invocation, m.n)
	if err != nil {
		return err
	}
	slices.Sort(digests)
	return t.removeUnused(digests, true)
}

// mail erases in mailboxes, and in the titles of conversations.
func (e *eraser) mail(ctx context.Context) error {
	type box struct {
		id    core.ConversationID
		title string
	}
	row := func(scan func(...any) error) (b box, err error) { return b, scan(&b.id, &b.title) }
	return eachPage(ctx, e.Store, row, "",
		func(b box) string { return string(b.id) }, func(boxes []box) error {
			for _, b := range boxes {
				if err := e.mailOf(ctx, b.id, b.title); err != nil {
					return err
				}
			}
			return nil
		}, `select mailbox, title from mailboxes where mailbox > $1 order by mailbox limit $2`)
}

func (e *eraser) mailOf(ctx context.Context, box core.ConversationID, title string) error {
	if err := e.eachMail(ctx, box, func(page []core.Mail) error {
		var all []func(*Tx) error
		for _, m := range page {
			_, said := saidIn(m)
			_, theirs := e.person.events[m.Event]
			theirs = theirs || said && e.person.boxes[box]
			if theirs != e.own {
				continue
			}
			content := e.inMail(m, said, theirs)
			if content == string(m.Content) {
				continue
			}
			all = append(all, update(`update mail set content = $1 where mailbox = $2 and seq = $3
				and content = $4`, content, box, m.Seq, string(m.Content)))
		}
		return e.change(ctx, all)
	}); err != nil {
		return err
	}
	erased := e.words.Text(title)
	if e.own && e.person.boxes[box] && title != "" {
		erased = erasure.Erased
	}
	if erased == title {
		return nil
	}
	return e.change(ctx, []func(*Tx) error{func(t *Tx) error {
		_, err := t.Exec(`update mailboxes set title = $1, changed_at = $2 where mailbox = $3 and title = $4`,
			free(erased), t.Now, box, title)
		return err
	}})
}

// inMail is the content of mail without the person.
func (e *eraser) inMail(m core.Mail, said, theirs bool) string {
	var post struct{ Kind core.PostKind }
	_ = json.Unmarshal(m.Content, &post)
	switch reply := post.Kind == core.PostReply; {
	case theirs && said, theirs && reply && e.replies:
		return withText(m.Content, erasure.Erased)
	case theirs && reply:
		return string(m.Content)
	}
	content, _ := e.words.Fields(m.Content)
	return string(content)
}

// withText is a JSON object whose field text is another.
func withText(raw []byte, text string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields["text"] == nil {
		return string(raw)
	}
	var was string
	if json.Unmarshal(fields["text"], &was) == nil && was == text {
		return string(raw)
	}
	fields["text"], _ = json.Marshal(text) // as all that follows: it can be encoded
	out, _ := json.Marshal(fields)
	return string(out)
}

// posts erases in the outbox. What still waits is to be sent, so it keeps its text; so does what others may look up or
// try again.
func (e *eraser) posts(ctx context.Context) error {
	return eachPage(ctx, e.Store, readOutbox, 0, func(r core.OutboxRow) int64 { return r.Seq },
		func(page []core.OutboxRow) error {
			var all []func(*Tx) error
			for _, row := range page {
				_, theirs := e.person.events[row.Event]
				reply := row.Kind == core.PostReply
				erased := row.Text
				switch {
				case row.Text == "":
				case theirs && reply && e.replies:
					erased = erasure.Erased
				case !theirs || !reply:
					erased = e.words.Text(row.Text)
				}
				settled := row.State == core.RowSent || row.State == core.RowDropped
				switch {
				case erased == row.Text:
				case row.State == core.RowWaiting, !theirs && !settled:
					if !e.own {
						e.done.Posts++
					}
				case theirs == e.own:
					all = append(all, func(t *Tx) error { t.eraseSettled(row); return nil })
				}
			}
			return e.change(ctx, all)
		}, `select `+outboxColumns+` from outbox where seq > $1 order by seq limit $2`)
}

// eraseSettled is erasePost, but not of a post whose state is another by now.
func (t *Tx) eraseSettled(row core.OutboxRow) {
	p := row.Post
	p.Text, p.Pressed = "", true
	t.outbox.writes = append(t.outbox.writes, outboxWrite{destination: destination(p), apply: func() error {
		_, err := t.Exec(`update outbox set post = $1, state = case when state = 'sent' then state
			else 'dropped' end where seq = $2 and state = $3 and state <> 'waiting'`, asJSON{p}, row.Seq, row.State)
		return err
	}})
}

// rest erases in evidence, notes, sessions' states and the values that are kept under the person's name. Paused turns
// of others keep what they need to go on.
func (e *eraser) rest(ctx context.Context) error {
	type row struct{ key, text, owner string }
	scan := func(scan func(...any) error) (r row, err error) { return r, scan(&r.key, &r.text, &r.owner) }
	key := func(r row) string { return r.key }
	each := func(query string, change func(row) func(*Tx) error) error {
		return eachPage(ctx, e.Store, scan, "", key, func(page []row) error {
			var all []func(*Tx) error
			for _, r := range page {
				if c := change(r); c != nil {
					all = append(all, c)
				}
			}
			return e.change(ctx, all)
		}, query)
	}
	// quoted is a change of a text that quotes the person.
	quoted := func(query string) func(row) func(*Tx) error {
		return func(r row) func(*Tx) error {
			if text, is := withoutWords(e.words, r.text); is {
				return update(query, text, r.key, r.text)
			}
			return nil
		}
	}
	if err := each(`select invocation, body, session from evidence where invocation > $1 order by invocation limit $2`,
		func(r row) func(*Tx) error {
			if e.own && e.person.turns[core.InvocationID(r.key)] {
				return update(`delete from evidence where invocation = $1`, r.key)
			}
			return quoted(`update evidence set body = $1 where invocation = $2 and body = $3`)(r)
		}); err != nil {
		return err
	}
	if err := each(`select id, state, '' from sessions where id > $1 order by id limit $2`,
		quoted(`update sessions set state = $1 where id = $2 and state = $3`)); err != nil {
		return err
	}
	if err := each(`select name, value, '' from kv where name > $1 and substr(name, 1, 5) <> 'kept/' order by name
		limit $2`, func(r row) func(*Tx) error {
		if e.own && strings.Contains(r.key+"/", "/"+e.person.id+"/") {
			return update(`delete from kv where name = $1`, r.key)
		}
		return nil // what others' values say is no text of people
	}); err != nil {
		return err
	}
	type note struct {
		seq         int64
		owner, text string
	}
	if err := eachPage(ctx, e.Store, func(scan func(...any) error) (n note, err error) {
		return n, scan(&n.seq, &n.owner, &n.text)
	}, 0, func(n note) int64 { return n.seq }, func(page []note) error {
		var all []func(*Tx) error
		for _, n := range page {
			text := e.words.Text(n.text)
			switch {
			case n.owner == e.person.id && e.own:
				all = append(all, update(`delete from notes where seq = $1`, n.seq))
			case n.owner != e.person.id && text != n.text:
				all = append(all, update(`update notes set text = $1 where seq = $2 and text = $3`, text,
					n.seq, n.text))
			}
		}
		return e.change(ctx, all)
	}, `select seq, owner, text from notes where seq > $1 order by seq limit $2`); err != nil || !e.own {
		return err
	}
	return e.change(ctx, []func(*Tx) error{update(`delete from rate_tokens where name = $1`, "external/"+e.person.id)})
}

// events erases what the person did, as the platform sent it, and what others' events quote of them. What has not ended
// is to be answered, and a dead letter can be tried again, so these keep what they say.
func (e *eraser) events(ctx context.Context) error {
	type row struct {
		seq          int64
		platform, id string
		fetched      string
		payload      []byte
		ended        int64
		end          core.EndKind
	}
	return eachPage(ctx, e.Store, func(scan func(...any) error) (r row, err error) {
		return r, scan(&r.seq, &r.platform, &r.id, &r.payload, &r.fetched, &r.ended, &r.end)
	}, 0, func(r row) int64 { return r.seq }, func(page []row) error {
		var all []func(*Tx) error
		for _, r := range page {
			event, theirs := e.person.events[r.seq]
			if theirs {
				switch {
				case e.own:
					all = append(all, func(t *Tx) error { return t.eraseEvent(event) })
				case r.ended == 0:
					e.done.Events++
				}
				continue
			}
			if e.own {
				continue
			}
			payload, quotes := e.words.Fields(r.payload)
			quotes = quotes && len(r.payload) > 0
			fetched, fetchedQuotes := e.words.Fields([]byte(r.fetched))
			fetchedQuotes = fetchedQuotes && r.fetched != ""
			if !quotes && !fetchedQuotes {
				continue
			}
			if r.ended == 0 || r.end == core.EndDead {
				e.done.Events++
				continue
			}
			if quotes {
				all = append(all, update(`update events set payload = $1 where seq = $2 and payload = $3
					and ended_at > 0 and end_kind <> 'dead'`, payload, r.seq, r.payload))
			}
			if fetchedQuotes {
				all = append(all, update(`update events set fetched = $1 where seq = $2 and fetched = $3
					and ended_at > 0 and end_kind <> 'dead'`, string(fetched), r.seq, r.fetched))
			}
		}
		return e.change(ctx, all)
	}, `select seq, platform, id, payload, fetched, ended_at, end_kind from events where seq > $1
		order by seq limit $2`)
}

// eraseEvent erases an event of the person, with its files. Its id stays, so it is known when it is delivered again.
func (t *Tx) eraseEvent(e core.EventRecord) error {
	if _, err := t.Exec(`update events set actor = $1, payload = null, fetched = '' where seq = $2 and ended_at > 0`,
		asJSON{core.Actor{ID: e.Actor.ID, Local: e.Actor.Local}}, e.Seq); err != nil {
		return err
	}
	digests, err := t.Texts(`delete from event_blobs where platform = $1 and event = $2 and at >= 0 returning digest`,
		e.Platform, e.ID)
	if err != nil {
		return err
	}
	slices.Sort(digests)
	return t.removeUnused(digests, true)
}
