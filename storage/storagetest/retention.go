package storagetest

import (
	"encoding/json"
	"fmt"
	"time"

	"gatehouse/core"
	"gatehouse/storage/storagetest/sample"
)

// month is how old sessions become in these examples.
const month = 30 * 24 * time.Hour

// pruneSessions makes one round, and returns how many calls it took.
func (w *world) pruneSessions() (calls int) {
	w.Helper()
	at := core.Pruning{Stage: core.PruneSessions}
	for at.Stage != core.PruneDone {
		at = must(w.PruneSessions(w.ctx, month, at))(w)
		if calls++; calls > 10_000 {
			w.Fatalf("the round does not end: %+v", at)
		}
	}
	return calls
}

// gone reports whether a session is in no list, and nothing of it can be read.
func (w *world) gone(id core.SessionID) bool {
	w.Helper()
	for _, s := range must(w.ListSessions(w.ctx, core.SessionFilter{}))(w) {
		if s.ID == id {
			return false
		}
	}
	return must(w.LoadSession(w.ctx, id, core.Writer{}))(w) == nil
}

// talked says something in a conversation, which is answered, and returns the event's id.
func (w *world) talked(l core.ConversationID) string {
	w.Helper()
	e := w.event(core.KindMessage, l, "")
	w.accept(e)
	c := w.claim(minute)
	w.changed(c, core.Changes{Session: w.session(c, 0, "a", "b"), Posts: []core.Post{sample.Reply(c, "the answer")}})
	w.sent(w.first(minute), "r")
	w.says(l, "said/"+e.ID, ann.ID, "A title")
	return e.ID
}

