package sqlstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/internal/erasure"
)

// person is what the store knows of one person, by which their rows are found.
type person struct {
	id     string
	prefix string // how their account, and so they as an actor, begin in JSON
	events map[int64]core.EventRecord
	turns  map[core.InvocationID]bool // that they began
	others map[core.InvocationID]bool // that others began in the same conversations
	// where they wrote, asked for something, or have a mailbox
	conversations map[core.ConversationID]bool
	boxes         map[core.ConversationID]bool // the mailboxes that are theirs
}

// erasePage is how many rows are read at a time, and changed in one transaction at most.
const erasePage = 100

// eachPage reads pages of rows, in the order of their keys, until visit fails or there are none left. The query's first
// argument is the key of the last row, its last one the size of a page.
func eachPage[T, K any](
	ctx context.Context, s *Store, scan func(func(...any) error) (T, error), first K, key func(T) K,
	visit func([]T) error, query string, args ...any,
) error {
	for after := first; ; {
		page, err := readAll(ctx, s, scan, query, append(append([]any{after}, args...), erasePage)...)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := visit(page); err != nil {
			return err
		}
		if after = key(page[len(page)-1]); len(page) < erasePage {
			return nil
		}
	}
}

// find collects where a person's rows are. known is false if there are none.
func (s *Store) find(ctx context.Context, id string) (p *person, known bool, err error) {
	prefix, err := encode(core.Actor{ID: id})
	if err != nil {
		return nil, false, err
	}
	p = &person{
		id: id, prefix: strings.TrimSuffix(prefix, "}"), events: map[int64]core.EventRecord{},
		turns: map[core.InvocationID]bool{}, others: map[core.InvocationID]bool{},
		conversations: map[core.ConversationID]bool{}, boxes: map[core.ConversationID]bool{},
	}
	number := func(e core.EventRecord) int64 { return e.Seq }
	err = eachPage(ctx, s, readEvent, 0, number, func(page []core.EventRecord) error {
		for _, e := range page {
			if e.Actor.ID != id { // the prefix of another's
				continue
			}
			p.events[e.Seq] = e
			if e.Kind() == core.KindMessage {
				p.turns[e.Invocation] = true
				p.conversations[e.Conversation] = true
			}
		}
		return nil
	}, `select `+eventColumns+` from events where seq > $1 and substr(actor, 1, length($2)) = $2 order by seq limit $3`,
		p.prefix)
	if err != nil {
		return nil, false, err
	}
	boxes, err := read(ctx, s, func(t *Tx) ([]string, error) {
		return t.Texts(`select mailbox from mailboxes where person = $1 and person <> ''`, id)
	})
	if err != nil {
		return nil, false, err
	}
	for _, box := range boxes {
		p.boxes[core.ConversationID(box)], p.conversations[core.ConversationID(box)] = true, true
	}
	known = len(p.events)+len(p.conversations) > 0
	err = s.eachApproval(ctx, func(a core.Approval) error {
		if a.Requester.ID == id {
			p.conversations[a.Conversation] = true
		}
		known = known || a.Requester.ID == id || votedBy(a, id)
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	for c := range p.conversations {
		turn := func(scan func(...any) error) (i core.InvocationID, err error) { return i, scan(&i) }
		begun, err := readAll(ctx, s, turn, `
			select invocation from events where conversation = $1 and kind = 'message'
				and substr(actor, 1, length($2)) <> $2`, c, p.prefix)
		if err != nil {
			return nil, false, err
		}
		for _, i := range begun {
			p.others[i] = true
		}
	}
	if !known {
		known, err = read(ctx, s, func(t *Tx) (bool, error) {
			return t.exists(`select 1 where exists (select 1 from audit where seq > 0 and actor = $1)
				or exists (select 1 from notes where owner = $1)
				or exists (select 1 from kv where name >= 'tokens/' and name < 'tokens0'
					and substr(name, 19) = $1)`, id)
		})
	}
	return p, known, err
}

// known is find, with the turns that histories name a speaker of. It fails with not_found if nothing is kept of the
// person.
func (s *Store) known(ctx context.Context, id string) (*person, error) {
	p, known, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	speaks, err := s.label(ctx, p)
	if err == nil && !known && !speaks {
		err = core.Errorf(core.NotFound, "Nothing is kept of %s. Write the account as gatehouse turns list does.",
			id)
	}
	return p, err
}

// label adds the turns whose speaker is only known from histories, since their events were pruned. It reports whether
// the person speaks in any.
func (s *Store) label(ctx context.Context, p *person) (speaks bool, err error) {
	err = s.eachSession(ctx, func(_ core.SessionID, page []storedMessage) error {
		for _, m := range page {
			if !strings.Contains(m.body, `\"id\"`) { // as in a speaker's label
				continue
			}
			msg := decoded(m.body)
			speaker, says := msg.Content.Speaker()
			if msg.Role != core.User || !says {
				continue
			}
			speaks = speaks || speaker.ID == p.id
			switch {
			case p.turns[m.invocation] || p.others[m.invocation]:
			case speaker.ID == p.id:
				p.turns[m.invocation] = true
			default:
				p.others[m.invocation] = true
			}
		}
		return nil
	})
	return speaks, err
}

// theirs reports whether a turn in a session is the person's: they began it, or nobody knows who did, and no other
// person has begun it.
func (p *person) theirs(session core.SessionID, invocation core.InvocationID, m core.Message) bool {
	if s, ok := m.Content.Speaker(); ok {
		return s.ID == p.id
	}
	return p.turns[invocation] || p.conversations[session.Conversation()] && !p.others[invocation]
}

func votedBy(a core.Approval, id string) bool {
	return a.State != core.Open && a.DecidedBy.ID == id ||
		slices.ContainsFunc(a.Votes, func(v core.Vote) bool { return v.Actor.ID == id })
}

func (s *Store) eachApproval(ctx context.Context, visit func(core.Approval) error) error {
	type one struct {
		seq int64
		a   core.Approval
	}
	return eachPage(ctx, s, func(scan func(...any) error) (o one, err error) {
		o.a, err = readApproval(func(columns ...any) error { return scan(append(columns, &o.seq)...) })
		return o, err
	}, 0, func(o one) int64 { return o.seq }, func(page []one) error {
		for _, o := range page {
			if err := visit(o.a); err != nil {
				return err
			}
		}
		return nil
	}, `select `+approvalColumns+`, seq from approvals where seq > $1 order by seq limit $2`)
}

// storedMessage is a row of the table messages.
type storedMessage struct {
	session    core.SessionID
	invocation core.InvocationID
	n, pos     int64
	body, kept string
}

// eachSession reads the messages of all sessions, a page at a time.
func (s *Store) eachSession(ctx context.Context, visit func(core.SessionID, []storedMessage) error) error {
	id := func(scan func(...any) error) (id core.SessionID, err error) { return id, scan(&id) }
	message := func(scan func(...any) error) (m storedMessage, err error) {
		return m, scan(&m.session, &m.invocation, &m.n, &m.pos, &m.body, &m.kept)
	}
	key := func(id core.SessionID) string { return string(id) }
	return eachPage(ctx, s, id, "", key, func(page []core.SessionID) error {
		for _, session := range page {
			if err := eachPage(ctx, s, message, -1, func(m storedMessage) int64 { return m.pos },
				func(page []storedMessage) error { return visit(session, page) },
				`select session, invocation, n, pos, body, kept from messages where pos > $1 and session = $2
					order by pos limit $3`, session); err != nil {
				return err
			}
		}
		return nil
	}, `select id from sessions where id > $1 order by id limit $2`)
}

// decoded is a stored message; the zero one for one that can't be read.
func decoded(body string) (m core.Message) {
	_ = json.Unmarshal([]byte(body), &m)
	return m
}

// Person is everything that is kept of a person, as gatehouse people export prints it.
type Person struct {
	Person        string            `json:"person"`
	Names         []string          `json:"names"`
	Conversations []PersonsTitle    `json:"conversations"`
	Events        []PersonsEvent    `json:"events"`
	Messages      []PersonsMessage  `json:"messages"`
	Mail          []core.Mail       `json:"mail"`
	Asked         []core.Approval   `json:"approvals_asked"`
	Decided       []core.Approval   `json:"approvals_decided"`
	Remembered    []core.ApprovalID `json:"approvals_remembered"`
	Audit         []audit.Entry     `json:"audit"`
	Files         []PersonsFile     `json:"files"`
	Usage         map[string]int64  `json:"usage"` // tokens, by day
	Memory        []string          `json:"memory"`
}

// PersonsTitle is a conversation in a person's list, or one in which they wrote.
type PersonsTitle struct {
	Conversation core.ConversationID `json:"conversation"`
	Title        string              `json:"title,omitempty"`
}

// PersonsEvent is something that a person did.
type PersonsEvent struct {
	Seq          int64               `json:"seq"`
	Conversation core.ConversationID `json:"conversation"`
	Kind         core.Kind           `json:"kind"`
	At           time.Time           `json:"at"`
	Payload      string              `json:"payload,omitempty"` // as the platform sent it
	Ended        core.EndKind        `json:"ended,omitempty"`
}

// PersonsMessage is a message of a person, or of the bot to them.
type PersonsMessage struct {
	Session core.SessionID `json:"session"`
	Message core.Message   `json:"message"`
}

// PersonsFile is a file of a person.
type PersonsFile struct {
	Digest string `json:"digest"`
	Data   []byte `json:"data"` // in base64
}

// ExportPerson returns everything that is kept of a person. It fails with not_found if that is nothing.
func (s *Store) ExportPerson(ctx context.Context, id string) (x Person, err error) {
	p, err := s.known(ctx, id)
	if err != nil {
		return Person{}, err
	}
	x = Person{Person: id, Usage: map[string]int64{}}
	names := map[string]bool{}
	for _, seq := range slices.Sorted(maps.Keys(p.events)) {
		e := p.events[seq]
		names[e.Actor.Name] = true
		x.Events = append(x.Events,
			PersonsEvent{e.Seq, e.Conversation, e.Kind(), e.AcceptedAt, string(e.Payload), e.End.Kind})
	}
	for _, c := range slices.Sorted(maps.Keys(p.conversations)) {
		one := PersonsTitle{Conversation: c}
		if p.boxes[c] {
			if _, err := read(ctx, s, func(t *Tx) (bool, error) {
				return t.Row([]any{&one.Title}, `select title from mailboxes where mailbox = $1`, c)
			}); err != nil {
				return Person{}, err
			}
			mail, err := s.ListMail(ctx, core.MailFilter{Mailbox: c})
			if err != nil {
				return Person{}, err
			}
			x.Mail = append(x.Mail, mail...)
		}
		x.Conversations = append(x.Conversations, one)
	}
	digests := map[string]bool{}
	if err := s.eachSession(ctx, func(session core.SessionID, page []storedMessage) error {
		for _, m := range page {
			if msg := decoded(m.body); p.theirs(session, m.invocation, msg) {
				x.Messages = append(x.Messages, PersonsMessage{session, msg})
				for _, digest := range msg.StoredImages() {
					digests[digest] = true
				}
			}
		}
		return nil
	}); err != nil {
		return Person{}, err
	}
	for _, digest := range slices.Sorted(maps.Keys(digests)) {
		data, err := s.LoadBlob(ctx, digest)
		if err != nil && core.CategoryOf(err) != core.NotFound {
			return Person{}, err
		}
		x.Files = append(x.Files, PersonsFile{digest, data})
	}
	if err := s.eachApproval(ctx, func(a core.Approval) error {
		if a.Requester.ID == id {
			x.Asked, names[a.Requester.Name] = append(x.Asked, a), true
			if a.NextUse(0, time.Now()) != nil {
				x.Remembered = append(x.Remembered, a.ID)
			}
		}
		if votedBy(a, id) {
			x.Decided = append(x.Decided, a)
		}
		return nil
	}); err != nil {
		return Person{}, err
	}
	if x.Audit, err = readAll(ctx, s, readEntry, `select `+entryColumns+` from audit where seq > 0 and actor = $1
		order by seq`, id); err != nil {
		return Person{}, err
	}
	if x.Memory, err = s.Notes(ctx, id); err != nil {
		return Person{}, err
	}
	delete(names, "")
	x.Names = slices.Sorted(maps.Keys(names))
	type day struct{ name, value string }
	days, err := readAll(ctx, s, func(scan func(...any) error) (d day, err error) { return d, scan(&d.name, &d.value) },
		`select name, value from kv where name >= 'tokens/' and name < 'tokens0' and substr(name, 19) = $1`, id)
	for _, d := range days {
		var n int64
		_, _ = fmt.Sscan(d.value, &n)
		x.Usage[strings.TrimSuffix(strings.TrimPrefix(d.name, "tokens/"), "/"+id)] = n
	}
	return x, err
}

// Erasure is what ErasePerson did, or what is still to be done.
type Erasure struct {
	Rows int  // that were changed or removed
	Own  bool // the person's own texts are erased; false: not yet, because something waits
	// what keeps its text, since it still waits: posts to be sent, or in doubt, or given up; events that have not
	// ended, dead letters; and approvals that are open, or that a turn acts on. They quote the person or are theirs.
	Posts     int
	Events    int
	Approvals []core.ApprovalID
}

// Waits reports whether something keeps its text, since it still waits.
func (e Erasure) Waits() bool { return e.Posts+e.Events+len(e.Approvals) > 0 }

// words collects what the person wrote, to find it in what others wrote.
func (s *Store) words(ctx context.Context, p *person) (*erasure.Words, error) {
	var texts []string
	for _, e := range p.events {
		texts = append(texts, erasure.Texts(e.Payload)...)
		if e.Fetched != nil {
			texts = append(texts, e.Fetched.Content.Own())
		}
	}
	err := s.eachSession(ctx, func(session core.SessionID, page []storedMessage) error {
		for _, m := range page {
			if msg := decoded(m.body); msg.Role == core.User && p.theirs(session, m.invocation, msg) {
				texts = append(texts, msg.Content.Own())
			}
		}
		return nil
	})
	for box := range p.boxes {
		if err != nil {
			break
		}
		err = s.eachMail(ctx, box, func(page []core.Mail) error {
			for _, m := range page {
				if text, ok := saidIn(m); ok {
					texts = append(texts, text)
				}
			}
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	var denials []string // as the person who asked was told
	err = s.eachApproval(ctx, func(a core.Approval) error {
		if a.State == core.Denied && a.DecidedBy.ID == p.id {
			denial := "Denied by " + a.DecidedBy.Called()
			if a.Reason != "" {
				texts, denial = append(texts, a.Reason), denial+": "+a.Reason
			}
			denials = append(denials, denial)
		}
		for _, v := range a.Votes {
			if v.Actor.ID != p.id {
				continue
			}
			texts = append(texts, v.Reason)
			texts = append(texts, erasure.Strings(v.Answer)...)
		}
		return nil
	})
	w := erasure.NewWords(p.id, texts)
	w.Exactly(denials...)
	return w, err
}

// saidIn is the text of mail that repeats what a person said.
func saidIn(m core.Mail) (text string, ok bool) {
	var post struct{ Kind, Text string }
	err := json.Unmarshal(m.Content, &post)
	return post.Text, err == nil && post.Kind == "said"
}

func (s *Store) eachMail(ctx context.Context, box core.ConversationID, visit func([]core.Mail) error) error {
	return eachPage(ctx, s, readMail, 0, func(m core.Mail) int64 { return m.Seq }, visit,
		`select `+mailColumns+` from mail where seq > $1 and mailbox = $2 order by seq limit $3`, box)
}

// withoutWords is a JSON text without the words, and whether it had any.
func withoutWords(w *erasure.Words, raw string) (string, bool) {
	erased, is := w.JSON([]byte(raw))
	return string(erased), is && !bytes.Equal(erased, []byte(raw))
}
