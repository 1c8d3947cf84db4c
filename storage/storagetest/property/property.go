// Package property compares a store with a model of it after every step of random histories. For example, a worker
// claims a message, another one takes it for dead, and the first one's Finish must fail and change nothing (silence).
package property

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/storagetest"
	"gatehouse/storage/storagetest/sample"
)

// Run drives random histories of three workers, each with its own view, and compares the store with the model
// after every step. All rounds use one database, each with its own platform, so a round also runs next to what earlier
// rounds left.
func Run(t *testing.T, open storagetest.Opener, rounds int) {
	for name, value := range map[string]string{
		"rapid.checks": strconv.Itoa(rounds), "rapid.steps": "120", "rapid.nofailfile": "true",
	} {
		if err := flag.Set(name, value); err != nil {
			t.Fatalf("setting %s: %v", name, err)
		}
	}
	p := &property{outer: t, db: open(t), workers: make([]worker, 3), seen: map[string]int{}}
	for i := range p.workers {
		p.start(i)
	}
	defer func() {
		for _, w := range p.workers {
			w.store.Close()
		}
	}()
	rapid.Check(t, func(rt *rapid.T) {
		p.begin(rt)
		rt.Repeat(p.actions())
		p.drain(rt)
	})
	for _, what := range []string{
		"decision", "expiry", "click in time", "resume", "tool run", "take-over", "late call", "attempt with leftovers",
		"withdrawal", "stop", "second try", "abandon", "deletion", "request again", "call not_run", "call unknown",
		"claim at once", "hand-over", "arrival",
	} {
		if rounds >= 300 && p.seen[what] == 0 {
			t.Errorf("in %d rounds there was no %s", rounds, what)
		}
	}
	t.Logf("what came about: %v", p.seen)
}

// actions returns what may happen. The numbers are weights: turns should make progress between the accidents.
func (p *property) actions() map[string]func(*rapid.T) {
	all := map[string]func(*rapid.T){"": p.check}
	for _, a := range []struct {
		often int
		name  string
		do    func(*rapid.T)
	}{
		{3, "message", p.message}, {3, "message and claim", p.messageAndClaim}, {3, "deliver", p.deliver},
		{4, "arrive", p.arrive}, {1, "reset", p.reset}, {1, "control", p.control}, {3, "click", p.click},
		{1, "repeat", p.repeat},
		{6, "claim", p.claim}, {3, "claim controls", p.claimControls}, {1, "beat", p.beat}, {2, "silence", p.silence},
		{1, "restart", p.restart},
		{3, "save", p.save}, {3, "reply", p.reply}, {5, "suspend", p.suspend}, {2, "fail", p.fail},
		{2, "new", p.newGeneration}, {2, "retry", p.retry},
		{1, "hand back", p.handBack}, {4, "vote", p.vote}, {3, "vote by click", p.voteByClick}, {3, "expire", p.expire},
		{1, "cancel", p.cancel},
		{4, "begin", p.beginIntent}, {2, "stop", p.stop}, {1, "again", p.again}, {2, "ask again", p.askAgain},
		{1, "drop", p.drop}, {1, "halt", p.halt}, {1, "pass", p.pass},
		{1, "delete", p.delete},
	} {
		for i := range a.often {
			all[fmt.Sprint(a.name, " ", i)] = a.do
		}
	}
	return all
}

// property is the state of one round.
type property struct {
	outer    *testing.T
	db       storagetest.Database
	workers  []worker
	round    int
	platform string
	m        *model
	posts    modelPosts
	claims   []core.Claim // all that were ever given out in this round: late ones must be refused
	count    int
	audited  int64
	seen     map[string]int // how often what a history should have came about
	hash     string
}

type worker struct {
	store *sqlstore.Store
	owner string
}

const hour = time.Hour

var ctx = context.Background()

func (p *property) start(i int) {
	p.workers[i].store = p.db.Open(p.outer)
	owner, err := p.workers[i].store.Register(ctx, "worker", 0)
	if err != nil {
		p.outer.Fatalf("registering: %v", err)
	}
	p.workers[i].owner = owner
}

func (p *property) begin(rt *rapid.T) {
	p.round++
	p.platform, p.m, p.claims = fmt.Sprintf("p%d", p.round), newModel(), nil
	p.posts = newModelPosts()
	p.ok(rt, p.any(rt).SetPaused(ctx, false))
}

