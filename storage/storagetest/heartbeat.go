package storagetest

import (
	"cmp"
	"slices"
	"time"

	"gatehouse/core"
	"gatehouse/storage/storagetest/sample"
)

// fenced makes all the calls that require the claim to hold its queue.
func (w *world) fenced(c core.Claim) map[string]error {
	_, stop := w.StopRequested(w.ctx, c)
	_, begin := w.BeginIntent(w.ctx, c, core.Intent{Approval: "a"})
	return map[string]error{
		"StopRequested": stop,
		"Release":       w.Release(w.ctx, c),
		"Finish":        w.Finish(w.ctx, finish(c, core.Finish{})),
		"Retry":         w.Finish(w.ctx, finish(c, core.Finish{Retry: &core.Retry{}})),
		"SaveSession":   w.SaveSession(w.ctx, c, &core.SessionRecord{ID: c.Session}),
		"BeginIntent":   begin,
		"KeepIntent":    w.KeepIntent(w.ctx, c, "a", ""),
		"FinishIntent":  w.FinishIntent(w.ctx, c, "a", core.ToolResult{}),
		"Say": w.AddPosts(w.ctx, c,
			[]core.Post{{Key: "k", Kind: core.PostNotice, To: core.Address{Platform: platform}}}),
	}
}

// lost checks that all of them are refused and change nothing.
func (w *world) lost(c core.Claim) {
	w.Helper()
	before := w.record(c.Event.Seq)
	for name, err := range w.fenced(c) {
		if core.CategoryOf(err) != core.ClaimLost {
			w.Fatalf("%s gave %v, want lease_lost", name, err)
		}
	}
	w.equal("the event", w.record(c.Event.Seq), before)
	if rows := must(w.ListPosts(w.ctx, nil, "", 0))(w); len(rows) > 0 {
		w.Fatalf("posts were stored: %+v", rows)
	}
	if rec := must(w.LoadSession(w.ctx, c.Session, core.Writer{}))(w); rec != nil {
		w.Fatalf("a session was stored: %+v", rec)
	}
}

