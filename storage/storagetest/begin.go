package storagetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/storagetest/sample"
)

// begun accepts an event and returns its claim, which must not be nil.
func (w *world) begun(e core.Event) core.Claim {
	w.Helper()
	_, c, err := w.AcceptClaim(w.ctx, e, w.owner)
	w.ok(err)
	if c == nil {
		w.Fatalf("the event was not claimed")
	}
	return *c
}

// notBegun accepts an event that must not be claimed.
func (w *world) notBegun(s *sqlstore.Store, e core.Event) core.Receipt {
	w.Helper()
	r, c, err := s.AcceptClaim(w.ctx, e, w.owner)
	w.ok(err)
	if c != nil {
		w.Fatalf("the event was claimed")
	}
	return r
}

// noon is a platform's time.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// handover finishes a turn that asks to deliver up to n posts, and returns those that it may deliver.
func (w *world) handover(c core.Claim, n int, posts ...core.Post) []core.OutboxRow {
	w.Helper()
	h := &core.Handover{Platform: platform, Limit: n, SentAt: noon}
	w.done(c, core.Finish{Handover: h, Changes: core.Changes{Posts: posts}})
	return h.Rows
}

var beginExamples = []example{
	{"an event that is claimed as it is accepted is claimed as any other", func(w *world) {
		c := w.begun(w.event(core.KindMessage, conversation, ""))
		w.equal("the claim", c,
			core.Claim{
				Owner: w.owner, Key: conversation.Queue(), Fence: 1, Event: w.record(c.Event.Seq),
				Session: conversation.Session(1), Loaded: &core.LoadedSession{},
			})
		w.idle()
		w.ok(w.Release(w.ctx, c))
		again := w.take(c.Event.Seq, minute)
		c.Fence++
		c.Loaded = nil
		w.equal("the next claim", again, c)
		w.changed(again, core.Changes{NewGeneration: true})
		w.equal("the session of the next turn", w.begun(w.event(core.KindMessage, conversation, "")).Session,
			conversation.Session(2))
	}},
	{"the session that comes with a claim is the one that would be loaded", func(w *world) {
		id := w.chat(conversation, 5)
		c := w.begun(w.event(core.KindMessage, conversation, ""))
		loaded := must(w.LoadSession(w.ctx, id, core.Writer{Invocation: c.Event.Invocation}))(w)
		w.equal("the record", c.Loaded.Record, loaded)
		w.equal("its messages", sample.Words(must(c.Loaded.Record.Messages.From(w.ctx, 0))(w)),
			sample.Words(must(loaded.Messages.From(w.ctx, 0))(w)))
		rec := c.Loaded.Record
		h := rec.Messages.Append(core.Message{Role: core.User, Content: core.Text("more")})
		rec.Messages = &h
		w.changed(c, core.Changes{Session: rec})
		w.equal("the number of messages", must(w.LoadSession(w.ctx, id, core.Writer{}))(w).Messages.Len(), 6)
	}},
	{"a signal that is known is not claimed again, though its queue is free", func(w *world) {
		e := w.event(core.KindSignal, conversation, "")
		e.Payload = json.RawMessage(`{"invocation_id": "i"}`)
		c := w.begun(e)
		if c.Event.Invocation != "i" || c.Loaded != nil {
			w.Fatalf("got %+v", c)
		}
		w.done(c, core.Finish{})
		w.equal("the receipt", w.notBegun(w.Store, e), core.Receipt{Seq: c.Event.Seq})
		w.idle()
		w.done(w.begun(w.event(core.KindMessage, conversation, "")), core.Finish{})
	}},
	{"an event is not claimed as it is accepted if another one waits, runs or is delayed before it", func(w *world) {
		a := w.begun(w.event(core.KindMessage, conversation, ""))
		b := w.notBegun(w.Store, w.event(core.KindMessage, conversation, "")).Seq
		w.done(a, core.Finish{})
		c := w.notBegun(w.Store, w.event(core.KindMessage, conversation, "")).Seq
		w.done(w.take(b, minute), core.Finish{Retry: &core.Retry{After: minute}})
		w.notBegun(w.Store, w.event(core.KindMessage, conversation, ""))
		w.idle()
		w.db.Advance(2 * minute)
		w.done(w.take(b, minute), core.Finish{})
		w.take(c, minute)
	}},
	{"an event that is known is not claimed again", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		c := w.begun(e)
		r := w.notBegun(w.Store, e)
		w.equal("the receipt", r, core.Receipt{Seq: c.Event.Seq})
		w.done(c, core.Finish{})
		w.equal("the receipt after its end", w.notBegun(w.Store, e), core.Receipt{Seq: c.Event.Seq})
		w.idle()
	}},
	{"no event is claimed as it is accepted while turns are paused, nor one that is refused", func(w *world) {
		w.ok(w.SetPaused(w.ctx, true))
		seq := w.notBegun(w.Store, w.event(core.KindMessage, conversation, "")).Seq
		w.ok(w.SetPaused(w.ctx, false))
		w.done(w.take(seq, minute), core.Finish{})
		limited := w.WithLimits(core.Limits{PerMinute: 1, Refusal: "too many"})
		refused := w.notBegun(limited, w.event(core.KindMessage, other, "")).Seq
		w.equal("its end", w.record(refused).End.Kind, core.EndRefused)
		w.idle()
	}},
	{"clicks and control words are never claimed as they are accepted", func(w *world) {
		w.notBegun(w.Store, w.event(core.KindClick, conversation, "a"))
		w.notBegun(w.Store, w.event(core.KindControl, conversation, "status"))
		w.equal("controls", len(w.controls(10, minute)), 2)
	}},
	{"what was claimed as it was accepted is given out again when its process dies", func(w *world) {
		c := w.begun(w.event(core.KindMessage, conversation, ""))
		w.restart()
		again := w.take(c.Event.Seq, minute)
		w.equal("the attempt", again.Event.Attempt, 2)
		w.lost(c)
	}},
	{"a claim with an acceptance whose answer is lost is taken back", func(w *world) {
		gone := errors.New("the answer is lost")
		lose := w.WithEngine(func(e sqlstore.Engine) sqlstore.Engine { return losing{e, gone} })
		e := w.event(core.KindMessage, conversation, "")
		if _, _, err := lose.AcceptClaim(w.ctx, e, w.owner); !errors.Is(err, gone) {
			w.Fatalf("got %v", err)
		}
		w.equal("the attempt", w.claim(minute).Event.Attempt, 1)
		w.equal("accepted again", w.notBegun(w.Store, e).Fresh, false)
	}},
	{"a turn's end hands its post over for delivery, in doubt", func(w *world) {
		c := w.begun(w.event(core.KindMessage, conversation, ""))
		rows := w.handover(c, 1, post("a", conversation))
		stored := w.posted("a")
		w.equal("stored", stored.Parts, []core.Part{{InDoubt: true, SentAt: noon}})
		stored.Parts, stored.Doubted = nil, true
		w.equal("handed over", rows, []core.OutboxRow{stored})
		w.equal("due beside it", len(w.deliver(minute)), 0)
		w.sent(rows[0], "ref")
		w.equal("the state", w.posted("a").State, core.RowSent)
		w.equal("due afterwards", len(w.deliver(minute)), 0)
		w.say(conversation, post("b", conversation))
		w.equal("the next one", keys(w.deliver(minute)), []string{"b"})
	}},
	{"only as many posts are handed over as there is room for, one for each destination", func(w *world) {
		c := w.begun(w.event(core.KindMessage, conversation, ""))
		rows := w.handover(c, 2, post("a", conversation), post("b", conversation), post("c", other),
			post("d", "plat:three"))
		w.equal("handed over", keys(rows), []string{"a", "c"})
		w.equal("due", keys(w.deliver(minute)), []string{"d"})
		for _, row := range rows {
			w.sent(row, core.Ref(row.Key))
		}
		w.equal("due afterwards", keys(w.deliver(minute)), []string{"b"})
	}},
	{"nothing overtakes a post that waits or is in flight", func(w *world) {
		w.say(conversation, post("a", conversation))
		c := w.begun(w.event(core.KindMessage, other, ""))
		w.equal("handed over while one waits", len(w.handover(c, 9, post("b", conversation))), 0)
		first := w.first(minute)
		c = w.begun(w.event(core.KindMessage, other, ""))
		w.equal("handed over while one is in flight", len(w.handover(c, 9, post("c", conversation))), 0)
		w.sent(first, "a")
		w.equal("due", keys(w.deliver(minute)), []string{"b"})
	}},
	{"what is drawn when it is sent, and what is for another platform, is not handed over", func(w *world) {
		c := w.begun(w.event(core.KindMessage, conversation, ""))
		elsewhere := post("b", conversation)
		elsewhere.To.Platform = "elsewhere"
		drawn := post("a", conversation)
		drawn.Kind = core.PostSteps
		w.equal("handed over", len(w.handover(c, 9, drawn, elsewhere)), 0)
		w.equal("due", keys(w.deliver(minute)), []string{"a"})
	}},
	{"who ends a turn or a delivery is told what can be claimed then", func(w *world) {
		w.say(conversation, post("a", conversation))
		first := w.first(minute)
		c := w.begun(w.event(core.KindMessage, other, ""))
		w.accept(w.event(core.KindMessage, other, ""))
		var left core.Left
		w.ok(w.Finish(w.ctx, finish(c, core.Finish{
			Left:    &left,
			Changes: core.Changes{Posts: []core.Post{post("b", conversation)}},
		})))
		w.equal("left by the turn", left.Turns, true)
		first.Parts, first.State, first.Shown = []core.Part{{Ref: "ref"}}, core.RowSent, first.Wanted
		more, err := w.ReleasePost(w.ctx, first, 0)
		w.ok(err)
		w.equal("left by the delivery", more, true)
		c, left = w.claim(minute), core.Left{}
		w.ok(w.Finish(w.ctx, finish(c, core.Finish{
			Left:    &left,
			Changes: core.Changes{Posts: []core.Post{post("c", "plat:three")}},
		})))
		w.equal("posts left by the turn", left.Posts, true)
	}},
	{"a post that was handed over is in doubt when its process dies", func(w *world) {
		c := w.begun(w.event(core.KindMessage, conversation, ""))
		row := w.handover(c, 1, post("a", conversation))[0]
		w.restart()
		again := w.first(minute)
		w.equal("the parts", len(again.Parts) == 1 && again.Parts[0].InDoubt && !again.Doubted, true)
		w.fails(w.release(row, 0), core.ClaimLost)
	}},
	{"posts that were handed over with an answer that is lost are due again", func(w *world) {
		gone := errors.New("the answer is lost")
		lose := w.WithEngine(func(e sqlstore.Engine) sqlstore.Engine { return losing{e, gone} })
		c := w.begun(w.event(core.KindMessage, conversation, ""))
		h := &core.Handover{Platform: platform, Limit: 1}
		if err := lose.Finish(w.ctx,
			finish(c, core.Finish{
				Handover: h,
				Changes:  core.Changes{Posts: []core.Post{post("a", conversation)}},
			})); !errors.Is(err, gone) {
			w.Fatalf("got %v", err)
		}
		w.equal("handed over", len(h.Rows), 0)
		w.idle() // this call has it released
		w.equal("due", keys(w.deliver(minute)), []string{"a"})
	}},
}

// losing is an engine that commits, and reports a failure.
type losing struct {
	sqlstore.Engine
	with error
}

func (e losing) Write(ctx context.Context, work sqlstore.Work) error {
	if err := e.Engine.Write(ctx, work); err != nil {
		return fmt.Errorf("nothing was committed: %w", err)
	}
	return e.with
}
