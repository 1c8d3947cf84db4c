package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

const mailColumns = `mailbox, key, seq, event, content, at, taken`

func readMail(scan func(...any) error) (m core.Mail, err error) {
	var content string
	err = scan(&m.Mailbox, &m.Key, &m.Seq, &m.Event, &content, timestamp{&m.At}, &m.Taken)
	m.Content = json.RawMessage(content)
	return m, err
}

// PutMail stores mail, or replaces the content of the mail with its key. The mailbox's row is locked and numbered in
// one statement, so Seq follows the order of commits in the mailbox. Putting the same content again leaves a gap in the
// numbers, and changes no mail. Mail without a mailbox or a key, or whose content is not JSON, is invalid.
func (s *Store) PutMail(ctx context.Context, m core.Mail) (seq int64, err error) {
	if m.Mailbox == "" || m.Key == "" || !json.Valid(m.Content) {
		return 0, core.Errorf(core.Invalid, "Mail needs a mailbox, a key and content in JSON.")
	}
	return write(ctx, s, func(t *Tx) (seq int64, err error) {
		if seq, err = t.numberMail(m); err != nil {
			return 0, err
		}
		written, err := t.Exec(`
			insert into mail (mailbox, key, seq, event, content, at) values ($1, $2, $3, $4, $5, $6)
			on conflict (key, mailbox) do update set seq = excluded.seq, content = excluded.content
				where mail.content <> excluded.content`,
			m.Mailbox, m.Key, seq, m.Event, free(m.Content), t.Now)
		if err != nil || written == 1 {
			return seq, err
		}
		_, err = t.Row([]any{&seq}, `select seq from mail where mailbox = $1 and key = $2`, m.Mailbox, m.Key)
		return seq, err
	})
}

// ListMail returns mail of one mailbox in the order of Seq.
func (s *Store) ListMail(ctx context.Context, f core.MailFilter) ([]core.Mail, error) {
	where := conditions{}
	where.and("mailbox = " + where.arg(f.Mailbox))
	where.and("seq > " + where.arg(f.After))
	if f.Before > 0 {
		where.and("seq < " + where.arg(f.Before))
	}
	where.is("key", f.Key)
	in(&where, "event", f.Events)
	order, limited := "seq", limit(f.Limit)
	if f.Events != nil {
		order = "+seq" // not from an index: the mail of a few events is sorted, not looked for in the whole mailbox
	}
	if f.Last > 0 {
		order, limited = "seq desc", f.Last
	}
	which := where.all()
	if f.Bytes > 0 { // the contents before are only counted, not read
		which += ` and seq in (select seq from (` + sized(`mail where `+where.all()+` order by `+order+` limit `+
			where.arg(limited), order) + `) sized where earlier < ` + where.arg(f.Bytes) + `)`
	}
	found, err := readAll(ctx, s, readMail, `select `+mailColumns+` from mail where `+which+` order by `+order+
		` limit `+where.arg(limited), where.args...)
	if f.Last <= 0 {
		return found, err
	}
	slices.Reverse(found)
	return found[:min(len(found), limit(f.Limit))], err
}

// sized selects the numbers of some mail, each with how many bytes of content come earlier in this order. No content is
// read.
func sized(mail, order string) string {
	return `select seq, sum(size) over (order by ` + order + `) - size as earlier
		from (select seq, octet_length(content) as size from ` + mail + `) sizes`
}

// How much mail one event takes at a time beside its own.
const (
	mostMail  = 1000
	mostTaken = 4 << 20 // bytes
)