var heartbeatExamples = []example{
	{"owner names differ, and are reused only when their holder is proven dead", func(w *world) {
		second := w.view()
		a, b := w.owner, w.register(second)
		if a == "" || a == b {
			w.Fatalf("owners %q and %q", a, b)
		}
		if c := must(second.Register(w.ctx, "../another one", 0))(w); c == a || c == b {
			w.Fatalf("owner %q", c)
		}
		w.ok(w.Close())
		third := w.view()
		switch c := w.register(third); {
		case w.db.Orphans && (c == a || c == b):
			w.Fatalf("owner %q, whose holder may live", c)
		case !w.db.Orphans && c != a:
			w.Fatalf("got %q, want the free %q", c, a)
		}
	}},
	{"a restarted process gets its claims back, at once if the death is proven", func(w *world) {
		a, b := w.message(conversation), w.message(other)
		w.claims(10, minute)
		w.crash()
		if w.db.Orphans {
			w.idle()
			w.beat(sample.DeadAfter)
		}
		got := w.claims(10, minute)
		w.equal("what is taken", sample.Taken(got), []int64{a, b})
		if got[0].Event.Attempt != 2 || got[0].Fence != 2 {
			w.Fatalf("got %+v", got[0])
		}
	}},
	{"a live process keeps its claims when another starts", func(w *world) {
		w.message(conversation)
		c := w.claim(minute)
		second := w.view()
		owner := w.register(second)
		got := must(second.Claim(w.ctx, core.ClaimRequest{Owner: owner, Limit: 1, Scopes: scope}))(w)
		w.equal("what is taken", sample.Taken(got), []int64{})
		w.done(c, core.Finish{})
	}},
	{"a dead owner's conversation can be taken over, and the first holder loses it", func(w *world) {
		seq := w.message(conversation)
		first := w.take(seq, over)
		second := w.take(seq, minute)
		if second.Fence <= first.Fence || second.Event.Attempt != 2 ||
			second.Event.Invocation != first.Event.Invocation {
			w.Fatalf("got %+v after %+v", second, first)
		}
		w.lost(first)
		w.done(second, core.Finish{})
		w.lost(first)
		w.lost(second)
	}},
	{"an owner is dead once it is silent while another one beats", func(w *world) {
		silent := must(w.view().Register(w.ctx, "test", 0))(w)
		seq := w.message(conversation)
		c := must(w.Claim(w.ctx, core.ClaimRequest{Owner: silent, Limit: 1, Scopes: scope}))(w)[0]
		w.beat(sample.DeadAfter - 1)
		w.idle()
		w.ok(w.Beat(w.ctx, silent)) // just in time
		w.beat(sample.DeadAfter - 1)
		w.idle()
		w.db.Advance(48 * time.Hour)
		w.idle() // no clock ends it
		w.beat(1)
		w.take(seq, minute)
		w.lost(c)
	}},
	{"an owner that was taken for dead goes on, and is missed when it dies", func(w *world) {
		late := must(w.view().Register(w.ctx, "test", 0))(w)
		w.beat(2 * sample.DeadAfter)
		seq := w.message(conversation)
		c := must(w.Claim(w.ctx, core.ClaimRequest{Owner: late, Limit: 1, Scopes: scope}))(w)[0]
		w.idle()
		w.beat(sample.DeadAfter)
		w.take(seq, minute)
		w.lost(c)
	}},
	{"two owners that beat never take each other for dead", func(w *world) {
		w.register(w.view())
		c := w.take(w.message(conversation), minute)
		w.beat(3 * sample.DeadAfter)
		w.done(c, core.Finish{})
	}},
	{"an owner sees all that it holds", func(w *world) {
		a, b := w.take(w.message(conversation), minute), w.take(w.message(other), minute)
		must(w.Stop(w.ctx, other, ann))(w)
		hold := func(c core.Claim, stop bool) core.Hold {
			return core.Hold{Key: c.Key, Event: c.Event.Seq, Fence: c.Fence, Stop: stop}
		}
		held := func(stops bool) []core.Hold {
			got := must(w.Holds(w.ctx, w.owner, stops))(w)
			slices.SortFunc(got, func(a, b core.Hold) int { return cmp.Compare(a.Event, b.Event) })
			return got
		}
		w.equal("both", held(false), []core.Hold{hold(a, false), hold(b, true)})
		w.equal("the one that is to stop", held(true), []core.Hold{hold(b, true)})
		w.done(a, core.Finish{})
		w.equal("the other", held(false), []core.Hold{hold(b, true)})
		w.done(b, core.Finish{})
		w.equal("none to stop", held(true), []core.Hold(nil))
	}},
	{"an event is a suspect once two processes died over it, and is asked for apart", func(w *world) {
		seq, fresh := w.message(conversation), w.message(other)
		for range 2 {
			w.equal("not yet", sample.Taken(w.claims(1, over)), []int64{seq})
		}
		w.equal("the others", sample.Taken(w.claimed(core.ClaimRequest{Limit: 10, Scopes: scope}, minute)),
			[]int64{fresh})
		w.equal("one at a later attempt",
			sample.Taken(w.claimed(core.ClaimRequest{Limit: 10, Scopes: scope, Suspects: true, Attempts: 2}, minute)),
			[]int64{})
		w.equal("the suspect",
			sample.Taken(w.claimed(core.ClaimRequest{Limit: 10, Scopes: scope, Suspects: true, Attempts: 3}, minute)),
			[]int64{seq})
	}},
	{"fences rise with each claim of a conversation", func(w *world) {
		last := int64(0)
		for range 3 {
			seq := w.message(conversation)
			for range 2 {
				c := w.take(seq, over)
				if c.Fence <= last {
					w.Fatalf("fence %d after %d", c.Fence, last)
				}
				last = c.Fence
			}
			c := w.take(seq, minute)
			w.done(c, core.Finish{})
			last = c.Fence
		}
	}},
	{"a claim with another owner or event is refused", func(w *world) {
		c := w.take(w.message(conversation), minute)
		liar, wrong, none := c, c, c
		liar.Owner, wrong.Event.Seq, none.Owner = "liar", 99, ""
		w.lost(liar)
		w.lost(none)
		w.fails(w.Finish(w.ctx, finish(wrong, core.Finish{})), core.ClaimLost)
		w.done(c, core.Finish{})
	}},
	{"a released turn is as if it had not been claimed", func(w *world) {
		seq := w.message(conversation)
		before := w.record(seq)
		c := w.take(seq, minute)
		w.ok(w.Release(w.ctx, c))
		after := w.record(seq)
		after.Session = before.Session
		w.equal("the event", after, before)
		w.lost(c)
		if again := w.take(seq, minute); again.Event.Attempt != 1 {
			w.Fatalf("attempt %d", again.Event.Attempt)
		}
	}},
	{"attempts count only crashes", func(w *world) {
		seq := w.message(conversation)
		w.take(seq, over)
		w.take(seq, over)
		w.ok(w.Release(w.ctx, w.take(seq, minute)))
		w.done(w.take(seq, minute), core.Finish{Retry: &core.Retry{Category: core.ProviderTimeout, Cause: "slow"}})
		got := w.record(seq)
		if got.Attempt != 2 || got.Retries != 1 ||
			got.End != (core.End{Category: core.ProviderTimeout, Cause: "slow"}) || !got.EndedAt.IsZero() {
			w.Fatalf("got %+v", got)
		}
		if c := w.take(seq, minute); c.Event.Attempt != 3 || c.Event.Retries != 1 {
			w.Fatalf("got %+v", c.Event)
		}
	}},
	{"a turn that backs off comes back in time", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, minute)
		w.done(c, core.Finish{Retry: &core.Retry{After: minute}})
		if got := w.record(seq).NotBefore; !got.After(c.Event.AcceptedAt.Add(minute)) {
			w.Fatalf("not before %s", got)
		}
		w.db.Advance(minute / 2)
		w.idle()
		w.db.Advance(minute / 2)
		w.take(seq, minute)
	}},
	{"a signal that arrived meanwhile is claimed before a dead holder's turn", func(w *world) {
		m := w.message(conversation)
		w.take(m, over)
		s := w.signal(conversation, "inv")
		w.done(w.take(s, minute), core.Finish{})
		if c := w.take(m, minute); c.Event.Attempt != 2 {
			w.Fatalf("attempt %d", c.Event.Attempt)
		}
	}},
	{"a running turn is asked to stop, and no other", func(w *world) {
		w.done(w.take(w.message(conversation), minute), core.Finish{})
		seq := w.message(conversation)
		c := w.take(seq, minute)
		if must(w.StopRequested(w.ctx, c))(w).Stop {
			w.Fatal("nobody asked")
		}
		w.equal("what came of it", must(w.Stop(w.ctx, conversation, ann))(w), core.StopResult{Running: true})
		if !must(w.StopRequested(w.ctx, c))(w).Stop {
			w.Fatal("it was asked")
		}
		w.done(c, core.Finish{})
		if c = w.take(w.message(conversation), minute); must(w.StopRequested(w.ctx, c))(w).Stop {
			w.Fatal("the next turn was not asked")
		}
	}},
	{"a request to stop outlives its holder", func(w *world) {
		seq := w.message(conversation)
		w.take(seq, minute)
		must(w.Stop(w.ctx, conversation, ann))(w)
		w.restart()
		if c := w.take(seq, minute); !must(w.StopRequested(w.ctx, c))(w).Stop {
			w.Fatal("the request is lost")
		}
	}},
	{"stop withdraws a message that backs off", func(w *world) {
		first, second := w.message(conversation), w.message(conversation)
		w.done(w.take(first, minute), core.Finish{Retry: &core.Retry{After: minute, Category: core.ProviderTimeout}})
		w.equal("what came of it", must(w.Stop(w.ctx, conversation, ann))(w), core.StopResult{Withdrawn: first})
		if got := w.record(first); got.End.Kind != core.EndWithdrawn || got.EndedAt.IsZero() {
			w.Fatalf("got %+v", got)
		}
		w.take(second, minute)
	}},
	{"stop does not withdraw an event that only waits its turn", func(w *world) {
		w.equal("with nothing", must(w.Stop(w.ctx, conversation, ann))(w), core.StopResult{})
		seq := w.message(conversation)
		w.equal("with a message", must(w.Stop(w.ctx, conversation, ann))(w), core.StopResult{})
		w.take(seq, minute)
	}},
}