func (p *property) ok(rt *rapid.T, err error) {
	rt.Helper()
	if err != nil {
		rt.Fatalf("unexpected error: %v", err)
	}
}

func (p *property) equal(rt *rapid.T, what string, got, want any) {
	rt.Helper()
	if diff := cmp.Diff(want, got, sample.Same); diff != "" {
		rt.Fatalf("%s is not as the model says (-want +got):\n%s", what, diff)
	}
}

// any returns the view of some worker.
func (p *property) any(rt *rapid.T) *sqlstore.Store {
	return p.workers[rapid.IntRange(0, len(p.workers)-1).Draw(rt, "worker")].store
}

// of returns the view of the worker that makes an owner's claims, since a process knows what was handed over to it;
// that of any if the owner is gone.
func (p *property) of(rt *rapid.T, owner string) *sqlstore.Store {
	for _, w := range p.workers {
		if w.owner == owner {
			return w.store
		}
	}
	return p.any(rt)
}

func (p *property) conversation(rt *rapid.T) core.ConversationID {
	return core.ConversationID(p.platform + ":" + rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "conversation"))
}

func (p *property) approval(rt *rapid.T) core.ApprovalID {
	var ids []core.ApprovalID
	for id := range p.m.approvals {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		rt.Skip("no approval")
	}
	slices.Sort(ids)
	return rapid.SampledFrom(ids).Draw(rt, "approval")
}

func (p *property) event(kind core.Kind, l core.ConversationID, subject string) core.Event {
	p.count++
	return core.Event{
		Platform: p.platform, ID: strconv.Itoa(p.count), Conversation: l, Body: core.BodyOf(kind, subject),
		Actor:   sample.Ann,
		Address: core.Address{Platform: p.platform, Channel: string(l)}, Payload: json.RawMessage(`{}`),
	}
}

func (p *property) accept(rt *rapid.T, e core.Event) {
	r, err := p.any(rt).Accept(ctx, e)
	p.ok(rt, err)
	if !r.Fresh || p.m.events[r.Seq] != nil {
		rt.Fatalf("a new event has the receipt %+v", r)
	}
	p.learn(rt, r.Seq, e)
}

// learn adds an event that the store created to the model.
func (p *property) learn(rt *rapid.T, seq int64, e core.Event) *modelEvent {
	for known := range p.m.events {
		if known >= seq {
			rt.Fatalf("event %d came after %d", seq, known)
		}
	}
	found, err := p.any(rt).Events(ctx, core.EventFilter{Seq: seq})
	p.ok(rt, err)
	me := &modelEvent{Event: e, seq: seq, invocation: found[0].Invocation, epoch: p.m.epoch}
	p.m.events[seq] = me
	return me
}

func (p *property) message(rt *rapid.T) {
	p.accept(rt, p.event(core.KindMessage, p.conversation(rt), ""))
}

// messageAndClaim accepts a message, which is claimed at once if its conversation is free and turns are not paused.
func (p *property) messageAndClaim(rt *rapid.T) {
	w := p.workers[rapid.IntRange(0, len(p.workers)-1).Draw(rt, "worker")]
	e := p.event(core.KindMessage, p.conversation(rt), "")
	free := !p.m.halted && !p.m.conversation(e.QueueKey()).held() && len(p.m.waiting(e.QueueKey())) == 0
	r, c, err := w.store.AcceptClaim(ctx, e, w.owner)
	p.ok(rt, err)
	if !r.Fresh || (c != nil) != free {
		rt.Fatalf("a new event has the receipt %+v and the claim %v; its conversation is free: %v", r, c, free)
	}
	p.learn(rt, r.Seq, e)
	if c != nil {
		p.seen["claim at once"]++
		p.claimed(rt, *c)
	}
}

func (p *property) reset(rt *rapid.T) { p.accept(rt, p.event(core.KindReset, p.conversation(rt), "")) }
func (p *property) control(rt *rapid.T) {
	p.accept(rt, p.event(core.KindControl, p.conversation(rt), "stop"))
}

func (p *property) click(rt *rapid.T) {
	id := p.approval(rt)
	e := p.event(core.KindClick, p.m.approvals[id].conversation, string(id))
	e.Actor = rapid.SampledFrom([]core.Actor{sample.Ann, sample.Bob, sample.Cleo}).Draw(rt, "actor")
	p.accept(rt, e)
}

