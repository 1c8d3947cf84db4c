package storagetest

import (
	"encoding/json"
	"slices"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/storagetest/sample"
)

// session loads a session as a turn does and appends to it.
func (w *world) session(c core.Claim, from int, texts ...string) *core.SessionRecord {
	w.Helper()
	writer := core.Writer{Invocation: c.Event.Invocation, From: from}
	rec := must(w.LoadSession(w.ctx, c.Session, writer))(w)
	if rec == nil {
		rec = &core.SessionRecord{ID: c.Session, SchemaVersion: "1"}
	}
	if rec.Messages == nil {
		rec.Messages = &core.History{}
	}
	h := rec.Messages.Append(sample.Said(texts...)...)
	rec.Messages, rec.Writer = &h, writer
	return rec
}

// texts returns the texts of a session's messages.
func (w *world) texts(id core.SessionID, without core.Writer) []string {
	w.Helper()
	rec := must(w.LoadSession(w.ctx, id, without))(w)
	if rec == nil || rec.Messages == nil {
		return nil
	}
	all := []string{}
	for _, m := range must(rec.Messages.From(w.ctx, 0))(w) {
		all = append(all, m.Content.String())
	}
	if len(all) != rec.Messages.Len() {
		w.Fatalf("the history has %d messages, but says %d", len(all), rec.Messages.Len())
	}
	return all
}

// suspend runs a new message of the conversation up to its pause, asking for an approval.
func (w *world) suspend(l core.ConversationID, id string, rule core.Rule) core.Claim {
	w.Helper()
	c := w.take(w.message(l), minute)
	a := sample.Asks(c, id, rule)
	w.done(c, core.Finish{
		End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
			Session:  w.session(c, 0, "do "+id),
			Paused:   sample.Paused(c, id, 1),
			Approval: a,
			Posts:    []core.Post{sample.Card(a)},
		},
	})
	return c
}

