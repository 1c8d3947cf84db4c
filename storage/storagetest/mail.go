package storagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// put stores mail that answers an event, and returns its number.
func (w *world) put(box core.ConversationID, key string, event int64, content string) int64 {
	w.Helper()
	return must(w.PutMail(w.ctx, core.Mail{Mailbox: box, Key: key, Event: event, Content: json.RawMessage(content)}))(w)
}

func (w *world) mail(f core.MailFilter) []core.Mail {
	w.Helper()
	if f.Mailbox == "" {
		f.Mailbox = conversation
	}
	return must(w.ListMail(w.ctx, f))(w)
}

// takes takes mail and returns its keys.
func (w *world) takes(by int64, events []int64) []string {
	w.Helper()
	return names(must(w.TakeMail(w.ctx, conversation, by, events))(w))
}

func names(mail []core.Mail) []string {
	all := []string{}
	for _, m := range mail {
		all = append(all, m.Key)
	}
	return all
}

// readOnly is a view that can't commit.
func (w *world) readOnly() *sqlstore.Store {
	return w.WithEngine(func(e sqlstore.Engine) sqlstore.Engine { return onlyReading{e} })
}

// onlyReading is an engine that can't commit.
type onlyReading struct{ sqlstore.Engine }

func (onlyReading) Write(context.Context, sqlstore.Work) error {
	return core.Errorf(core.Internal, "A commit is not expected.")
}

// together runs do n times at once, over several views, and stops the test if one failed.
func (w *world) together(n int, do func(i int, s *sqlstore.Store) error) {
	w.Helper()
	views := []*sqlstore.Store{w.Store, w.view(), w.view()}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := do(i, views[i%len(views)]); err != nil {
				w.Errorf("the %dth: %v", i, err)
			}
		})
	}
	wg.Wait()
	if w.Failed() {
		w.FailNow()
	}
}

