package storagetest

import (
	"encoding/json"
	"fmt"

	"gatehouse/core"
)

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
		w.ok(w.DeleteConversation(w.ctx, ann.ID, "plat:3"))
		w.equal("deleted since", w.titles(core.ConversationFilter{Person: ann.ID, Since: all[0].ChangedAt}),
			[]string{"", "0"})
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
		w.equal("one", w.titles(core.ConversationFilter{Person: ann.ID, Search: "über", Limit: 1}), []string{"über_all"})
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
