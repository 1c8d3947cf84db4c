package storagetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/storage/storagetest/sample"
)

// chat stores n messages in the conversation, one per turn.
func (w *world) chat(l core.ConversationID, n int) core.SessionID {
	w.Helper()
	var id core.SessionID
	for i := range n {
		w.message(l)
		c := w.claim(minute)
		w.changed(c, core.Changes{Session: w.session(c, 0, fmt.Sprintf("m%d", i))})
		id = c.Session
	}
	return id
}

var sessionExamples = []example{
	{"a missing session is nil", func(w *world) {
		if rec := must(w.LoadSession(w.ctx, "plat:none@1", core.Writer{}))(w); rec != nil {
			w.Fatalf("got %+v", rec)
		}
		if rec := must(w.LoadPaused(w.ctx, "none", ""))(w); rec != nil {
			w.Fatalf("got %+v", rec)
		}
		w.equal("messages", must(w.InvocationMessages(w.ctx, "plat:none@1", "i"))(w), []core.Message{})
		w.ok(w.DeleteSession(w.ctx, "plat:none@1"))
	}},
	{"each save is a version, and the newest is kept", func(w *world) {
		c := w.take(w.message(conversation), minute)
		rec := &core.SessionRecord{
			ID: c.Session, SchemaVersion: "1", State: map[string]json.RawMessage{"a": json.RawMessage("1")},
		}
		w.ok(w.SaveSession(w.ctx, c, rec))
		created := rec.CreatedAt
		rec.State, rec.SchemaVersion = map[string]json.RawMessage{"b": json.RawMessage("null")}, "2"
		w.ok(w.SaveSession(w.ctx, c, rec))
		got := must(w.LoadSession(w.ctx, c.Session, core.Writer{}))(w)
		w.equal("the record", got, rec)
		if got.Version != 2 || !got.CreatedAt.Equal(created) || !got.UpdatedAt.After(created) || got.Messages != nil {
			w.Fatalf("got %+v", got)
		}
	}},
	{"messages are read unchanged", func(w *world) {
		c := w.take(w.message(conversation), minute)
		msgs := []core.Message{
			{
				Role: core.User,
				Content: core.Blocks(core.Block{Type: core.TextBlock, Text: "<b>&\u2028"},
					core.Block{
						Type: core.ImageBlock, Source: &core.ImageSource{Type: "url", URL: "https://x/?a=1&b=2"},
					}),
			},
			{
				Role: core.Assistant,
				ToolCalls: []core.ToolCall{{
					ID: "1", Name: "t", Arguments: json.RawMessage(`{"n":12345678901234567890}`),
				}, {ID: "2", Name: "u", Arguments: json.RawMessage("null")}},
			},
			{Role: core.ToolRole, ToolCallID: "1", Content: core.Text("done")},
		}
		rec := w.session(c, 0)
		h := rec.Messages.Append(msgs...)
		rec.Messages = &h
		w.changed(c, core.Changes{Session: rec})
		got := must(w.LoadSession(w.ctx, c.Session, core.Writer{}))(w)
		w.equal("the messages", must(got.Messages.From(w.ctx, 0))(w), msgs)
		w.equal("the invocation's", must(w.InvocationMessages(w.ctx, c.Session, c.Event.Invocation))(w), msgs)
	}},
	{"a history is read backwards, page by page", func(w *world) {
		id := w.chat(conversation, 7)
		h := must(w.LoadSession(w.ctx, id, core.Writer{}))(w).Messages
		if h.Len() != 7 || h.Stored() != 7 {
			w.Fatalf("%d messages, %d stored", h.Len(), h.Stored())
		}
		w.equal("the tail", sample.Words(must(h.Tail(w.ctx, 2))(w)), []string{"m5", "m6"})
		w.equal("a page", sample.Words(must(h.Page(w.ctx, 2, 3))(w)), []string{"m2", "m3", "m4"})
		w.equal("the first page", sample.Words(must(h.Page(w.ctx, 5, 10))(w)), []string{"m0", "m1"})
		w.equal("beyond", sample.Words(must(h.Page(w.ctx, 7, 3))(w)), []string{})
		more := h.Append(sample.Said("new")...)
		w.equal("across", sample.Words(must(more.Page(w.ctx, 0, 2))(w)), []string{"m6", "new"})
	}},
	{"a history does not change after its load", func(w *world) {
		id := w.chat(conversation, 3)
		old := must(w.LoadSession(w.ctx, id, core.Writer{}))(w).Messages
		w.chat(conversation, 2)
		w.equal("the old one", sample.Words(must(old.From(w.ctx, 0))(w)), []string{"m0", "m1", "m2"})
		w.equal("a page of it", sample.Words(must(old.Page(w.ctx, 1, 1))(w)), []string{"m1"})
		w.equal("the new one", w.texts(id, core.Writer{}), []string{"m0", "m1", "m2", "m0", "m1"})
	}},
	{"an attempt does not see an earlier attempt's messages, and replaces them", func(w *world) {
		id := w.chat(conversation, 2)
		seq := w.message(conversation)
		c := w.take(seq, minute)
		w.ok(w.SaveSession(w.ctx, c, w.session(c, 0, "half", "done")))
		w.equal("what others see", w.texts(id, core.Writer{}), []string{"m0", "m1", "half", "done"})
		w.restart()
		c = w.take(seq, minute)
		w.equal("what the next attempt sees", w.texts(id, core.Writer{Invocation: c.Event.Invocation}),
			[]string{"m0", "m1"})
		w.equal("what one sees that keeps its first", w.texts(id, core.Writer{Invocation: c.Event.Invocation, From: 1}),
			[]string{"m0", "m1", "half"})
		w.changed(c, core.Changes{Session: w.session(c, 0, "whole")})
		w.equal("in the end", w.texts(id, core.Writer{}), []string{"m0", "m1", "whole"})
		w.equal("under its key", sample.Words(must(w.InvocationMessages(w.ctx, id, c.Event.Invocation))(w)),
			[]string{"whole"})
	}},
	{"a save during a turn and the turn's end store its messages once", func(w *world) {
		id := w.chat(conversation, 1)
		c := w.take(w.message(conversation), minute)
		rec := w.session(c, 0, "a")
		w.ok(w.SaveSession(w.ctx, c, rec))
		h := rec.Messages.Append(sample.Said("b")...)
		rec.Messages = &h
		w.changed(c, core.Changes{Session: rec})
		w.equal("the messages", w.texts(id, core.Writer{}), []string{"m0", "a", "b"})
		if rec.Version != 3 {
			w.Fatalf("version %d", rec.Version)
		}
	}},
	{"an earlier attempt's messages keep their place when others follow", func(w *world) {
		id := w.chat(conversation, 1)
		seq := w.message(conversation)
		c := w.take(seq, minute)
		w.ok(w.SaveSession(w.ctx, c, w.session(c, 0, "left")))
		w.restart()
		s := w.take(w.signal(conversation, "inv"), minute)
		w.changed(s, core.Changes{Session: w.session(s, 0, "signal")})
		c = w.take(seq, minute)
		w.equal("what the next attempt sees", w.texts(id, core.Writer{Invocation: c.Event.Invocation}),
			[]string{"m0", "signal"})
		w.changed(c, core.Changes{Session: w.session(c, 0, "right")})
		w.equal("in the end", w.texts(id, core.Writer{}), []string{"m0", "signal", "right"})
	}},
	{"an epoch is stored with the messages that were shown in it", func(w *world) {
		c := w.take(w.message(conversation), minute)
		epoch := core.Epoch{
			Number: 2, Day: "2026-12-13", Began: 1, From: 3, Also: []int{0},
			Days: []core.EpochDay{{Row: 4, Day: "2026-12-14 (UTC)"}}, Digest: "d",
		}
		rec := w.session(c, 0, "a")
		h := rec.Messages.WithEpoch(epoch)
		rec.Messages = &h
		w.ok(w.SaveSession(w.ctx, c, rec))
		stored := func() core.Epoch { return must(w.LoadSession(w.ctx, c.Session, core.Writer{}))(w).Messages.Epoch() }
		w.equal("saved during the turn", stored(), epoch)
		epoch.Number++
		h = h.WithEpoch(epoch)
		w.changed(c, core.Changes{Session: rec})
		w.equal("saved at its end", stored(), epoch)
		h = h.WithEpoch(core.Epoch{Number: 9})
		w.fails(w.SaveSession(w.ctx, c, rec), core.ClaimLost)
		w.equal("after another's save", stored(), epoch)
		next := w.take(w.message(conversation), minute)
		w.changed(next, core.Changes{Session: &core.SessionRecord{ID: c.Session, SchemaVersion: "1"}})
		w.equal("after a graph without messages", stored(), epoch)
	}},
	{"a turn with an outdated history is refused", func(w *world) {
		w.chat(conversation, 2)
		c := w.take(w.message(conversation), minute)
		stale := w.session(c, 0, "x")
		h := core.NewHistory(1, nil).Append(sample.Said("x")...)
		stale.Messages = &h
		w.fails(w.SaveSession(w.ctx, c, stale), core.SessionWriteConflict)
		w.fails(w.Finish(w.ctx, finish(c, core.Finish{
			Changes: core.Changes{Session: stale},
		})), core.SessionWriteConflict)
		w.equal("the messages", w.texts(c.Session, core.Writer{}), []string{"m0", "m1"})
	}},
	{"sessions are listed, latest change first", func(w *world) {
		a, b := w.chat(conversation, 2), w.chat(other, 1)
		all := must(w.ListSessions(w.ctx, core.SessionFilter{}))(w)
		w.equal("all", []core.SessionID{all[0].ID, all[1].ID}, []core.SessionID{b, a})
		if all[1].Messages != 2 || all[1].SchemaVersion != "1" || all[1].CreatedAt.IsZero() {
			w.Fatalf("got %+v", all[1])
		}
		w.chat(conversation, 1)
		w.equal("the latest", must(w.ListSessions(w.ctx, core.SessionFilter{Limit: 1}))(w)[0].ID, a)
		w.equal("changed since",
			len(must(w.ListSessions(w.ctx, core.SessionFilter{UpdatedAfter: all[0].UpdatedAt}))(w)), 1)
		w.equal("changed before",
			must(w.ListSessions(w.ctx, core.SessionFilter{UpdatedBefore: all[0].UpdatedAt, Limit: 1}))(w), all[1:1])
		platform, _, _ := strings.Cut(string(a), ":")
		w.equal("of a platform", len(must(w.ListSessions(w.ctx, core.SessionFilter{Platform: platform}))(w)), 2)
		others := must(w.ListSessions(w.ctx, core.SessionFilter{Platform: platform[:1]}))(w)
		w.equal("of another platform", len(others), 0)
		w.equal("made since", must(w.ListSessions(w.ctx, core.SessionFilter{CreatedAfter: all[1].CreatedAt}))(w)[0].ID,
			b)
		one, two := "1", "2"
		w.equal("of a version", len(must(w.ListSessions(w.ctx, core.SessionFilter{SchemaVersion: &one}))(w)), 2)
		w.equal("of another", len(must(w.ListSessions(w.ctx, core.SessionFilter{SchemaVersion: &two}))(w)), 0)
		w.equal("since later",
			len(
				must(
					w.ListSessions(w.ctx,
						core.SessionFilter{CreatedAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}))(w)), 0)
	}},
	{"sessions are listed page by page, of people, and by what there is of them", func(w *world) {
		a, b := w.suspend(conversation, "a", core.Rule{}).Session, w.chat(other, 1)
		listed := func(f core.SessionFilter) []core.SessionID {
			ids := []core.SessionID{}
			for _, s := range must(w.ListSessions(w.ctx, f))(w) {
				ids = append(ids, s.ID)
			}
			return ids
		}
		last := must(w.ListSessions(w.ctx, core.SessionFilter{Limit: 1}))(w)[0]
		before := core.SessionFilter{UpdatedBefore: last.UpdatedAt, BeforeID: b}
		w.equal("the next page", listed(before), []core.SessionID{a})
		before.BeforeID += "~"
		w.equal("after another of that very time", listed(before), []core.SessionID{b, a})
		w.equal("ann's", listed(core.SessionFilter{People: []string{"none", ann.ID}}), []core.SessionID{b, a})
		w.equal("bob's", listed(core.SessionFilter{People: []string{bob.ID}}), []core.SessionID{})
		w.equal("those that ask", listed(core.SessionFilter{Standing: core.SessionAsks}), []core.SessionID{a})
		w.equal("those that run", listed(core.SessionFilter{Standing: core.SessionRuns}), []core.SessionID{})
		w.equal("those that failed", listed(core.SessionFilter{Standing: core.SessionFailed}), []core.SessionID{})
		w.message(other)
		c := w.claim(minute)
		w.equal("one runs", listed(core.SessionFilter{Standing: core.SessionRuns, People: []string{ann.ID}}),
			[]core.SessionID{b})
		w.done(c, core.Finish{End: core.End{Kind: core.EndDead, Category: core.Internal}})
		w.equal("and failed", listed(core.SessionFilter{Standing: core.SessionFailed}), []core.SessionID{b})
	}},
	{"deleting a session removes everything that waits in it", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		w.chat(other, 1)
		s := w.signal(conversation, c.Event.Invocation)
		w.ok(w.DeleteSession(w.ctx, c.Session))
		w.ok(w.DeleteSession(w.ctx, c.Session))
		if rec := must(w.LoadSession(w.ctx, c.Session, core.Writer{}))(w); rec != nil {
			w.Fatalf("got %+v", rec)
		}
		if rec := must(w.LoadPaused(w.ctx, c.Event.Invocation, ""))(w); rec != nil {
			w.Fatalf("got %+v", rec)
		}
		w.equal("messages", must(w.InvocationMessages(w.ctx, c.Session, c.Event.Invocation))(w), []core.Message{})
		w.equal("the approval", must(w.RecordedApproval(w.ctx, "a"))(w).State, core.Cancelled)
		w.equal("the signal", w.record(s).End.Kind, core.EndWithdrawn)
		w.equal("the other session", w.texts(other.Session(1), core.Writer{}), []string{"m0"})
		w.idle()
		w.chat(conversation, 1)
		w.equal("the next one", w.texts(c.Session, core.Writer{}), []string{"m0"})
	}},
	{"deleting a session erases the clicks on its approvals, in whatever conversation they were made", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Quorum: 2})
		d := w.suspend(other, "b", core.Rule{Quorum: 2})
		payload := func(seq int64) string { return string(w.record(seq).Payload) }
		press := func(id core.ApprovalID) int64 {
			e := w.event(core.KindClick, "plat:direct", string(id))
			e.Payload = json.RawMessage(`{"quotes":"the card"}`)
			return w.accept(e)
		}
		end := func(want int) {
			claims := w.controls(10, minute)
			w.equal("clicks", len(claims), want)
			for _, c := range claims {
				w.done(c, core.Finish{})
			}
		}
		ended, others := press("a"), press("b")
		end(2)
		waits := press("a")
		w.ok(w.DeleteSession(w.ctx, c.Session))
		w.equal("of an ended click", payload(ended), "")
		w.equal("of one that waits", payload(waits), `{"quotes":"the card"}`)
		w.equal("of another session's", payload(others), `{"quotes":"the card"}`)
		end(1)
		w.ok(w.DeleteSession(w.ctx, c.Session))
		w.equal("when it has ended", payload(waits), "")
		w.ok(w.DeleteSession(w.ctx, d.Session))
		w.equal("of another session's, with that", payload(others), "")
	}},
	{"a session is not deleted while its turn runs", func(w *world) {
		w.chat(conversation, 1)
		seq := w.message(conversation)
		c := w.take(seq, minute)
		w.fails(w.DeleteSession(w.ctx, c.Session), core.Invalid)
		w.equal("the messages", w.texts(c.Session, core.Writer{}), []string{"m0"})
		w.ok(w.DeleteSession(w.ctx, conversation.Session(7))) // another generation is free
		w.late()
		w.ok(w.DeleteSession(w.ctx, c.Session))
		w.lost(c) // a late holder must not write the session again
		w.take(seq, minute)
	}},
}

