package property

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"gatehouse/core"
	"gatehouse/storage/storagetest/sample"
)

// beat is a second in which all workers live.
func (p *property) beat(rt *rapid.T) {
	for _, w := range p.workers {
		p.ok(rt, w.store.Beat(ctx, w.owner))
	}
}

// silence is a worker that is taken for dead, and goes on.
func (p *property) silence(rt *rapid.T) {
	p.dies(rt, rapid.IntRange(0, len(p.workers)-1).Draw(rt, "worker"))
}

func (p *property) dies(rt *rapid.T, silent int) {
	for range sample.DeadAfter {
		for i, w := range p.workers {
			if i != silent {
				p.ok(rt, w.store.Beat(ctx, w.owner))
			}
		}
	}
	p.m.die(p.workers[silent].owner)
	p.posts.die(p.workers[silent].owner)
}

// restart is a crash of a worker, and then its death, which not every engine can prove.
func (p *property) restart(rt *rapid.T) {
	i := rapid.IntRange(0, len(p.workers)-1).Draw(rt, "worker")
	dead := p.workers[i].owner
	p.ok(rt, p.workers[i].store.Close())
	p.start(i)
	// no process is left to use them
	p.claims = slices.DeleteFunc(p.claims, func(c core.Claim) bool { return c.Owner == dead })
	for range sample.DeadAfter {
		p.beat(rt)
	}
	p.m.die(dead)
	p.posts.die(dead)
}

func (p *property) pass(*rapid.T) {
	p.db.Advance(2 * hour)
	p.m.pass()
}

// from returns where the messages of the claim's turn begin.
func (p *property) from(c core.Claim) core.Writer {
	return core.Writer{Invocation: c.Event.Invocation, From: p.m.paused[c.Event.Invocation].Messages}
}

// record makes what a turn saves: some new messages after those it has read.
func (p *property) record(rt *rapid.T, c core.Claim) (*core.SessionRecord, []string) {
	w := p.from(c)
	if len(p.m.texts(c.Session, w)) < len(p.m.sessions[c.Session]) {
		p.seen["attempt with leftovers"]++
	}
	rec, err := p.any(rt).LoadSession(ctx, c.Session, w)
	p.ok(rt, err)
	if rec == nil {
		rec = &core.SessionRecord{ID: c.Session, Messages: &core.History{}}
	}
	texts := []string{}
	for range rapid.IntRange(0, 3).Draw(rt, "rows") {
		p.count++
		texts = append(texts, fmt.Sprintf("%d says %d", c.Event.Seq, p.count))
	}
	h := rec.Messages.Append(sample.Said(texts...)...)
	rec.Messages, rec.Writer = &h, w
	return rec, texts
}

// fresh is record for a claim that may be lost; in that case it saves anything.
func (p *property) fresh(rt *rapid.T, c core.Claim, holds bool) (*core.SessionRecord, []string) {
	if holds {
		return p.record(rt, c)
	}
	return &core.SessionRecord{ID: c.Session}, nil
}

func (p *property) save(rt *rapid.T) {
	c, holds := p.held(rt, isTurn)
	rec, texts := p.fresh(rt, c, holds)
	if p.did(rt, p.any(rt).SaveSession(ctx, c, rec), holds) {
		p.m.save(c.Session, p.from(c), texts)
	}
}

// finish makes the call and ends the event in the model.
func (p *property) finish(rt *rapid.T, c core.Claim, holds bool, f core.Finish) bool {
	f.Claim = c
	if !p.did(rt, p.of(rt, c.Owner).Finish(ctx, f), holds) {
		return false
	}
	p.m.events[c.Event.Seq].end = f.End.Kind
	p.m.expire(c)
	p.replied(rt, f)
	return true
}

// resumed returns the invocation that the claim's turn resumes, if it is a signal's.
func (p *property) resumed(c core.Claim) core.InvocationID {
	if p.waits(c.Event.Invocation) && c.Event.Kind() == core.KindSignal {
		return c.Event.Invocation
	}
	return ""
}

// takeUp applies Finish.Resumed to the model.
func (p *property) takeUp(c core.Claim) {
	if id := p.resumed(c); id != "" {
		delete(p.m.paused, id)
		p.seen["resume"]++
		if a := p.m.approvals[core.ApprovalID(c.Event.Subject())]; a != nil && a.state != core.Cancelled {
			a.begun = true
		}
		p.m.endCalls(id)
	}
}

func (p *property) reply(rt *rapid.T) {
	c, holds := p.held(rt, anyClaim)
	if !isTurn(c) {
		p.finish(rt, c, holds, core.Finish{End: core.End{Kind: core.EndDecided}})
		return
	}
	rec, texts := p.fresh(rt, c, holds)
	w, resumed := p.from(c), p.resumed(c)
	f := core.Finish{
		End: core.End{Kind: core.EndReplied}, Handover: p.handover(rt), Changes: core.Changes{
			Session: rec,
			Resumed: resumed,
			Posts:   []core.Post{sample.Reply(c, "x")},
		},
	}
	if rapid.Bool().Draw(rt, "two posts") {
		more := sample.Reply(c, "y")
		more.Key = "more/" + more.Key
		f.Posts = append(f.Posts, more)
	}
	if holds {
		p.m.save(c.Session, w, texts)
		p.takeUp(c)
	}
	p.finish(rt, c, holds, f)
}