// TakeMail marks mail of a mailbox, which answers these events (nil: all, up to mostTaken bytes), as taken by the event
// by, and returns all that by has taken. It looks first without a transaction: this costs no commit, and a client that
// polls usually finds nothing new. The event 0 is invalid.
func (s *Store) TakeMail(
	ctx context.Context, mailbox core.ConversationID, by int64, events []int64,
) ([]core.Mail, error) {
	if by == 0 {
		return nil, core.Errorf(core.Invalid, "Mail must be taken by an event.")
	}
	var fresh conditions
	box, taker := fresh.arg(mailbox), fresh.arg(by)
	fresh.and("mailbox = " + box + " and taken = 0")
	in(&fresh, "event", events)
	found, err := readAll(ctx, s, readMail, `
		select `+mailColumns+` from mail where mailbox = `+box+` and taken = `+taker+`
		union all select * from (
			select mailbox, key, seq, event, '', at, taken from mail where `+fresh.all()+` limit 1) untaken
		order by seq`, fresh.args...)
	if err != nil || !slices.ContainsFunc(found, func(m core.Mail) bool { return m.Taken == 0 }) {
		return found, err
	}
	return write(ctx, s, func(t *Tx) ([]core.Mail, error) {
		if _, err := t.lockRows(`mailboxes where mailbox = $1`, mailbox); err != nil {
			return nil, err
		}
		var c conditions
		set, box := c.arg(by), c.arg(mailbox)
		c.and("mailbox = " + box + " and taken = 0")
		in(&c, "event", events)
		if events == nil {
			c.and(`(event = ` + set + ` or seq in (select seq from (` +
				sized(`mail where mailbox = `+box+` and taken = 0 order by seq limit `+c.arg(mostMail), `seq`) +
				`) sized where earlier + (select coalesce(sum(octet_length(content)), 0) from mail
					where mailbox = ` + box + ` and taken = ` + set + ` and event <> ` + set + `) < ` +
				c.arg(mostTaken) + `))`)
		}
		if _, err := t.Exec(`update mail set taken = `+set+` where `+c.all(), c.args...); err != nil {
			return nil, err
		}
		return List(t, readMail, `select `+mailColumns+` from mail where mailbox = $1 and taken = $2
			order by seq`, mailbox, by)
	})
}

// eraseMail removes the mail of a session: that in its conversation's mailbox, and what its posts left in others, such
// as copies of cards. As with posts, what belongs to another session of the conversation is kept, and so is a post that
// still waits. A card belongs to its approval's session; if it is to be redrawn, it is put again.
func (t *Tx) eraseMail(id core.SessionID) error {
	conversation := id.Conversation()
	if t.sql.RowLocks {
		if _, err := t.lockRows(`mailboxes where mailbox in (
			select cast($1 as text) union select m.mailbox from outbox o join mail m on m.key = o.key
				where o.conversation = $1
		) order by mailbox`, conversation); err != nil {
			return err
		}
	}
	if _, err := t.Exec(`
		delete from mail where key in (
			select o.key from approvals a join outbox o on o.approval = a.id where a.session = $1 and o.approval <> ''
				and o.kind = 'card')`, id); err != nil {
		return err
	}
	const others = `
		and not exists (select 1 from outbox o where o.key = mail.key and (o.kind in ('card', 'working')
		or o.state = 'waiting'))
		and not exists (select 1 from events e where e.seq = mail.event and e.conversation = $1
		and e.session not in ($2, ''))`
	if _, err := t.Exec(`delete from mail where mailbox = $1`+others, conversation, id); err != nil {
		return err
	}
	if _, err := t.Exec(`delete from mail where key in (select key from outbox where conversation = $1)`+others,
		conversation, id); err != nil {
		return err
	}
	return t.eraseTitle(conversation)
}

// pruneMail removes at most n mails that were stored before a time and whose posts were removed, and the mailboxes that
// are empty then. A mailbox whose conversation is known stays: its clients name the last number that they have seen, so
// it must not count from 1 again.
func (t *Tx) pruneMail(before time.Time, n int) (removed int64, err error) {
	left, err := t.Texts(`
		delete from mail where (key, mailbox) in (
			select m.key, m.mailbox from mail m where m.at < $1
			and not exists (select 1 from outbox o where o.key = m.key)
			limit $2`+t.sql.skipLocked("m")+`)
		returning mailbox`, before, n)
	if err != nil || len(left) == 0 {
		return 0, err
	}
	removed = int64(len(left))
	slices.Sort(left)
	var c conditions
	in(&c, "mailbox", slices.Compact(left))
	c.and("not exists (select 1 from queues q where q.queue_key = b.mailbox)")
	unknown, err := t.Texts(`select b.mailbox from mailboxes b where `+c.all()+t.sql.skipLocked("b"), c.args...)
	if err != nil || len(unknown) == 0 {
		return removed, err
	}
	c = conditions{}
	in(&c, "mailbox", unknown)
	_, err = t.Exec(`delete from mailboxes where `+c.all()+` and not exists (select 1 from mail m
		where m.mailbox = mailboxes.mailbox)`, c.args...)
	return removed, err
}