func (p *property) repeat(rt *rapid.T) {
	e := p.some(rt, func(*modelEvent) bool { return true })
	r, err := p.any(rt).Accept(ctx, e.Event)
	p.ok(rt, err)
	p.equal(rt, "the receipt of a known event", r, core.Receipt{Seq: e.seq})
}

// some draws one of the events that fit.
func (p *property) some(rt *rapid.T, fits func(*modelEvent) bool) *modelEvent {
	var all []int64
	for seq, e := range p.m.events {
		if fits(e) {
			all = append(all, seq)
		}
	}
	if len(all) == 0 {
		rt.Skip("no such event")
	}
	slices.Sort(all)
	return p.m.events[rapid.SampledFrom(all).Draw(rt, "event")]
}

func (p *property) claim(rt *rapid.T)         { p.take(rt, false) }
func (p *property) claimControls(rt *rapid.T) { p.take(rt, true) }

// take claims and checks the result against the model: the right event of each conversation, up to the limit.
func (p *property) take(rt *rapid.T, controls bool) {
	w := p.workers[rapid.IntRange(0, len(p.workers)-1).Draw(rt, "worker")]
	limit := rapid.IntRange(1, 4).Draw(rt, "limit")
	suspects := !controls && rapid.Bool().Draw(rt, "suspects")
	ready := p.m.ready(controls, suspects)
	got, err := w.store.Claim(ctx,
		core.ClaimRequest{
			Owner: w.owner, Limit: limit, Scopes: []core.Scope{{Platform: p.platform}}, Controls: controls,
			Suspects: suspects,
		})
	p.ok(rt, err)
	if len(got) != min(limit, len(ready)) {
		rt.Fatalf("got %v, want %d of %v", sample.Taken(got), limit, ready)
	}
	for _, c := range got {
		if !ready[c.Event.Seq] {
			rt.Fatalf("got event %d, want one of %v", c.Event.Seq, ready)
		}
		p.claimed(rt, c)
	}
}

// claimed takes note of a claim.
func (p *property) claimed(rt *rapid.T, c core.Claim) {
	e, l := p.m.events[c.Event.Seq], p.m.conversation(c.Key)
	if c.Fence <= l.fence {
		rt.Fatalf("got event %d with fence %d after %d", c.Event.Seq, c.Fence, l.fence)
	}
	if e.attempt > 0 {
		p.seen["take-over"]++
	}
	e.attempt++
	e.session = p.m.session(e.Conversation)
	l.fence, l.holder = c.Fence, &c
	p.equal(rt, "the session", c.Session, e.session)
	p.equal(rt, "the claimed event", []any{c.Event.ID, c.Event.Attempt, c.Event.Invocation},
		[]any{e.ID, e.attempt, e.invocation})
	p.claims = append(p.claims, c)
}

// held draws a claim and reports whether it still holds. It sometimes draws an outdated claim, which must be refused.
func (p *property) held(rt *rapid.T, fits func(core.Claim) bool) (core.Claim, bool) {
	var good, bad []core.Claim
	for _, c := range p.claims {
		switch {
		case p.m.holds(c) && fits(c):
			good = append(good, c)
		case !p.m.holds(c):
			bad = append(bad, c)
		}
	}
	if len(bad) > 0 && rapid.IntRange(0, 4).Draw(rt, "late") == 0 {
		return bad[rapid.IntRange(0, len(bad)-1).Draw(rt, "late claim")], false
	}
	if len(good) == 0 {
		rt.Skip("no claim")
	}
	return good[rapid.IntRange(0, len(good)-1).Draw(rt, "claim")], true
}

func anyClaim(core.Claim) bool { return true }

func isTurn(c core.Claim) bool { return c.Key == c.Event.Conversation.Queue() }

// did checks the result of a fenced call and reports whether it changed anything.
func (p *property) did(rt *rapid.T, err error, holds bool) bool {
	rt.Helper()
	if holds {
		p.ok(rt, err)
		return true
	}
	p.seen["late call"]++
	if core.CategoryOf(err) != core.ClaimLost {
		rt.Fatalf("a lost claim's call gave %v", err)
	}
	return false
}
