package property

import (
	"fmt"
	"gatehouse/storage/internal/sqlstore"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/storagetest/sample"
)

// decide makes a decision and checks the result against the model. A settled approval has put one signal into its
// conversation.
func (p *property) decide(rt *rapid.T, d core.Decision) {
	a := p.m.approvals[d.Approval]
	refused, settled := p.m.decide(a, d)
	got, err := p.any(rt).Decide(ctx, d)
	if core.CategoryOf(err) != refused {
		rt.Fatalf("deciding %+v gave %v, want %q", d, err, refused)
	}
	p.equal(rt, "what stands", got.Approval.State, a.state)
	if err == nil && settled != (got.Settled && settled) {
		rt.Fatalf("got %+v", got)
	}
	if refused == core.StoreBusy {
		p.seen["click in time"]++
	}
	if !settled {
		return
	}
	p.seen["decision"]++
	if d.Expire {
		p.seen["expiry"]++
	}
	latest, err := p.any(rt).Events(ctx, core.EventFilter{Conversation: a.conversation, Limit: 1})
	p.ok(rt, err)
	if len(latest) != 1 || latest[0].Kind() != core.KindSignal || latest[0].Subject() != string(d.Approval) ||
		latest[0].Invocation != a.invocation {
		rt.Fatalf("the signal of %s is not there, but %+v", d.Approval, latest)
	}
	p.learn(rt, latest[0].Seq, latest[0].Event)
}

func (p *property) vote(rt *rapid.T) {
	who := rapid.SampledFrom([]core.Actor{sample.Ann, sample.Bob, sample.Cleo}).Draw(rt, "voter")
	p.decide(rt,
		sample.Vote(p.approval(rt), who,
			rapid.SampledFrom([]core.Choice{core.Approve, core.Approve, core.Deny}).Draw(rt, "choice")))
}

// voteByClick counts a click, sometimes more than once.
func (p *property) voteByClick(rt *rapid.T) {
	e := p.some(rt, func(e *modelEvent) bool { return e.Kind() == core.KindClick })
	d := sample.Vote(core.ApprovalID(e.Subject()), e.Actor, core.Approve)
	switch e.seq % 3 {
	case 0:
		d.Vote.Choice = core.Deny
	case 1:
		d.Vote.Choice = core.Withdraw
	}
	d.Event = e.seq
	p.decide(rt, d)
}

func (p *property) expire(rt *rapid.T) {
	id := p.approval(rt)
	if rapid.Bool().Draw(rt, "pass") {
		p.pass(rt)
	}
	p.decide(rt, core.Decision{Approval: id, Expire: true})
}

func (p *property) cancel(rt *rapid.T) {
	p.decide(rt, core.Decision{Approval: p.approval(rt), Cancel: true, By: sample.Ann})
}

// beginIntent runs the tool of a resumed turn's approval; only an approved one succeeds, and none begins after a stop.
func (p *property) beginIntent(rt *rapid.T) {
	c, holds := p.held(rt, func(c core.Claim) bool { return c.Event.Kind() == core.KindSignal && p.resumed(c) != "" })
	a := p.m.approvals[core.ApprovalID(c.Event.Subject())]
	if a == nil {
		rt.Skip("no approval")
	}
	id := core.ApprovalID(c.Event.Subject())
	rec, err := p.any(rt).BeginIntent(ctx, c, sample.Intent(c, id))
	switch {
	case !holds:
		p.did(rt, err, false)
	case a.state != core.Approved:
		if core.CategoryOf(err) != core.ApprovalMissing {
			rt.Fatalf("a tool of a %s approval gave %v", a.state, err)
		}
	case !a.begun && p.m.conversation(c.Key).stop == c.Event.Seq:
		p.seen["stop before a tool"]++
		if core.CategoryOf(err) != core.Stopped {
			rt.Fatalf("a tool of a stopped turn gave %v", err)
		}
	default:
		p.ok(rt, err)
		if rec.Fresh == a.begun {
			rt.Fatalf("an intent that was begun (%t) came as %+v", a.begun, rec)
		}
		a.begun = true
		if rec.Fresh {
			a.run = core.CallRunning
		}
		p.seen["tool run"]++
	}
}