// untitled is the title of a conversation whose first words were erased, or had no letters.
const untitled = "Untitled"

// numberMail gives out the next number of a mailbox, whose row it locks. What a person wrote makes it theirs, and gives
// it a title unless it has one. It may read the clock.
func (t *Tx) numberMail(m core.Mail) (seq int64, err error) {
	by := core.Opening{}
	if m.Opens != nil {
		by = core.Opening{Person: m.Opens.Person, Title: cmp.Or(strings.TrimSpace(m.Opens.Title), untitled)}
	}
	var c conditions
	values := []string{c.arg(m.Mailbox), "1", c.arg(by.Person), c.arg(free(by.Title)), t.clock(&c)}
	_, err = t.Row([]any{&seq, Clock{t}}, `
		insert into mailboxes (mailbox, seq, person, title, changed_at) values (`+strings.Join(values, ", ")+`)
		on conflict (mailbox) do update set seq = mailboxes.seq + 1, changed_at = excluded.changed_at,
			person = case mailboxes.person when '' then excluded.person else mailboxes.person end,
			title = case mailboxes.title when '' then excluded.title else mailboxes.title end
		returning seq, `+t.sql.Clock, c.args...)
	return seq, err
}

// ListConversations lists those of one person, the latest change first. Titles are compared here, not by the database:
// SQLite knows the capitals of ASCII alone.
func (s *Store) ListConversations(
	ctx context.Context, f core.ConversationFilter,
) (found []core.Conversation, err error) {
	if f.Search == "" {
		return s.conversations(ctx, f)
	}
	const most = 1000
	wanted, page := strings.ToLower(f.Search), f
	page.Limit = most
	for {
		all, err := s.conversations(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			if strings.Contains(strings.ToLower(one.Title), wanted) {
				found = append(found, one)
			}
			if len(found) == limit(f.Limit) {
				return found, nil
			}
		}
		if len(all) < most {
			return found, nil
		}
		page.Before = &all[most-1]
	}
}

func (s *Store) conversations(ctx context.Context, f core.ConversationFilter) ([]core.Conversation, error) {
	row := func(scan func(...any) error) (c core.Conversation, err error) {
		return c, scan(&c.ID, &c.Title, &c.Last, timestamp{&c.ChangedAt}, timestamp{&c.SaidAt}, &c.Waits)
	}
	var where conditions
	where.and("person = " + where.arg(f.Person) + " and person <> ''") // so that the partial index has them
	where.is("mailbox", string(f.ID))
	if f.Since.IsZero() {
		where.and("title <> ''")
	} else {
		where.and("changed_at > " + where.arg(f.Since))
	}
	if f.Before != nil {
		where.and("(changed_at, mailbox) < (" + where.arg(f.Before.ChangedAt) + ", " + where.arg(f.Before.ID) + ")")
	}
	return readAll(ctx, s, row, `
		select mailbox, title, coalesce((select mail.seq from mail where mail.mailbox = mailboxes.mailbox
			order by mail.seq desc limit 1), seq), changed_at, coalesce((select at from mail
			where mail.mailbox = mailboxes.mailbox order by mail.seq desc limit 1), changed_at),
			exists (select 1 from approvals where conversation = mailbox
			and state = 'open')
		from mailboxes where `+where.all()+` order by changed_at desc, mailbox desc limit `+where.arg(limit(f.Limit)),
		where.args...)
}

// RenameConversation gives a conversation another title; of two at once the later one stays.
func (s *Store) RenameConversation(ctx context.Context, person string, id core.ConversationID, title string) error {
	if strings.TrimSpace(title) == "" {
		return core.Errorf(core.Invalid, "A conversation needs a title.")
	}
	return s.write(ctx, func(t *Tx) error {
		if err := t.lockOwn(person, id); err != nil {
			return err
		}
		_, err := t.Exec(`update mailboxes set title = $1, changed_at = $2 where mailbox = $3`, free(title), t.Now, id)
		return err
	})
}