var retentionExamples = []example{
	{"an old session goes with all that was said in it, and a younger one stays", func(w *world) {
		w.shown(conversation, "cat")
		id := w.talked(conversation)
		w.db.Advance(month)
		w.talked(other)
		w.db.Advance(time.Hour)
		w.pruneSessions()
		w.equal("the old one is gone", w.gone(conversation.Session(1)), true)
		w.equal("its mail", names(w.mail(core.MailFilter{})), []string{})
		w.blob("cat", false)
		w.equal("the titles", w.titles(core.ConversationFilter{Person: ann.ID}), []string{"A title"})
		w.equal("the younger one's mail", len(w.mail(core.MailFilter{Mailbox: other})), 1)
		w.equal("the younger one", w.texts(other.Session(1), core.Writer{}), []string{"a", "b"})
		for _, e := range must(w.Events(w.ctx, core.EventFilter{Conversation: conversation}))(w) {
			w.equal("what the event said", string(e.Payload), "")
		}
		for _, p := range must(w.ListPosts(w.ctx, nil, conversation, 0))(w) {
			w.equal("what the post said", p.Text, "")
		}
		e := w.event(core.KindMessage, conversation, "")
		e.ID = id
		w.equal("a late repeat is new", must(w.Accept(w.ctx, e))(w).Fresh, false)
		w.equal("again", w.pruneSessions() < 10, true)
	}},
	{"a message into a pruned conversation begins anew, and its numbers go on", func(w *world) {
		w.talked(conversation)
		last := w.put(conversation, "last", 1, `1`)
		w.db.Advance(month + time.Hour)
		w.pruneSessions()
		w.talked(conversation)
		w.equal("its messages", w.texts(conversation.Session(2), core.Writer{}), []string{"a", "b"})
		mail := w.mail(core.MailFilter{})
		w.equal("its mail", len(mail) == 1 && mail[0].Seq == last+1, true)
		w.equal("the title", w.titles(core.ConversationFilter{Person: ann.ID}), []string{"A title"})
	}},
	{"a session is kept while something of it is open, waits, is in doubt or was given up", func(w *world) {
		w.suspend("plat:open", "a", core.Rule{})
		w.sent(w.first(minute), "card")
		states := map[core.ConversationID]core.RowState{
			"plat:sent": core.RowSent, "plat:doubt": core.RowUnknown, "plat:dead": core.RowDead,
			"plat:unsent": core.RowWaiting,
		}
		for _, place := range []core.ConversationID{"plat:sent", "plat:doubt", "plat:dead", "plat:unsent"} {
			w.message(place)
			c := w.claim(minute)
			w.changed(c, core.Changes{Session: w.session(c, 0, "a"), Posts: []core.Post{sample.Reply(c, "text")}})
			row := w.first(minute)
			row.State, row.Shown, row.Cause = states[place], row.Wanted, "because"
			w.ok(w.release(row, hour))
		}
		w.chat("plat:decided", 1)
		w.suspend("plat:decided", "b", core.Rule{})
		w.sent(w.first(minute), "card")
		must(w.Decide(w.ctx, sample.Vote("b", bob, core.Approve)))(w)
		w.db.Advance(month + time.Hour)
		w.pruneSessions()
		for place, gone := range map[core.ConversationID]bool{
			"plat:open": false, "plat:unsent": false, "plat:doubt": false, "plat:dead": false, "plat:decided": false,
			"plat:sent": true,
		} {
			w.equal(string(place), w.gone(place.Session(1)), gone)
		}
	}},
	{"a session of many messages goes in steps, and a crash between them leaves nothing", func(w *world) {
		const rounds = 40
		for range rounds {
			w.message(conversation)
			c := w.claim(minute)
			var texts []string
			for i := range 25 {
				texts = append(texts, fmt.Sprint("text ", i))
			}
			w.changed(c, core.Changes{Session: w.session(c, 0, texts...)})
		}
		w.db.Advance(month + time.Hour)
		at := must(w.PruneSessions(w.ctx, month, core.Pruning{}))(w)
		w.equal("taken away at once", w.gone(conversation.Session(1)), true)
		w.message(conversation)
		c := w.claim(minute)
		w.equal("the next session", c.Session, conversation.Session(2))
		w.restart()
		if calls := w.pruneSessions(); calls < rounds*25/200 {
			w.Fatalf("only %d calls", calls)
		}
		var left []core.Message
		for _, e := range must(w.Events(w.ctx, core.EventFilter{Conversation: conversation}))(w) {
			left = append(left, must(w.InvocationMessages(w.ctx, conversation.Session(1), e.Invocation))(w)...)
		}
		w.equal("messages left", len(left), 0)
		_ = at
	}},
	{"of a conversation only the old generation goes, with what is known to be of it", func(w *world) {
		w.talked(conversation)
		w.done(w.take(w.accept(w.event(core.KindReset, conversation, "")), minute), core.Finish{
			End: core.End{Kind: core.EndNothing}, Changes: core.Changes{NewGeneration: true},
		})
		w.db.Advance(month + time.Hour)
		w.talked(conversation)
		w.pruneSessions()
		w.equal("the old one is gone", w.gone(conversation.Session(1)), true)
		w.equal("the new one", w.texts(conversation.Session(2), core.Writer{}), []string{"a", "b"})
		w.equal("the next one's session", w.chat(conversation, 1), conversation.Session(2))
		w.equal("the title", w.titles(core.ConversationFilter{Person: ann.ID}), []string{"A title"})
		var said []string
		messages := core.EventFilter{Conversation: conversation, Kinds: []core.Kind{core.KindMessage}}
		for _, e := range must(w.Events(w.ctx, messages))(w) {
			said = append(said, string(e.Payload))
		}
		w.equal("what events say", said, []string{`{"n": 1}`, `{"n": 1}`, ""})
	}},
	{"a conversation of which nothing is left is forgotten, unless somebody reads its mail by number", func(w *world) {
		w.chat(conversation, 1)
		w.talked(other)
		w.db.Advance(month + time.Hour)
		w.pruneSessions()
		w.chat(conversation, 1)
		w.equal("while its events are known", w.gone(conversation.Session(2)), false)
		w.db.Advance(month + time.Hour)
		w.pruneSessions()
		w.prune()
		w.pruneSessions()
		w.equal("the conversation that is forgotten", w.chat(conversation, 1), conversation.Session(1))
		w.equal("the one that has a mailbox", w.chat(other, 1), other.Session(2))
	}},
	{"a conversation without a session goes, too", func(w *world) {
		w.says(conversation, "said", ann.ID, "A title")
		w.message(conversation)
		w.done(w.claim(minute), core.Finish{End: core.End{Kind: core.EndErrored}})
		w.pruneSessions()
		w.equal("at first", w.titles(core.ConversationFilter{Person: ann.ID}), []string{"A title"})
		w.db.Advance(month + time.Hour)
		w.pruneSessions()
		w.equal("later", w.titles(core.ConversationFilter{Person: ann.ID}), []string{})
		w.equal("its mail", names(w.mail(core.MailFilter{})), []string{})
	}},
	{"approvals, clicks on them and dead letters stay", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		w.sent(w.first(minute), "card")
		must(w.Decide(w.ctx, w.click("a", bob, core.Approve)))(w)
		w.done(w.controls(1, minute)[0], core.Finish{End: core.End{Kind: core.EndDecided}})
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{}))
		w.changed(s, core.Changes{Resumed: c.Event.Invocation})
		for _, row := range w.deliver(minute) {
			w.sent(row, "r")
		}
		dead := w.message(conversation)
		w.done(w.take(dead, minute), core.Finish{End: core.End{Kind: core.EndDead}})
		before := must(w.RecordedApproval(w.ctx, "a"))(w)
		w.db.Advance(month + time.Hour)
		w.pruneSessions()
		w.equal("the session is gone", w.gone(c.Session), true)
		w.equal("the approval", must(w.RecordedApproval(w.ctx, "a"))(w), before)
		w.equal("the dead letter", w.record(dead).Payload, json.RawMessage(`{"n": 1}`))
		again := must(w.Retry(w.ctx, dead))(w)
		w.equal("its next turn", w.take(again.Seq, minute).Session, conversation.Session(2))
	}},
}