func (p *property) stop(rt *rapid.T) {
	l := p.conversation(rt)
	var want core.StopResult
	ml := p.m.conversation(l.Queue())
	if ml.holder != nil {
		want.Running = true
		p.seen["stop"]++
		ml.stop = ml.holder.Event.Seq
	} else {
		for _, e := range p.m.waiting(l.Queue()) {
			if e.Kind() != core.KindSignal {
				if e.backsOff {
					want.Withdrawn, e.end = e.seq, core.EndWithdrawn
					p.seen["withdrawal"]++
				}
				break
			}
		}
	}
	got, err := p.any(rt).Stop(ctx, l, sample.Ann)
	p.ok(rt, err)
	p.equal(rt, "what came of the stop", got, want)
}

func (p *property) again(rt *rapid.T) {
	e := p.some(rt, func(*modelEvent) bool { return true })
	r, err := p.any(rt).Retry(ctx, e.seq)
	switch {
	case e.again != 0:
		p.ok(rt, err)
		p.equal(rt, "the receipt", r, core.Receipt{Seq: e.again})
	case e.end != core.EndErrored && e.end != core.EndDead && e.end != core.EndDropped,
		e.Kind() == core.KindSignal && !p.waits(e.invocation), e.erased:
		if core.CategoryOf(err) != core.Invalid {
			rt.Fatalf("trying an event again that ended in %q gave %v", e.end, err)
		}
	default:
		p.ok(rt, err)
		e.again = r.Seq
		p.seen["second try"]++
		next := e.Event
		next.ID = fmt.Sprintf("again/%d", e.seq)
		p.learn(rt, r.Seq, next)
	}
}

// askAgain asks again for what an approval was requested for.
func (p *property) askAgain(rt *rapid.T) {
	id := p.approval(rt)
	a := p.m.approvals[id]
	who := rapid.SampledFrom([]core.Actor{sample.Ann, sample.Ann, sample.Bob}).Draw(rt, "asks")
	r, err := p.any(rt).AskAgain(ctx, id, who)
	var asked *modelEvent // the last: a second try of a message belongs to the same invocation
	for _, e := range p.m.events {
		if e.invocation == a.invocation && e.Kind() == core.KindMessage && (asked == nil || e.seq > asked.seq) {
			asked = e
		}
	}
	refused := map[core.ApprovalState]core.Category{core.Open: core.Invalid, core.Expired: ""}
	want, known := refused[a.state]
	switch {
	case who.ID != sample.Ann.ID:
		want = core.NotAllowed
	case !known:
		want = core.ApprovalDecided
	case want == "" && (asked == nil || asked.erased && asked.again == 0):
		want = core.NotFound
	case want == "" && (asked.again != 0 && asked.askedFor != id || asked.again == 0 && p.begunIn(rt, a.invocation)):
		want = core.Invalid
	}
	if core.CategoryOf(err) != want {
		rt.Fatalf("asking again for an approval that is %s gave %v, want %q", a.state, err, want)
	}
	if want != "" {
		return
	}
	p.seen["request again"]++
	if asked.again != 0 {
		p.equal(rt, "the receipt", r, core.Receipt{Seq: asked.again})
		return
	}
	asked.again, asked.askedFor = r.Seq, id
	next := asked.Event
	next.ID = fmt.Sprintf("asked_again/%s", id)
	p.learn(rt, r.Seq, next)
}

// begunIn reports whether a call of an invocation has begun.
func (p *property) begunIn(rt *rapid.T, invocation core.InvocationID) bool {
	for id, a := range p.m.approvals {
		if a.invocation != invocation {
			continue
		}
		intent, err := p.any(rt).LoadIntent(ctx, id)
		p.ok(rt, err)
		if intent != nil && !intent.BegunAt.IsZero() {
			return true
		}
	}
	return false
}

// waits reports whether the invocation is paused.
func (p *property) waits(id core.InvocationID) bool {
	_, waits := p.m.paused[id]
	return waits
}

func (p *property) drop(rt *rapid.T) {
	e := p.some(rt, func(e *modelEvent) bool { return e.end == core.EndDead })
	p.ok(rt, p.any(rt).Drop(ctx, e.seq))
	e.end = core.EndDropped
}

func (p *property) halt(rt *rapid.T) {
	p.m.halted = !p.m.halted
	p.ok(rt, p.any(rt).SetPaused(ctx, p.m.halted))
}