func (p *property) suspend(rt *rapid.T) {
	c, holds := p.held(rt, isTurn)
	rec, texts := p.fresh(rt, c, holds)
	w := p.from(c)
	p.count++
	a := sample.Asks(c, fmt.Sprintf("%s-%d", p.platform, p.count),
		core.Rule{Quorum: rapid.IntRange(1, 2).Draw(rt, "quorum")})
	a.Requester = sample.Ann
	if rapid.IntRange(0, 2).Draw(rt, "timeout") > 0 {
		a.Rule.Timeout = hour
	}
	rest := sample.Paused(c, string(a.ID), w.From+len(texts))
	f := core.Finish{
		End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
			Session:  rec,
			Resumed:  p.resumed(c),
			Paused:   rest,
			Approval: a,
			Posts:    []core.Post{sample.Card(a)},
		},
	}
	if holds {
		p.m.save(c.Session, w, texts)
		p.takeUp(c)
		p.m.paused[c.Event.Invocation] = *rest
		p.m.approvals[a.ID] = &modelApproval{
			state: core.Open, invocation: c.Event.Invocation, conversation: c.Event.Conversation, session: a.Session,
			quorum: a.Rule.Quorum, timeout: a.Rule.Timeout > 0, epoch: p.m.epoch,
		}
	}
	p.finish(rt, c, holds, f)
}

// fail ends a turn with an error; a resume that fails abandons its own invocation.
func (p *property) fail(rt *rapid.T) {
	c, holds := p.held(rt, isTurn)
	f := core.Finish{End: core.End{Kind: rapid.SampledFrom([]core.EndKind{core.EndErrored, core.EndDead}).Draw(rt,
		"end"), Category: core.NodeException}}
	if f.Resumed = p.resumed(c); f.Resumed != "" {
		f.Abandoned = []core.Abandon{{Invocation: f.Resumed, Rows: sample.Said("failed"), Cancel: true}}
	}
	if holds && f.Resumed != "" {
		p.m.abandon(f.Resumed, "failed", c.Event.Seq)
		if a := p.m.approvals[core.ApprovalID(c.Event.Subject())]; a != nil && a.state != core.Cancelled &&
			a.state != core.Open {
			a.begun = true
		}
	}
	p.finish(rt, c, holds, f)
}

// newGeneration ends a turn with a new conversation; everything that waits in the old one is abandoned.
func (p *property) newGeneration(rt *rapid.T) {
	c, holds := p.held(rt, func(c core.Claim) bool { return isTurn(c) && p.resumed(c) == "" })
	f := core.Finish{End: core.End{Kind: core.EndIgnored}, Changes: core.Changes{NewGeneration: true}}
	for _, id := range slices.Sorted(maps.Keys(p.m.paused)) {
		if p.m.paused[id].Session == c.Session {
			f.Abandoned = append(f.Abandoned,
				core.Abandon{
					Invocation: id, Rows: sample.Said("closed"), Cancel: true, Reason: "new conversation",
					By: sample.Ann,
				})
		}
	}
	if holds {
		for _, abandoned := range f.Abandoned {
			p.m.abandon(abandoned.Invocation, "closed", c.Event.Seq)
			p.seen["abandon"]++
		}
		p.m.conversation(c.Event.Conversation.Queue()).generation++
	}
	p.finish(rt, c, holds, f)
}

func (p *property) retry(rt *rapid.T) {
	c, holds := p.held(rt, anyClaim)
	after := rapid.SampledFrom([]time.Duration{hour, 0}).Draw(rt, "after")
	if p.did(rt, p.any(rt).Finish(ctx, core.Finish{Claim: c, Retry: &core.Retry{After: after}}), holds) {
		e := p.m.events[c.Event.Seq]
		e.attempt--
		e.retries++
		if e.backsOff, e.due = after > 0, 0; e.backsOff {
			p.m.delays++
			e.due = p.m.delays
		}
		p.m.expire(c)
	}
}

func (p *property) handBack(rt *rapid.T) {
	c, holds := p.held(rt, anyClaim)
	if p.did(rt, p.any(rt).Release(ctx, c), holds) {
		p.m.events[c.Event.Seq].attempt--
		p.m.expire(c)
	}
}

// drain ends everything that still waits, so that a round leaves nothing to claim, and checks that every event has one
// end.
func (p *property) drain(rt *rapid.T) {
	p.ok(rt, p.any(rt).SetPaused(ctx, false))
	p.m.halted = false
	p.pass(rt)
	for i := range p.workers {
		p.dies(rt, i)
	}
	for left := len(p.m.events); ; left-- {
		r, ready := core.ClaimRequest{}, map[int64]bool{}
		for _, r = range []core.ClaimRequest{{Controls: true}, {}, {Suspects: true}} {
			if ready = p.m.ready(r.Controls, r.Suspects); len(ready) > 0 {
				break
			}
		}
		if len(ready) == 0 {
			break
		}
		if left < 0 {
			rt.Fatalf("the conversations do not come to an end")
		}
		w := p.workers[0]
		r.Owner, r.Limit, r.Scopes = w.owner, 100, []core.Scope{{Platform: p.platform}}
		got, err := w.store.Claim(ctx, r)
		p.ok(rt, err)
		if len(got) != len(ready) {
			rt.Fatalf("got %v, want %v", sample.Taken(got), ready)
		}
		for _, c := range got {
			e := p.m.events[c.Event.Seq]
			e.attempt, e.session = e.attempt+1, c.Session
			p.m.conversation(c.Key).holder = &c
			p.finish(rt, c, true, core.Finish{End: core.End{Kind: core.EndNothing}})
		}
	}
	for seq, e := range p.m.events {
		if e.end == "" {
			rt.Fatalf("event %d has no end", seq)
		}
	}
	p.drainPosts(rt)
	p.check(rt)
}
