package storagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/storagetest/sample"
)

func contextThatIsOver(w *world) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	return ctx, cancel
}

var claimExamples = []example{
	{"nothing is ready in an empty database", func(w *world) { w.idle() }},
	{"a claim holds everything about the turn", func(w *world) {
		seq := w.message(conversation)
		c := w.claim(minute)
		want := w.record(seq)
		w.equal("the claim", c,
			core.Claim{
				Owner: w.owner, Key: conversation.Queue(), Fence: 1, Event: want, Session: conversation.Session(1),
			})
		if want.Attempt != 1 || want.Session != conversation.Session(1) {
			w.Fatalf("the record is %+v", want)
		}
	}},
	{"messages are claimed in the order of arrival", func(w *world) {
		for _, seq := range []int64{w.message(conversation), w.message(conversation), w.message(conversation)} {
			w.done(w.take(seq, minute), core.Finish{})
		}
		w.idle()
	}},
	{"a reset keeps its place among the messages", func(w *world) {
		a, b, c := w.message(conversation), w.accept(w.event(core.KindReset, conversation, "")), w.message(conversation)
		for _, seq := range []int64{a, b, c} {
			w.done(w.take(seq, minute), core.Finish{})
		}
	}},
	{"one turn at a time in a conversation", func(w *world) {
		w.message(conversation)
		w.message(conversation)
		w.take(w.signal(conversation, "inv"), minute)
		w.signal(conversation, "inv")
		w.idle()
	}},
	{"several conversations are claimed at once", func(w *world) {
		a, b := w.message(conversation), w.message(other)
		w.equal("what is taken", sample.Taken(w.claims(10, minute)), []int64{a, b})
	}},
	{"no more than the limit, the longest waiting first", func(w *world) {
		a, b, c := w.message("plat:c"), w.message("plat:b"), w.message("plat:a")
		w.equal("first", sample.Taken(w.claims(2, minute)), []int64{a, b})
		w.equal("then", sample.Taken(w.claims(2, minute)), []int64{c})
		w.message(other)
		w.equal("with no slot", sample.Taken(w.claims(0, minute)), []int64{})
	}},
	{"signals come before messages, in their order", func(w *world) {
		m, s1, s2 := w.message(conversation), w.signal(conversation, "i1"), w.signal(conversation, "i2")
		for _, seq := range []int64{s1, s2, m} {
			w.done(w.take(seq, minute), core.Finish{})
		}
	}},
	{"a message that backs off delays those behind it, but no signal", func(w *world) {
		m := w.message(conversation)
		w.message(conversation)
		w.done(w.take(m, minute),
			core.Finish{Retry: &core.Retry{After: minute, Category: core.ProviderUnavailable, Cause: "503"}})
		w.idle()
		s := w.signal(conversation, "inv")
		w.done(w.take(s, minute), core.Finish{})
		w.idle()
		w.db.Advance(minute)
		w.take(m, minute)
	}},
	{"a signal that backs off lets others pass", func(w *world) {
		s1 := w.signal(conversation, "i1")
		w.done(w.take(s1, minute), core.Finish{Retry: &core.Retry{After: minute}})
		w.idle()
		s2, m := w.signal(conversation, "i2"), w.message(conversation)
		w.done(w.take(s2, minute), core.Finish{})
		w.done(w.take(m, minute), core.Finish{})
		w.idle()
		w.db.Advance(minute)
		w.take(s1, minute)
	}},
	{"clicks and controls have queues apart from the conversation", func(w *world) {
		m := w.message(conversation)
		w.take(m, minute)
		click, control := w.accept(w.event(core.KindClick, conversation, "a1")),
			w.accept(w.event(core.KindControl, conversation, "stop"))
		second := w.accept(w.event(core.KindClick, conversation, "a2"))
		w.idle() // they are not given out as turns
		got := w.controls(10, minute)
		w.equal("what is taken", sample.Taken(got), []int64{click, control, second})
		w.equal("the queues", []core.QueueKey{got[0].Key, got[1].Key, got[2].Key},
			[]core.QueueKey{"approval:a1", core.QueueKey(conversation) + "!control", "approval:a2"})
		for _, c := range got {
			if c.Session != conversation.Session(1) {
				w.Fatalf("the session is %s", c.Session)
			}
			w.done(c, core.Finish{End: core.End{Kind: core.EndDecided}})
		}
		w.equal("what is left", sample.Taken(w.controls(10, minute)), []int64{})
	}},
	{"clicks on one approval are claimed one after the other", func(w *world) {
		a, b := w.accept(w.event(core.KindClick, conversation, "a")), w.accept(w.event(core.KindClick, other, "a"))
		first := w.controls(10, minute)
		w.equal("first", sample.Taken(first), []int64{a})
		w.done(first[0], core.Finish{})
		w.equal("then", sample.Taken(w.controls(10, minute)), []int64{b})
	}},
	{"while paused no conversation is claimed", func(w *world) {
		w.ok(w.SetPaused(w.ctx, true))
		w.ok(w.SetPaused(w.ctx, true))
		m := w.message(conversation)
		w.signal(other, "i")
		click := w.accept(w.event(core.KindClick, conversation, "a"))
		w.idle()
		w.equal("controls", sample.Taken(w.controls(10, minute)), []int64{click})
		w.restart()
		w.idle()
		w.ok(w.SetPaused(w.ctx, false))
		if got := w.claims(10, minute); len(got) != 2 || got[0].Event.Seq != m {
			w.Fatalf("got %v", sample.Taken(got))
		}
	}},
	{"only what the process has room for is claimed, and the rest stays", func(w *world) {
		a, b, c := w.message(conversation), w.message(other), w.message("plat:third")
		got := w.claimed(core.ClaimRequest{Limit: 10, Scopes: scope, Room: without(b)}, minute)
		w.equal("those with room", sample.Taken(got), []int64{a, c})
		w.equal("the rest", sample.Taken(w.claims(10, minute)), []int64{b})
	}},
	{"a large payload is left out where there is no room, and comes with its claim", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		e.Payload, _ = json.Marshal(strings.Repeat("x", 100_000))
		large := w.accept(e)
		asked := &listening{}
		w.claimed(core.ClaimRequest{Limit: 1, Scopes: scope, Room: asked}, minute)
		if asked.bytes != int64(len(e.Payload)) || asked.read > 0 {
			w.Errorf("asked for %d bytes, of which %d were read", asked.bytes, asked.read)
		}
		got := w.claimed(core.ClaimRequest{Limit: 1, Scopes: scope, Room: without(0)}, minute)
		if len(got) != 1 || got[0].Event.Seq != large || !bytes.Equal(got[0].Event.Payload, e.Payload) {
			w.Errorf("claimed: %v", sample.Taken(got))
		}
	}},
	{"only what the process serves is claimed", func(w *world) {
		a, b := w.message(conversation), w.message(other)
		e := w.event(core.KindMessage, "else:one", "")
		e.Platform = "else"
		c := w.accept(e)
		control := w.accept(w.event(core.KindControl, other, "stop"))
		ask := func(controls bool, scopes ...core.Scope) []int64 {
			got := w.claimed(core.ClaimRequest{Limit: 10, Scopes: scopes, Controls: controls}, minute)
			for _, c := range got {
				w.ok(w.Release(w.ctx, c))
			}
			return sample.Taken(got)
		}
		w.equal("without a scope", ask(false), []int64{})
		w.equal("a platform", ask(false, core.Scope{Platform: platform}), []int64{a, b})
		w.equal("another", ask(false, core.Scope{Platform: "else"}), []int64{c})
		w.equal("one conversation",
			ask(false, core.Scope{Platform: platform, Conversations: []core.ConversationID{other}}), []int64{b})
		w.equal("one conversation's controls",
			ask(true, core.Scope{Platform: platform, Conversations: []core.ConversationID{other}}), []int64{control})
		w.equal("no conversation", ask(false, core.Scope{Platform: platform, Conversations: []core.ConversationID{}}),
			[]int64{})
		w.equal("a conversation of another platform",
			ask(false, core.Scope{Platform: platform, Conversations: []core.ConversationID{"else:one"}}), []int64{})
		both := ask(false, core.Scope{Platform: platform}, core.Scope{Platform: "else"}, core.Scope{Platform: platform})
		slices.Sort(both)
		w.equal("both, once", both, []int64{a, b, c})
	}},
	{"a clock that steps back delays nothing that is due", func(w *world) {
		m := w.message(conversation)
		w.db.Advance(-48 * time.Hour)
		s := w.signal(other, "inv")
		w.equal("what is taken", sample.Taken(w.claims(10, minute)), []int64{m, s})
	}},
	{"people take turns, however many messages one of them sends", func(w *world) {
		say := func(n int, by core.Actor) int64 {
			e := w.event(core.KindMessage, core.ConversationID(fmt.Sprintf("plat:%s/%d", by.Name, n)), "")
			e.Actor = by
			return w.accept(e)
		}
		var anns []int64
		for n := range 6 {
			anns = append(anns, say(n, ann))
		}
		w.equal("the first", sample.Taken(w.claims(2, minute)), anns[:2])
		bobs := []int64{say(0, bob), say(1, bob)}
		cleos := say(0, cleo)
		var order []int64
		for range 7 {
			order = append(order, sample.Taken(w.claims(1, minute))...)
		}
		w.equal("the order", order, []int64{anns[2], bobs[0], cleos, anns[3], bobs[1], anns[4], anns[5]})
	}},
	{"nobody is overtaken forever by people who send again once they are answered", func(w *world) {
		say := func(by string) int64 {
			e := w.event(core.KindMessage, core.ConversationID("plat:"+by), "")
			e.Actor = core.Actor{ID: "plat:" + by}
			return w.accept(e)
		}
		say("ann")
		e := w.event(core.KindMessage, "plat:ann's other", "")
		e.Actor = core.Actor{ID: "plat:ann"}
		second := w.accept(e)
		for n := range 5 {
			say(fmt.Sprint("other", n))
		}
		held := w.claims(2, minute)
		for range 10 {
			if held[0].Event.Seq == second {
				return
			}
			w.done(held[0], core.Finish{})
			if by, other := strings.CutPrefix(held[0].Event.Actor.ID, "plat:other"); other {
				say("other" + by)
			}
			held = append(held[1:], w.claims(1, minute)...)
		}
		w.Fatalf("ten turns of others came before it")
	}},
	{"conversations that wait are counted, not those that run", func(w *world) {
		waiting := func() int { return must(w.Waiting(w.ctx))(w) }
		w.equal("before", waiting(), 0)
		w.message(conversation)
		w.message(conversation)
		w.message(other)
		w.equal("two", waiting(), 2)
		w.equal("taken", len(w.claims(1, minute)), 1)
		w.equal("one runs", waiting(), 1)
	}},
	{"suspects that wait for each other are not overdue", func(w *world) {
		w.message(conversation)
		overdue := func() bool { return must(w.Overdue(w.ctx, []string{platform}, minute))(w) }
		w.db.Advance(2 * minute)
		w.equal("before it is a suspect", overdue(), true)
		for range 2 {
			w.claim(minute)
			w.restart()
		}
		w.equal("as a suspect", overdue(), false)
	}},
	{"a clock that steps back makes nobody exceed their limit", func(w *world) {
		limited := w.WithLimits(core.Limits{PerMinute: 3, Refusal: "too many"})
		for n := range 9 {
			if n == 6 {
				w.db.Advance(-time.Hour)
			}
			seq := must(limited.Accept(w.ctx, w.event(core.KindMessage, conversation, "")))(w).Seq
			w.equal(fmt.Sprint("message ", n), w.record(seq).End.Kind, core.EndKind(""))
			w.db.Advance(minute / 2)
		}
	}},
	{"who sends more than their limit is refused, and told so once a minute", func(w *world) {
		limited := w.WithLimits(core.Limits{PerMinute: 3, Refusal: "too many"})
		say := func(by core.Actor) core.EventRecord {
			e := w.event(core.KindMessage, other, "")
			e.Actor = by
			r := must(limited.Accept(w.ctx, e))(w)
			again := must(limited.Accept(w.ctx, e))(w)
			w.equal("a repeated delivery", again, core.Receipt{Seq: r.Seq})
			return w.record(r.Seq)
		}
		refused := func(e core.EventRecord) bool { return e.End.Kind == core.EndRefused && !e.EndedAt.IsZero() }
		for n := range 6 {
			w.equal(fmt.Sprint("message ", n), refused(say(ann)), n >= 3)
		}
		w.equal("another's", refused(say(bob)), false)
		posts := must(w.ListPosts(w.ctx, nil, "", 0))(w)
		if len(posts) != 1 || posts[0].Text != "too many" || posts[0].To.Channel != string(other) {
			w.Fatalf("got %+v", posts)
		}
		w.db.Advance(minute)
		w.equal("a minute later", refused(say(ann)), false)
	}},
	{"who has many messages waiting is refused until some are answered", func(w *world) {
		limited := w.WithLimits(core.Limits{Waiting: 2})
		say := func() core.EndKind {
			return w.record(must(limited.Accept(w.ctx, w.event(core.KindMessage, conversation, "")))(w).Seq).End.Kind
		}
		w.equal("two", []core.EndKind{say(), say()}, []core.EndKind{"", ""})
		w.equal("the third", say(), core.EndRefused)
		w.done(w.claim(minute), core.Finish{})
		w.equal("after an answer", say(), core.EndKind(""))
	}},
	{"a platform that counts messages a minute itself is exempt from that limit alone", func(w *world) {
		say := func(l core.Limits) core.EndKind {
			return w.record(
				must(w.WithLimits(l).Accept(w.ctx, w.event(core.KindMessage, conversation, "")))(w).Seq).End.Kind
		}
		exempt := core.Limits{PerMinute: 1, Exempt: []string{"elsewhere", platform}}
		w.equal("exempt", []core.EndKind{say(exempt), say(exempt), say(exempt)}, []core.EndKind{"", "", ""})
		w.equal("while others wait", say(core.Limits{PerMinute: 9, Waiting: 2, Exempt: exempt.Exempt}), core.EndRefused)
		w.equal("another platform is exempt", say(core.Limits{PerMinute: 1, Exempt: []string{"elsewhere"}}),
			core.EndRefused)
	}},
	{"clicks on one approval from several platforms are claimed by those that serve them", func(w *world) {
		w.suspend(conversation, "a", core.Rule{Quorum: 3})
		press := func(from string, l core.ConversationID) int64 {
			e := w.event(core.KindClick, l, "a")
			e.Platform = from
			return w.accept(e)
		}
		take := func(scopes []core.Scope, want ...int64) {
			w.Helper()
			got := w.claimed(core.ClaimRequest{Limit: 5, Scopes: scopes, Controls: true}, minute)
			w.equal("what is taken", sample.Taken(got), append([]int64{}, want...))
			for _, c := range got {
				w.done(c, core.Finish{End: core.End{Kind: core.EndDecided}})
			}
		}
		elsewhere := []core.Scope{{Platform: "elsewhere"}}
		first, second, third := press(platform, conversation), press("elsewhere", "elsewhere:x"), press(platform, other)
		take(elsewhere)
		take(scope, first)
		take(scope)
		take([]core.Scope{{Platform: platform, Conversations: []core.ConversationID{conversation}}})
		w.equal("the queue's platform", must(w.Queue(w.ctx, 0))(w).Entries[0].Platform, "elsewhere")
		take([]core.Scope{{Platform: "elsewhere", Conversations: []core.ConversationID{"elsewhere:x"}}}, second)
		take(elsewhere)
		take(scope, third)
		fourth := press("elsewhere", "elsewhere:x") // the queue is empty, and was another platform's
		take(scope)
		take(elsewhere, fourth)
	}},
	{
		"a click is not claimed by a process that does not serve it, even if its queue was found by an outdated look",
		func(w *world) {
			w.suspend(conversation, "a", core.Rule{})
			seq := w.accept(w.event(core.KindClick, conversation, "a"))
			outdated := w.WithEngine(func(e sqlstore.Engine) sqlstore.Engine { return lookingElsewhere{e} })
			for _, serves := range []core.Scope{
				{Platform: "elsewhere"}, {Platform: platform, Conversations: []core.ConversationID{other}},
			} {
				got := must(
					outdated.Claim(w.ctx,
						core.ClaimRequest{Owner: w.owner, Limit: 1, Scopes: []core.Scope{serves}, Controls: true}))(w)
				w.equal("what is taken", sample.Taken(got), []int64{})
			}
			w.equal("by the right one", sample.Taken(w.controls(1, minute)), []int64{seq})
		},
	},
	{"a claim needs an owner", func(w *world) {
		_, err := w.Claim(w.ctx, core.ClaimRequest{Limit: 1, Scopes: scope})
		w.fails(err, core.Invalid)
	}},
	{"of many concurrent claims, one gets the conversation", func(w *world) {
		views := []*sqlstore.Store{w.Store, w.view(), w.view()}
		owners := []string{w.owner, w.register(views[1]), w.register(views[2])}
		for range 10 {
			w.message(conversation)
			w.message(other)
			var mu sync.Mutex
			var got []core.Claim
			var wg sync.WaitGroup
			for i, s := range views {
				wg.Go(func() {
					c, err := s.Claim(w.ctx, core.ClaimRequest{Owner: owners[i], Limit: 2, Scopes: scope})
					if err != nil {
						w.Errorf("claiming: %v", err)
					}
					mu.Lock()
					defer mu.Unlock()
					got = append(got, c...)
				})
			}
			wg.Wait()
			if len(got) != 2 || got[0].Key == got[1].Key {
				w.Fatalf("got %+v", got)
			}
			w.done(got[0], core.Finish{})
			w.done(got[1], core.Finish{})
		}
	}},
}

// lookingElsewhere is an engine that finds the queues of the world's scope, whatever it is asked for.
type lookingElsewhere struct{ sqlstore.Engine }

func (e lookingElsewhere) ReadyQueues(t *sqlstore.Tx, r core.ClaimRequest, take bool) ([]string, error) {
	r.Scopes = scope
	return e.Engine.ReadyQueues(t, r, take)
}

// listening has no room, and notes for what it was asked.
type listening struct{ bytes, read int64 }

func (l *listening) Admits(e core.EventRecord, payload int64) bool {
	l.bytes, l.read = payload, int64(len(e.Payload))
	return false
}

// without has room for all events but one.
type without int64

func (r without) Admits(e core.EventRecord, _ int64) bool { return e.Seq != int64(r) }