var finishExamples = []example{
	{"an event ends once, with the given end", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, minute)
		end := core.End{Kind: core.EndErrored, Category: core.ProviderTimeout, Cause: "slow"}
		w.done(c, core.Finish{End: end})
		got := w.record(seq)
		if got.End != end || got.EndedAt.IsZero() || got.Session != c.Session {
			w.Fatalf("got %+v", got)
		}
		w.fails(w.Finish(w.ctx, finish(c, core.Finish{})), core.ClaimLost)
		w.equal("the event", w.record(seq), got)
	}},
	{"everything that a turn changed is stored", func(w *world) {
		c := w.take(w.message(conversation), minute)
		a := sample.Asks(c, "a", core.Rule{Name: "r", Verdict: core.VerdictAsk, Timeout: minute})
		p := sample.Paused(c, "a", 1)
		s := w.session(c, 0, "hello")
		s.State = map[string]json.RawMessage{"f": json.RawMessage(`{"g":"<&>"}`)}
		w.done(c,
			core.Finish{
				End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
					Session:  s,
					Paused:   p,
					Approval: a,
					Posts:    []core.Post{sample.Card(a), sample.Reply(c, "wait")},
				},
			})

		got := must(w.LoadSession(w.ctx, c.Session, core.Writer{}))(w)
		w.equal("the session", got, s)
		if s.Version != 1 || s.CreatedAt.IsZero() || !s.UpdatedAt.Equal(got.UpdatedAt) {
			w.Fatalf("the saved record is not marked: %+v", s)
		}
		w.equal("its messages", w.texts(c.Session, core.Writer{}), []string{"hello"})
		w.equal("the paused record", must(w.LoadPaused(w.ctx, c.Event.Invocation, ""))(w), p)
		w.equal("the same by signal", must(w.LoadPaused(w.ctx, "", "a"))(w), p)
		stored := must(w.LoadApproval(w.ctx, "a"))(w)
		want := *a
		want.CreatedAt, want.Deadline = stored.CreatedAt, stored.CreatedAt.Add(minute)
		w.equal("the approval", stored, want)
		rows := must(w.ListPosts(w.ctx, nil, "", 0))(w)
		w.equal("the posts", []core.Post{rows[0].Post, rows[1].Post},
			[]core.Post{sample.Reply(c, "wait"), sample.Card(a)})
		w.equal("the event's end", w.record(c.Event.Seq).End.Kind, core.EndSuspended)
		w.idle()
	}},
	{"nothing is stored if one part fails", func(w *world) {
		old := w.suspend(conversation, "a", core.Rule{}).Event.Invocation
		c := w.take(w.message(conversation), minute)
		before := w.contents(c.Session)
		twice := sample.Asks(c, "a", core.Rule{}) // its id is taken
		f := core.Finish{
			Changes: core.Changes{
				Session:       w.session(c, 0, "lost"),
				Paused:        sample.Paused(c, "lost", 1),
				NewGeneration: true,
				Posts:         []core.Post{sample.Reply(c, "lost")},
				Approval:      twice,
				Abandoned:     []core.Abandon{{Invocation: old, Rows: sample.Said("lost"), Cancel: true}},
			},
		}
		if err := w.Finish(w.ctx, finish(c, f)); err == nil {
			w.Fatal("no error")
		}
		w.equal("the database", w.contents(c.Session), before)
		w.done(c, core.Finish{}) // the conversation is still held
	}},
	{"nothing is stored if the claim is lost", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, over)
		s := w.session(c, 0, "lost")
		w.take(seq, minute)
		before := w.contents(c.Session)
		a := sample.Asks(c, "a", core.Rule{Timeout: minute})
		w.fails(
			w.Finish(w.ctx,
				finish(c,
					core.Finish{
						Changes: core.Changes{
							Session:       s,
							Paused:        sample.Paused(c, "a", 1),
							Approval:      a,
							NewGeneration: true,
							Posts:         []core.Post{sample.Reply(c, "lost")},
						},
					})), core.ClaimLost)
		w.equal("the database", w.contents(c.Session), before)
		if s.Version != 0 {
			w.Fatal("the record is marked as saved")
		}
	}},
	{"a turn that is retried stores nothing else", func(w *world) {
		c := w.take(w.message(conversation), minute)
		for _, changed := range []core.Changes{
			{Posts: []core.Post{sample.Reply(c, "x")}}, {AskedAgain: "a"},
			{NewGeneration: true}, {NotRun: core.ToolResult{Content: "x"}},
		} {
			w.fails(w.Finish(w.ctx, finish(c, core.Finish{Retry: &core.Retry{}, Changes: changed})), core.Internal)
		}
		w.fails(w.Finish(w.ctx, core.Finish{Claim: c}), core.Internal)
		w.done(c, core.Finish{})
	}},
	{"a resumed turn removes its paused record", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		s := w.take(w.signal(conversation, c.Event.Invocation), minute)
		w.changed(s, core.Changes{Resumed: c.Event.Invocation, Session: w.session(s, 1, "did it")})
		if rec := must(w.LoadPaused(w.ctx, c.Event.Invocation, ""))(w); rec != nil {
			w.Fatalf("got %+v", rec)
		}
		w.equal("the messages", w.texts(c.Session, core.Writer{}), []string{"do a", "did it"})
		w.equal("the invocation's", len(must(w.InvocationMessages(w.ctx, c.Session, c.Event.Invocation))(w)), 2)
	}},
	{"a turn may pause again in the same invocation", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		s := w.take(w.signal(conversation, c.Event.Invocation), minute)
		next := sample.Paused(s, "b", 2)
		w.done(s,
			core.Finish{
				End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
					Resumed:  c.Event.Invocation,
					Session:  w.session(s, 1, "again"),
					Paused:   next,
					Approval: sample.Asks(s, "b", core.Rule{}),
				},
			})
		w.equal("the record", must(w.LoadPaused(w.ctx, c.Event.Invocation, ""))(w), next)
		w.equal("by the new signal", must(w.LoadPaused(w.ctx, "", "b"))(w), next)
		if rec := must(w.LoadPaused(w.ctx, "", "a"))(w); rec != nil {
			w.Fatalf("the old signal still finds %+v", rec)
		}
	}},
	{"a new generation is a new session, from the next turn on", func(w *world) {
		w.accept(w.event(core.KindReset, conversation, ""))
		next := w.message(conversation)
		control := w.accept(w.event(core.KindControl, conversation, "status"))
		c := w.claim(minute)
		w.changed(c, core.Changes{NewGeneration: true, Session: w.session(c, 0, "old")})
		c = w.take(next, minute)
		w.equal("the session", c.Session, conversation.Session(2))
		w.equal("its messages", w.texts(c.Session, core.Writer{}), []string{})
		claimed := w.controls(1, minute)[0]
		if claimed.Event.Seq != control || claimed.Session != conversation.Session(2) {
			w.Fatalf("got %+v", claimed)
		}
		w.changed(claimed, core.Changes{NewGeneration: true}) // a control may ask for one as well
		w.done(c, core.Finish{})
		w.message(conversation)
		w.equal("the session after that", w.claim(minute).Session, conversation.Session(3))
	}},
	{"the end of a turn clears the typing indicator", func(w *world) {
		c := w.working()
		w.done(c, core.Finish{})
		w.indicatorCleared(c)
	}},
	{"a retry clears the typing indicator", func(w *world) {
		c := w.working()
		w.done(c, core.Finish{Retry: &core.Retry{}})
		w.indicatorCleared(c)
	}},
	{"a released turn clears the typing indicator", func(w *world) {
		c := w.working()
		w.ok(w.Release(w.ctx, c))
		w.indicatorCleared(c)
	}},
	{"a dead owner's typing indicator is cleared", func(w *world) {
		c := w.working()
		w.restart()
		w.indicatorCleared(c)
	}},
}