var mailExamples = []example{
	{"mail is stored unchanged", func(w *world) {
		content := "{\"text\": \"<b> & \u2028 \\u0000\",\n \"n\": 12345678901234567890}"
		seq := w.put(conversation, "k", 7, content)
		got := w.mail(core.MailFilter{})
		if len(got) != 1 || got[0].At.IsZero() {
			w.Fatalf("got %+v", got)
		}
		w.equal("the mail", got[0],
			core.Mail{
				Mailbox: conversation, Key: "k", Seq: seq, Event: 7, Content: json.RawMessage(content), At: got[0].At,
			})
	}},
	{"mail needs a mailbox, a key and JSON, and an event to take it", func(w *world) {
		whole := core.Mail{Mailbox: conversation, Key: "k", Content: json.RawMessage("{}")}
		for _, spoil := range []func(*core.Mail){
			func(m *core.Mail) { m.Mailbox = "" }, func(m *core.Mail) { m.Key = "" }, func(m *core.Mail) {
				m.Content = nil
			}, func(m *core.Mail) {
				m.Content = json.RawMessage("{")
			},
		} {
			m := whole
			spoil(&m)
			_, err := w.PutMail(w.ctx, m)
			w.fails(err, core.Invalid)
		}
		_, err := w.TakeMail(w.ctx, conversation, 0, nil)
		w.fails(err, core.Invalid)
		w.equal("the mailbox", names(w.mail(core.MailFilter{})), []string{})
	}},
	{"mail is numbered in each mailbox, and listed in that order", func(w *world) {
		a, b, theirs, c := w.put(conversation, "c", 1, `1`), w.put(conversation, "b", 1, `1`),
			w.put(other, "c", 2, `2`), w.put(conversation, "a", 1, `1`)
		if a <= 0 || b <= a || c <= b {
			w.Fatalf("got the numbers %d, %d, %d", a, b, c)
		}
		for name, f := range map[string]struct {
			filter core.MailFilter
			want   []string
		}{
			"all":                {core.MailFilter{}, []string{"c", "b", "a"}},
			"after one":          {core.MailFilter{After: a}, []string{"b", "a"}},
			"after the last":     {core.MailFilter{After: c}, []string{}},
			"the first two":      {core.MailFilter{Limit: 2}, []string{"c", "b"}},
			"the last two":       {core.MailFilter{Last: 2}, []string{"b", "a"}},
			"more than there is": {core.MailFilter{Last: 9, Limit: 9}, []string{"c", "b", "a"}},
			"the last but one":   {core.MailFilter{Last: 2, Limit: 1}, []string{"b"}},
			"the last after one": {core.MailFilter{Last: 2, After: b}, []string{"a"}},
			"one":                {core.MailFilter{Key: "b"}, []string{"b"}},
			"one, if it is new":  {core.MailFilter{Key: "b", After: b}, []string{}},
			"another mailbox":    {core.MailFilter{Mailbox: "plat:none"}, []string{}},
		} {
			w.equal(name, names(w.mail(f.filter)), f.want)
		}
		w.equal("theirs", w.mail(core.MailFilter{Mailbox: other})[0].Seq, theirs)
	}},
	{"mail is listed up to a number of bytes", func(w *world) {
		for _, key := range []string{"a", "b", "c", "d"} {
			w.put(conversation, key, 1, `"`+strings.Repeat("x", 98)+`"`)
		}
		second := w.mail(core.MailFilter{Key: "b"})[0].Seq
		for name, f := range map[string]struct {
			filter core.MailFilter
			want   []string
		}{
			"one at least":        {core.MailFilter{Bytes: 1}, []string{"a"}},
			"as it fits":          {core.MailFilter{Bytes: 200}, []string{"a", "b"}},
			"which begins within": {core.MailFilter{Bytes: 201}, []string{"a", "b", "c"}},
			"all":                 {core.MailFilter{Bytes: 1000}, []string{"a", "b", "c", "d"}},
			"after one":           {core.MailFilter{After: second, Bytes: 1}, []string{"c"}},
			"few of them":         {core.MailFilter{Limit: 2, Bytes: 1000}, []string{"a", "b"}},
			"the last":            {core.MailFilter{Last: 3, Bytes: 1}, []string{"d"}},
			"the last few":        {core.MailFilter{Last: 3, Bytes: 1000}, []string{"b", "c", "d"}},
			"of an event":         {core.MailFilter{Events: []int64{1}, Bytes: 101}, []string{"a", "b"}},
		} {
			w.equal(name, names(w.mail(f.filter)), f.want)
		}
	}},
	{"an event takes its own mail, and of the rest what has few bytes together", func(w *world) {
		large := `"` + strings.Repeat("x", 1500<<10) + `"`
		for n, event := range []int64{1, 2, 3, 4, 9} {
			w.put(conversation, string(rune('a'+n)), event, large)
		}
		first := []string{"a", "b", "c", "e"}
		w.equal("the first", w.takes(9, nil), first)
		w.equal("the first again", w.takes(9, nil), first)
		w.equal("the second", w.takes(10, nil), []string{"d"})
	}},
	{"a changed mail gets the largest number, the same content changes nothing", func(w *world) {
		first := w.put(conversation, "a", 7, `"one"`)
		w.put(conversation, "b", 8, `1`)
		before := w.mail(core.MailFilter{})
		w.equal("the same again", w.put(conversation, "a", 9, `"one"`), first)
		w.equal("the mailbox", w.mail(core.MailFilter{}), before)
		w.takes(20, []int64{7})
		w.db.Advance(minute)
		second := w.put(conversation, "a", 9, `"two"`)
		if second <= before[1].Seq {
			w.Fatalf("%d came after %d", second, before[1].Seq)
		}
		want := before[0]
		want.Seq, want.Content, want.Taken = second, json.RawMessage(`"two"`), 20
		w.equal("the mailbox", w.mail(core.MailFilter{}), []core.Mail{before[1], want})
		w.equal("what is new", names(w.mail(core.MailFilter{After: before[1].Seq})), []string{"a"})
		if third := w.put(conversation, "c", 0, `1`); third <= second {
			w.Fatalf("%d came after %d", third, second)
		}
	}},
	{"a reader never sees a number appear before one that it has read", func(w *world) {
		const writers, each = 6, 15
		var left atomic.Int64
		left.Store(writers)
		var seen []core.Mail
		w.together(writers+1, func(i int, s *sqlstore.Store) error {
			if i < writers {
				defer left.Add(-1)
				for n := range each {
					m := core.Mail{Mailbox: conversation, Key: fmt.Sprint(i, "/", n), Content: json.RawMessage(`1`)}
					if _, err := s.PutMail(w.ctx, m); err != nil {
						return err
					}
				}
				return nil
			}
			after := int64(0)
			for last := false; ; {
				more, err := s.ListMail(w.ctx, core.MailFilter{Mailbox: conversation, After: after, Limit: 4})
				if err != nil || last && len(more) == 0 {
					return err
				}
				last = left.Load() == 0
				if seen = append(seen, more...); len(more) > 0 {
					after = more[len(more)-1].Seq
				}
			}
		})
		w.equal("how many were read", len(seen), writers*each)
		w.equal("what was read", seen, w.mail(core.MailFilter{}))
	}},
	{"many may change the same mail at once", func(w *world) {
		var mu sync.Mutex
		given := map[int64]bool{}
		w.together(12, func(i int, s *sqlstore.Store) error {
			seq, err := s.PutMail(w.ctx,
				core.Mail{Mailbox: conversation, Key: "k", Content: json.RawMessage(fmt.Sprint(i))})
			mu.Lock()
			defer mu.Unlock()
			if given[seq] {
				w.Errorf("the number %d was given out twice", seq)
			}
			given[seq] = true
			return err
		})
		got := w.mail(core.MailFilter{})
		for seq := range given {
			if len(got) != 1 || seq > got[0].Seq {
				w.Fatalf("got %+v, and the number %d", got, seq)
			}
		}
	}},
	{"mail is taken by one event, which may take it again", func(w *world) {
		w.put(conversation, "a", 7, `1`)
		w.put(conversation, "b", 8, `1`)
		w.put(conversation, "none", 0, `1`)
		w.put(other, "theirs", 7, `1`)
		w.equal("of no event", w.takes(20, []int64{}), []string{})
		w.equal("of one event", w.takes(20, []int64{7, 99}), []string{"a"})
		w.equal("by another", w.takes(21, []int64{7}), []string{})
		w.equal("again", w.takes(20, []int64{7}), []string{"a"})
		w.equal("more", w.takes(20, []int64{8}), []string{"a", "b"})
		w.equal("the rest", w.takes(21, nil), []string{"none"})
		w.put(conversation, "a", 7, `2`)
		w.restart()
		w.equal("in the order of the mailbox", w.takes(20, nil), []string{"b", "a"})
		w.equal("the rest again", w.takes(21, nil), []string{"none"})
		w.equal("theirs", w.mail(core.MailFilter{Mailbox: other})[0].Taken, int64(0))
	}},
	{"taking commits nothing if there is nothing new", func(w *world) {
		take := func(by int64, events []int64) []string {
			return names(must(w.readOnly().TakeMail(w.ctx, conversation, by, events))(w))
		}
		w.equal("from an empty mailbox", take(20, nil), []string{})
		w.put(conversation, "a", 7, `1`)
		w.put(conversation, "b", 8, `1`)
		w.equal("of other events", take(20, []int64{9}), []string{})
		_, err := w.readOnly().TakeMail(w.ctx, conversation, 20, nil)
		w.fails(err, core.Internal)
		w.takes(20, nil)
		w.equal("by the same", take(20, nil), []string{"a", "b"})
		w.equal("by another", take(21, []int64{7, 8}), []string{})
	}},
	{"of many that take at once, each mail goes to one", func(w *world) {
		const takers = 6
		for round := range 4 {
			for n := range 8 {
				w.put(conversation, fmt.Sprint(round, "/", n), int64(n%2+1), `1`)
			}
			got := make([][]core.Mail, takers)
			w.together(takers+1, func(i int, s *sqlstore.Store) (err error) {
				if i == takers {
					_, err = s.PutMail(w.ctx,
						core.Mail{Mailbox: conversation, Key: fmt.Sprint(round, "/0"), Content: json.RawMessage(`2`)})
					return err
				}
				got[i], err = s.TakeMail(w.ctx, conversation, int64(100*round+i+1), [][]int64{{1}, {2, 1}, nil}[i%3])
				return err
			})
			all := names(slices.Concat(got...))
			slices.Sort(all)
			w.equal("how often each is taken", len(slices.Compact(all)), len(all))
			for i, mine := range got {
				for _, m := range mine {
					w.equal("the taker", m.Taken, int64(100*round+i+1))
				}
			}
			w.takes(int64(100*round+50), nil)
		}
		for _, m := range w.mail(core.MailFilter{}) {
			if m.Taken == 0 {
				w.Fatalf("nobody has taken %+v", m)
			}
		}
	}},
	{"Prune removes mail that is as old as the posts it removes", func(w *world) {
		w.say(conversation, post("sent", conversation), post("waits", other))
		rows := w.deliver(minute)
		w.sent(rows[0], "r")
		for _, key := range []string{"sent", "waits", "no post"} {
			w.put(conversation, key, 0, `1`)
		}
		w.old()
		last := w.put(conversation, "new", 0, `1`)
		w.prune()
		w.equal("the rest", names(w.mail(core.MailFilter{})), []string{"waits", "new"})
		w.old()
		w.sent(rows[1], "r")
		w.prune()
		w.equal("while the post is kept", names(w.mail(core.MailFilter{})), []string{"waits"})
		w.old()
		w.prune()
		w.equal("in the end", names(w.mail(core.MailFilter{})), []string{})
		if seq := w.put(conversation, "later", 0, `1`); seq <= last {
			w.Fatalf("the number %d was given out after %d", seq, last)
		}
	}},
	{"Prune removes an empty mailbox of an unknown conversation", func(w *world) {
		w.put("plat:unknown", "a", 0, `1`)
		w.put("plat:unknown", "b", 0, `1`)
		w.put("plat:kept", "old", 0, `1`)
		w.old()
		w.put("plat:kept", "a", 0, `1`)
		w.equal("removed", w.prune(), 3)
		w.equal("in a new mailbox", w.put("plat:unknown", "c", 0, `1`), int64(1))
		if seq := w.put("plat:kept", "b", 0, `1`); seq != 3 {
			w.Fatalf("got the number %d", seq)
		}
	}},
	{"Prune and new mail in the same mailboxes do not hinder each other", func(w *world) {
		for round := range 5 {
			for n := range 6 {
				w.put(core.ConversationID(fmt.Sprint("plat:", n%3)), fmt.Sprint(round, n), 0, `1`)
			}
			w.old()
			w.together(7, func(i int, s *sqlstore.Store) error {
				if i == 6 {
					_, err := s.Prune(w.ctx, minute)
					return err
				}
				_, err := s.PutMail(w.ctx,
					core.Mail{
						Mailbox: core.ConversationID(fmt.Sprint("plat:", i%3)), Key: fmt.Sprint("new", round, i),
						Content: json.RawMessage(`1`),
					})
				return err
			})
			for n := range 3 {
				box := core.ConversationID(fmt.Sprint("plat:", n))
				for _, i := range []int{n, n + 3} {
					w.equal("new mail", len(w.mail(core.MailFilter{Mailbox: box, Key: fmt.Sprint("new", round, i)})), 1)
				}
			}
		}
	}},
	{"deleting a session erases its mail, in whatever mailbox it is", func(w *world) {
		old := w.message(conversation)
		c := w.take(old, minute)
		w.changed(c, core.Changes{Session: w.session(c, 0, "m"), NewGeneration: true})
		next := w.suspend(conversation, "a", core.Rule{})
		private := post("private", other)
		private.Conversation, private.Event = conversation, next.Event.Seq
		w.ok(w.AddCopies(w.ctx, w.first(minute), core.Copies{Posts: []core.Post{
			{
				Key: "copy", To: core.Address{Platform: platform, Channel: "elsewhere"}, Conversation: conversation,
				Kind: core.PostCard, Approval: "a", Copy: true,
			},
			private,
		}}))
		for _, row := range w.deliver(minute) {
			w.sent(row, "r")
		}
		w.say(other, post("waits", conversation))
		w.put(conversation, "earlier", old, `1`)
		w.put(conversation, "reply", next.Event.Seq, `1`)
		w.put(conversation, "card/a", 0, `1`)
		w.put(conversation, "no event", 0, `1`)
		last := w.put(conversation, "waits", 0, `1`)
		w.put("plat:bob", "copy", 0, `1`)
		w.put("plat:bob", "private", next.Event.Seq, `1`)
		w.put("plat:bob", "theirs", 0, `1`)
		bobs := func() []string { return names(w.mail(core.MailFilter{Mailbox: "plat:bob"})) }
		w.ok(w.DeleteSession(w.ctx, c.Session))
		w.equal("left by the first session", names(w.mail(core.MailFilter{})), []string{"reply", "card/a", "waits"})
		w.equal("left of others' by the first session", bobs(), []string{"copy", "private", "theirs"})
		w.ok(w.DeleteSession(w.ctx, next.Session))
		w.equal("left by the second session", names(w.mail(core.MailFilter{})), []string{"waits"})
		w.equal("left of others' by the second session", bobs(), []string{"theirs"})
		if seq := w.put(conversation, "card/a", 0, `2`); seq <= last {
			w.Fatalf("the number %d was given out after %d", seq, last)
		}
	}},
	{"a session's mail may be erased while it is put and taken", func(w *world) {
		id := w.chat(conversation, 1)
		for round := range 5 {
			w.together(9, func(i int, s *sqlstore.Store) (err error) {
				switch i % 3 {
				case 0:
					_, err = s.PutMail(w.ctx,
						core.Mail{Mailbox: conversation, Key: fmt.Sprint(round, i), Content: json.RawMessage(`1`)})
				case 1:
					_, err = s.TakeMail(w.ctx, conversation, int64(i), nil)
				case 2:
					err = s.DeleteSession(w.ctx, id)
				}
				return err
			})
		}
		w.ok(w.DeleteSession(w.ctx, id))
		w.equal("what is left", names(w.mail(core.MailFilter{})), []string{})
	}},
}