// read is a message that was read of an event.
func read(text string) core.Message {
	bob := core.Quotation{What: "forwarded message", Name: "Bob", ID: "plat:bob", Text: text}
	said := core.Said(core.Speaker{Name: "Ann", ID: "plat:ann"}, "look", []core.Block{core.Quote(bob)})
	return core.Message{Role: core.User, Content: said}
}

var fetchedExamples = []example{
	{"what was fetched for a message comes with its next claim, and with what repeats it", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, minute)
		if c.Event.Fetched != nil {
			w.Fatalf("nothing was fetched, and yet %+v", c.Event.Fetched)
		}
		w.ok(w.KeepFetched(w.ctx, c, read("4711 is wrong")))
		w.ok(w.Release(w.ctx, c))
		c = w.take(seq, minute)
		want := read("4711 is wrong")
		w.equal("what was fetched", *c.Event.Fetched, want)
		w.done(c, core.Finish{End: core.End{Kind: core.EndErrored}})
		again := must(w.Retry(w.ctx, seq))(w)
		w.equal("what the repetition reads", *w.take(again.Seq, minute).Event.Fetched, want)
	}},
	{"an amendment before the turn forgets what was fetched", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		seq := w.accept(e)
		c := w.take(seq, minute)
		w.ok(w.KeepFetched(w.ctx, c, read("old")))
		w.ok(w.Release(w.ctx, c))
		w.wantEnd(w.amend(e, changed("2", "new words")), core.EndApplied)
		if c = w.take(seq, minute); c.Event.Fetched != nil {
			w.Fatalf("the turn reads %+v", c.Event.Fetched)
		}
	}},
	{"who has lost the claim stores nothing", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, minute)
		w.ok(w.Release(w.ctx, c))
		w.fails(w.KeepFetched(w.ctx, c, read("late")), core.ClaimLost)
		if c = w.take(seq, minute); c.Event.Fetched != nil {
			w.Fatalf("the turn reads %+v", c.Event.Fetched)
		}
	}},
	{"what was fetched is erased with the session", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, minute)
		w.ok(w.KeepFetched(w.ctx, c, read("secret")))
		w.done(c, core.Finish{})
		w.ok(w.DeleteSession(w.ctx, c.Session))
		if got := w.record(seq).Fetched; got != nil {
			w.Fatalf("still there: %+v", got)
		}
	}},
	{"events are listed by kind, and before another", func(w *world) {
		first, reset := w.message(conversation), w.accept(w.event(core.KindReset, conversation, ""))
		e := w.event(core.KindMessage, conversation, "")
		w.accept(e)
		later := w.event(core.KindMessage, conversation, "")
		w.accept(later)
		w.accept(w.event(core.KindControl, conversation, "status"))
		list := func(f core.EventFilter) (seqs []int64) {
			f.Conversation = conversation
			for _, r := range must(w.Events(w.ctx, f))(w) {
				seqs = append(seqs, r.Seq)
			}
			return seqs
		}
		both := []core.Kind{core.KindMessage, core.KindReset}
		w.equal("before the second", list(core.EventFilter{Platform: e.Platform, Before: e.ID, Kinds: both}),
			[]int64{reset, first})
		w.equal("messages alone", list(core.EventFilter{Platform: e.Platform, Before: e.ID, Kinds: both[:1]}),
			[]int64{first})
		w.equal("before one that is not there",
			list(core.EventFilter{Platform: e.Platform, Before: "none", Kinds: both}), []int64(nil))
	}},
}