// lockOwn locks the row of a person's conversation, and reads the clock. It fails with not_found if there is none.
func (t *Tx) lockOwn(person string, id core.ConversationID) error {
	known, err := t.lockRows(`mailboxes where mailbox = $1 and person = $2 and title <> ''`, id, person)
	if err == nil && !known {
		return core.Errorf(core.NotFound, "There is no such conversation. It may have been deleted.")
	}
	return err
}

// DeleteConversation removes what was said in a conversation. Its queue is locked first, then its mailbox, in the order
// of doc.go: so a message is either there before and refuses this, or begins the conversation anew.
func (s *Store) DeleteConversation(ctx context.Context, person string, id core.ConversationID) error {
	err := s.write(ctx, func(t *Tx) error {
		if _, err := t.lockKnownQueue(id.Queue()); err != nil {
			return err
		}
		if err := t.atRest(person, id); err != nil {
			return err
		}
		sessions, err := t.sessionsOf(id)
		if err != nil {
			return err
		}
		for _, session := range sessions {
			if err := t.deleteSession(core.SessionID(session)); err != nil {
				return err
			}
		}
		_, err = t.Exec(`update mailboxes set title = '', changed_at = $1 where mailbox = $2`, t.Now, id)
		if err != nil {
			return err
		}
		_, err = t.Exec(`delete from mail where mailbox = $1`, id)
		return err
	})
	if err != nil {
		return err
	}
	return s.shrink(ctx)
}

// atRest fails unless nothing is open, waits or runs in a person's conversation.
func (t *Tx) atRest(person string, id core.ConversationID) error {
	known, err := t.exists(`select 1 from mailboxes where mailbox = $1 and person = $2 and title <> ''`, id, person)
	if err == nil && !known {
		return core.Errorf(core.NotFound, "There is no such conversation. It may have been deleted.")
	}
	open, err := t.existsUnless(err, `select 1 from approvals where conversation = $1 and state = 'open' limit 1`, id)
	if open {
		return core.Errorf(core.Invalid, "An approval of this conversation is still open. Decide or cancel it first, "+
			"then delete the conversation.")
	}
	waits, err := t.existsUnless(err, `select 1 from events where conversation = $1 and ended_at = 0 limit 1`, id)
	if waits {
		return core.Errorf(core.Invalid, "A message of this conversation is still being answered. Stop it, or wait "+
			"for its answer, then delete the conversation.")
	}
	return err
}

// existsUnless is exists, unless something has failed before.
func (t *Tx) existsUnless(failed error, query string, args ...any) (bool, error) {
	if failed != nil {
		return false, failed
	}
	return t.exists(query, args...)
}

// sessionsOf are the sessions of a conversation that have anything: those of its generations, and those that its events
// and approvals name.
func (t *Tx) sessionsOf(id core.ConversationID) ([]string, error) {
	current := 1
	if _, err := t.Row([]any{&current}, `select generation from queues where queue_key = $1`, id); err != nil {
		return nil, err
	}
	var c conditions
	of := c.arg(id)
	in(&c, "id", generations(id, current))
	return t.Texts(`
		select session from events where conversation = `+of+` and session <> ''
		union select session from approvals where conversation = `+of+`
		union select id from sessions where `+c.all(), c.args...)
}

// generations are the sessions of a conversation, up to its current one.
func generations(id core.ConversationID, current int) (all []core.SessionID) {
	for n := range current {
		all = append(all, id.Session(n+1))
	}
	return all
}

// eraseTitle forgets what a conversation is called, since its first words may be among those that were erased. Without
// mail it is not in its person's list any more.
func (t *Tx) eraseTitle(id core.ConversationID) error {
	_, err := t.Exec(`update mailboxes set title = case when exists (select 1 from mail
		where mail.mailbox = mailboxes.mailbox) then $1 else '' end where mailbox = $2 and title <> ''`, untitled, id)
	return err
}