// says stores what a person wrote, as the first message of a conversation or a later one.
func (w *world) says(box core.ConversationID, key, person, title string) {
	w.Helper()
	opens := &core.Opening{Person: person, Title: title}
	must(w.PutMail(w.ctx, core.Mail{Mailbox: box, Key: key, Content: json.RawMessage(`1`), Opens: opens}))(w)
}

// titles are those of a person's list.
func (w *world) titles(f core.ConversationFilter) []string {
	w.Helper()
	all := []string{}
	for _, c := range must(w.ListConversations(w.ctx, f))(w) {
		all = append(all, c.Title)
	}
	return all
}

var conversationExamples = []example{
	{"a conversation is its person's, and has the title of the first message until it is renamed", func(w *world) {
		w.put(conversation, "reply", 1, `1`)
		w.equal("before anybody wrote", w.titles(core.ConversationFilter{Person: ann.ID}), []string{})
		w.says(conversation, "a", ann.ID, "First")
		w.says(conversation, "b", ann.ID, "Second")
		w.says(other, "c", bob.ID, "Theirs")
		w.equal("ann's", w.titles(core.ConversationFilter{Person: ann.ID}), []string{"First"})
		w.ok(w.RenameConversation(w.ctx, ann.ID, conversation, "Named"))
		w.says(conversation, "d", ann.ID, "Third")
		w.equal("renamed", w.titles(core.ConversationFilter{Person: ann.ID}), []string{"Named"})
		w.equal("one", w.titles(core.ConversationFilter{Person: ann.ID, ID: conversation}), []string{"Named"})
		w.equal("another's", w.titles(core.ConversationFilter{Person: ann.ID, ID: other}), []string{})
		w.equal("nobody's", w.titles(core.ConversationFilter{}), []string{})
		w.says("plat:blank", "e", bob.ID, " ")
		w.equal("without words", w.titles(core.ConversationFilter{Person: bob.ID}), []string{"Untitled", "Theirs"})
	}},
	{"nobody renames or deletes another's conversation, or one that is not there", func(w *world) {
		w.says(conversation, "a", ann.ID, "First")
		for _, id := range []core.ConversationID{conversation, "plat:none"} {
			w.fails(w.RenameConversation(w.ctx, bob.ID, id, "Mine"), core.NotFound)
			w.fails(w.DeleteConversation(w.ctx, bob.ID, id), core.NotFound)
		}
		w.fails(w.RenameConversation(w.ctx, "", "plat:none", "Mine"), core.NotFound)
		w.fails(w.RenameConversation(w.ctx, ann.ID, conversation, " "), core.Invalid)
		w.equal("it", w.titles(core.ConversationFilter{Person: ann.ID}), []string{"First"})
	}},
	{"conversations are listed by their latest change, page by page, and since a time", func(w *world) {
		for i := range 5 {
			w.says(core.ConversationID(fmt.Sprint("plat:", i)), "a", ann.ID, fmt.Sprint(i))
		}
		all := must(w.ListConversations(w.ctx, core.ConversationFilter{Person: ann.ID}))(w)
		w.put("plat:0", "reply", 1, `1`)
		w.equal("all", w.titles(core.ConversationFilter{Person: ann.ID}), []string{"0", "4", "3", "2", "1"})
		w.equal("a page", w.titles(core.ConversationFilter{Person: ann.ID, Limit: 2}), []string{"0", "4"})
		w.equal("the next", w.titles(core.ConversationFilter{Person: ann.ID, Before: &all[0], Limit: 2}),
			[]string{"3", "2"})
		w.equal("since", w.titles(core.ConversationFilter{Person: ann.ID, Since: all[1].ChangedAt}),
			[]string{"0", "4"})
		w.ok(w.RenameConversation(w.ctx, ann.ID, "plat:1", "1"))
		renamed := must(w.ListConversations(w.ctx, core.ConversationFilter{Person: ann.ID, ID: "plat:1"}))(w)[0]
		if !renamed.SaidAt.Equal(all[3].SaidAt) || !renamed.ChangedAt.After(all[3].ChangedAt) {
			w.Errorf("renamed: %+v, before: %+v", renamed, all[3])
		}
		w.ok(w.DeleteConversation(w.ctx, ann.ID, "plat:3"))
		w.equal("deleted since", w.titles(core.ConversationFilter{Person: ann.ID, Since: all[0].ChangedAt}),
			[]string{"", "1", "0"})
	}},
	{"titles are searched without regard to capitals, and as they are written", func(w *world) {
		for i, title := range []string{"Über 100%", "über_all", "Other"} {
			w.says(core.ConversationID(fmt.Sprint("plat:", i)), "a", ann.ID, title)
		}
		for search, want := range map[string][]string{
			"ÜBER": {"über_all", "Über 100%"}, "%": {"Über 100%"}, "_": {"über_all"}, "none": {},
		} {
			w.equal(search, w.titles(core.ConversationFilter{Person: ann.ID, Search: search}), want)
		}
		w.equal("one", w.titles(core.ConversationFilter{Person: ann.ID, Search: "über", Limit: 1}),
			[]string{"über_all"})
	}},
	{"a conversation with an open approval is marked, and can't be deleted", func(w *world) {
		w.says(conversation, "a", ann.ID, "First")
		w.suspend(conversation, "a", core.Rule{Approvers: []string{bob.ID}})
		if all := must(w.ListConversations(w.ctx, core.ConversationFilter{Person: ann.ID}))(w); !all[0].Waits {
			w.Errorf("got %+v", all)
		}
		w.fails(w.DeleteConversation(w.ctx, ann.ID, conversation), core.Invalid)
		w.equal("the mail", len(w.mail(core.MailFilter{})), 1)
	}},
	{"a conversation whose message waits can't be deleted", func(w *world) {
		w.says(conversation, "a", ann.ID, "First")
		w.message(conversation)
		w.fails(w.DeleteConversation(w.ctx, ann.ID, conversation), core.Invalid)
	}},
	{"deleting a conversation removes all its generations and its mail, and nothing else", func(w *world) {
		w.says(conversation, "said", ann.ID, "First")
		w.says(other, "said", ann.ID, "Other")
		id := w.chat(conversation, 1)
		w.put(conversation, "reply", 1, `"a reply"`)
		w.ok(w.DeleteConversation(w.ctx, ann.ID, conversation))
		w.equal("the list", w.titles(core.ConversationFilter{Person: ann.ID}), []string{"Other"})
		w.equal("the mail", names(w.mail(core.MailFilter{})), []string{})
		w.equal("the other's mail", names(w.mail(core.MailFilter{Mailbox: other})), []string{"said"})
		if rec := must(w.LoadSession(w.ctx, id, core.Writer{}))(w); rec != nil {
			w.Errorf("the session is there: %+v", rec)
		}
		w.fails(w.DeleteConversation(w.ctx, ann.ID, conversation), core.NotFound)
		last := w.put(conversation, "late", 1, `1`)
		w.equal("a late reply", w.titles(core.ConversationFilter{Person: ann.ID}), []string{"Other"})
		w.says(conversation, "again", ann.ID, "Again")
		w.equal("begun anew", w.titles(core.ConversationFilter{Person: ann.ID}), []string{"Again", "Other"})
		w.equal("numbers go on", w.mail(core.MailFilter{})[0].Seq == last && last > 2, true)
	}},
	{"what a session's deletion erases is no title any more", func(w *world) {
		id := w.chat(conversation, 1)
		w.says(conversation, "said", ann.ID, "A secret")
		w.ok(w.DeleteSession(w.ctx, id))
		w.equal("without mail", w.titles(core.ConversationFilter{Person: ann.ID}), []string{})
	}},
	{"mail before a number is the newest of what is earlier", func(w *world) {
		var seqs []int64
		for _, key := range []string{"a", "b", "c", "d"} {
			seqs = append(seqs, w.put(conversation, key, 1, `1`))
		}
		w.equal("the two before", names(w.mail(core.MailFilter{Before: seqs[3], Last: 2})), []string{"b", "c"})
		w.equal("before the first", names(w.mail(core.MailFilter{Before: seqs[0], Last: 2})), []string{})
	}},
}