// working returns a claim whose typing indicator is shown.
func (w *world) working() core.Claim {
	w.Helper()
	c := w.take(w.message(conversation), minute)
	w.ok(w.AddPosts(w.ctx, c, []core.Post{indicator(c)}))
	row := w.deliver(minute)[0]
	w.equal("what is shown", row.Post, indicator(c))
	w.sent(row, "")
	return c
}

// indicatorCleared checks that the turn's typing indicator is cleared.
func (w *world) indicatorCleared(c core.Claim) {
	w.Helper()
	rows := w.deliver(minute)
	if len(rows) != 1 || rows[0].Key != indicator(c).Key || rows[0].On {
		w.Fatalf("got %+v, want the working state put out", rows)
	}
}

// contents is everything that a Finish could change, for comparison.
type contents struct {
	Events    []core.EventRecord
	Texts     []string
	Version   int64
	Approvals []core.Approval
	Audit     []audit.Entry
	Posts     []core.OutboxRow
	Queue     core.QueueView
	Paused    []*core.PausedRecord
}

// contents reads all of it.
func (w *world) contents(id core.SessionID) contents {
	w.Helper()
	v := contents{
		Events:    must(w.Events(w.ctx, core.EventFilter{}))(w),
		Texts:     w.texts(id, core.Writer{}),
		Approvals: must(w.ListApprovals(w.ctx, core.ApprovalFilter{}))(w),
		Audit:     must(w.AuditLog(w.ctx, 0, 0))(w),
		Posts:     must(w.ListPosts(w.ctx, nil, "", 0))(w),
		Queue:     must(w.Queue(w.ctx, 0))(w),
	}
	if rec := must(w.LoadSession(w.ctx, id, core.Writer{}))(w); rec != nil {
		v.Version = rec.Version
	}
	for _, e := range v.Events {
		v.Paused = append(v.Paused, must(w.LoadPaused(w.ctx, e.Invocation, ""))(w))
	}
	return v
}

// counted is contents without the audit entries of votes that did not count.
func (w *world) counted(id core.SessionID) contents {
	w.Helper()
	v := w.contents(id)
	v.Audit = slices.DeleteFunc(v.Audit, func(e audit.Entry) bool { return e.Action == audit.Rejected })
	return v
}