// delete removes a session. It is refused while a turn runs.
func (p *property) delete(rt *rapid.T) {
	id := p.m.session(p.conversation(rt))
	l := p.m.conversation(id.Conversation().Queue())
	runs := l.held() && p.m.events[l.holder.Event.Seq].session == id
	err := p.any(rt).DeleteSession(ctx, id)
	if runs {
		if core.CategoryOf(err) != core.Invalid {
			rt.Fatalf("deleting a session whose turn runs gave %v", err)
		}
		return
	}
	p.ok(rt, err)
	for _, inv := range slices.Sorted(maps.Keys(p.m.paused)) {
		if p.m.paused[inv].Session == id {
			p.m.abandon(inv, "", 0)
			p.seen["deletion"]++
		}
	}
	delete(p.m.sessions, id)
	for _, e := range p.m.events {
		text := e.Kind() == core.KindMessage || e.Kind() == core.KindClick
		own := e.Conversation == id.Conversation() && (e.session == id || e.session == "")
		if a := p.m.approvals[core.ApprovalID(e.Subject())]; e.Kind() == core.KindClick && a != nil && a.session == id {
			own = true
		}
		e.erased = e.erased || text && e.end != "" && own
	}
}

// check compares everything that can be read.
func (p *property) check(rt *rapid.T) {
	s := p.workers[0].store
	conversations := map[core.ConversationID]bool{}
	for _, e := range p.m.events {
		conversations[e.Conversation] = true
	}
	type line struct {
		Seq              int64
		Kind             core.Kind
		Invocation       core.InvocationID
		Session          core.SessionID
		Attempt, Retries int
		End              core.EndKind
		Ended            bool
	}
	got, want := map[int64]line{}, map[int64]line{}
	for l := range conversations {
		found, err := s.Events(ctx, core.EventFilter{Conversation: l})
		p.ok(rt, err)
		for _, e := range found {
			got[e.Seq] = line{
				e.Seq, e.Kind(), e.Invocation, e.Session, e.Attempt, e.Retries, e.End.Kind, !e.EndedAt.IsZero(),
			}
		}
	}
	for seq, e := range p.m.events {
		want[seq] = line{seq, e.Kind(), e.invocation, e.session, e.attempt, e.retries, e.end, e.end != ""}
	}
	p.equal(rt, "the list of events", got, want)
	p.checkSessions(rt, s)
	for id, a := range p.m.approvals {
		stored, err := s.LoadApproval(ctx, id)
		p.ok(rt, err)
		if stored.State != a.state || len(stored.Votes) != len(a.voters) || stored.Begun != a.begun {
			rt.Fatalf("the approval %s is %+v, want %+v", id, stored, a)
		}
		call, err := s.LoadIntent(ctx, id)
		p.ok(rt, err)
		p.equal(rt, "the call of "+string(id), call.State(), a.run)
		p.seen["call "+string(a.run)]++
		rec, err := s.LoadPaused(ctx, a.invocation, "")
		p.ok(rt, err)
		if waits := p.waits(a.invocation); waits != (rec != nil) {
			rt.Fatalf("the invocation %s is paused: %t, want %t", a.invocation, rec != nil, waits)
		}
	}
	p.checkAudit(rt, s)
}

func (p *property) checkSessions(rt *rapid.T, s *sqlstore.Store) {
	for id := range p.m.sessions {
		rec, err := s.LoadSession(ctx, id, core.Writer{})
		p.ok(rt, err)
		got := []string{}
		if rec != nil && rec.Messages != nil {
			msgs, err := rec.Messages.From(ctx, 0)
			p.ok(rt, err)
			got = sample.Words(msgs)
			if len(got) != rec.Messages.Len() {
				rt.Fatalf("the session %s has %d messages but says %d", id, len(got), rec.Messages.Len())
			}
		}
		p.equal(rt, "the session "+string(id), got, p.m.texts(id, core.Writer{}))
	}
	for _, c := range p.claims {
		if p.m.holds(c) && isTurn(c) {
			w := p.from(c)
			rec, err := s.LoadSession(ctx, c.Session, w)
			p.ok(rt, err)
			if want := p.m.texts(c.Session, w); rec != nil && rec.Messages != nil && rec.Messages.Len() != len(want) {
				rt.Fatalf("the turn of event %d sees %d messages, want %d", c.Event.Seq, rec.Messages.Len(), len(want))
			}
			asked, err := s.StopRequested(ctx, c)
			p.ok(rt, err)
			p.equal(rt, "the request to stop", asked.Stop, p.m.conversation(c.Key).stop == c.Event.Seq)
		}
	}
}

// checkAudit verifies the log's entries since the last check.
func (p *property) checkAudit(rt *rapid.T, s *sqlstore.Store) {
	log, err := s.AuditLog(ctx, p.audited, 0)
	p.ok(rt, err)
	p.ok(rt, audit.KeysOf(s.Signer()).Verify(p.hash, log))
	if n := len(log); n > 0 {
		p.audited, p.hash = log[n-1].Seq, log[n-1].Hash
	}
}