// setback is how far the clock is set back in these examples.
const setback = time.Hour

// delays are waits that are legitimate, however long; each begins before the clock is set back.
var delays = []time.Duration{time.Second, 5 * minute, 24 * time.Hour}

var setbackExamples = []example{
	{"a post waits no longer than it was to wait", func(w *world) {
		for _, delay := range delays {
			w.say(conversation, post(delay.String(), conversation))
			w.ok(w.release(w.first(minute), delay))
			w.equal("before", w.deliver(minute), []core.OutboxRow(nil))
			w.db.Advance(-setback)
			w.sent(w.first(minute), "after the clock was set back")
		}
	}},
	{"a post of a conversation that a console serves, too", func(w *world) {
		w.say(conversation, post("a", conversation))
		w.ok(w.release(w.first(minute), minute))
		w.db.Advance(-setback)
		own := core.PostRequest{
			Owner: w.owner, Limit: 1,
			Scopes: []core.Scope{{Platform: platform, Conversations: []core.ConversationID{conversation}}},
		}
		w.equal("posts", keys(w.delivered(own, minute)), []string{"a"})
	}},
	{"a long delay that began after the clock was set back is kept", func(w *world) {
		w.db.Advance(-setback)
		for _, delay := range delays {
			w.say(conversation, post(delay.String(), conversation))
			w.ok(w.release(w.first(minute), delay))
			w.db.Advance(delay - time.Second/2)
			w.equal("before its time", w.deliver(minute), []core.OutboxRow(nil))
			w.db.Advance(time.Second)
			w.sent(w.first(minute), "in time")
		}
	}},
	{"a clock that was set back by less than has passed changes nothing", func(w *world) {
		w.say(conversation, post("a", conversation))
		w.ok(w.release(w.first(minute), 24*time.Hour))
		w.db.Advance(2 * setback)
		w.db.Advance(-setback)
		w.equal("posts", w.deliver(minute), []core.OutboxRow(nil))
	}},
	{"a card that was pressed is redrawn", func(w *world) {
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		w.sent(row, "1")
		w.say(conversation, post("a", conversation))
		w.ok(w.release(w.first(minute), time.Second))
		w.db.Advance(-setback)
		w.equal("posts", keys(w.deliver(minute)), []string{"a"})
	}},
	{"an event waits no longer than it was to wait, a message and a signal", func(w *world) {
		for _, delay := range delays {
			for _, accept := range []func() int64{
				func() int64 { return w.message(conversation) }, func() int64 { return w.signal(other, "inv") },
			} {
				seq := accept()
				c := w.claim(minute)
				w.ok(
					w.Finish(w.ctx,
						core.Finish{Claim: c, Retry: &core.Retry{After: delay, Category: core.ProviderUnavailable}}))
				w.idle()
				w.db.Advance(-setback)
				w.done(w.take(seq, minute), core.Finish{})
			}
		}
	}},
	{"a claim of a process that died ends", func(w *world) {
		held := must(w.AcquireLease(w.ctx, "shard", "dead", minute))(w)
		w.equal("held", held, true)
		w.db.Advance(-setback)
		w.equal("taken over", must(w.AcquireLease(w.ctx, "shard", "next", minute))(w), true)
		w.equal("and kept", must(w.AcquireLease(w.ctx, "shard", "dead", minute))(w), false)
	}},
	{"a limited name can be used, and is limited again", func(w *world) {
		for range 2 {
			for range 2 {
				w.equal("wait", must(w.TakeToken(w.ctx, "name", 2, minute))(w), time.Duration(0))
			}
			if wait := must(w.TakeToken(w.ctx, "name", 2, minute))(w); wait <= 0 || wait > minute {
				w.Errorf("the third use waits for %s", wait)
			}
			w.db.Advance(-setback)
		}
	}},
}
