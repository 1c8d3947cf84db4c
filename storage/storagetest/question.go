package storagetest

import (
	"encoding/json"
	"fmt"
	"sync"

	"gatehouse/core"
	"gatehouse/core/question"
	"gatehouse/storage/storagetest/sample"
)

// asking runs a new message up to its pause, asking bob a question.
func (w *world) asking(id string, rule core.Rule) core.Claim {
	w.Helper()
	q, err := question.New("Which colour?", json.RawMessage(`{"enum":["red","blue"]}`))
	w.ok(err)
	rule.Approvers = []string{bob.ID}
	c := w.take(w.message(conversation), minute)
	a := sample.Asks(c, id, rule)
	a.Question = &q
	w.done(c,
		core.Finish{
			End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
				Session:  w.session(c, 0, "do "+id),
				Paused:   sample.Paused(c, id, 1),
				Approval: a,
				Posts:    []core.Post{sample.Card(a)},
			},
		})
	return c
}

func (w *world) answer(id core.ApprovalID, who core.Actor, answer string) core.Decision {
	w.Helper()
	d := w.click(id, who, core.Answer)
	d.Vote.Answer = json.RawMessage(answer)
	return d
}

// external is a request of another agent.
func external(id, callback string) core.Approval {
	return core.Approval{
		ID: core.ApprovalID(id), Conversation: "external:ci", Address: core.Address{Platform: core.CallbackPlatform},
		State: core.Open, Requester: core.Actor{ID: "openharness:ci"},
		Call:     core.Call{Tool: "external.ci.deploy", Arguments: json.RawMessage(`{"to":"prod"}`), Digest: "d"},
		Rule:     core.Rule{Name: "r", Verdict: core.VerdictAsk, Approvers: []string{bob.ID}},
		External: &core.External{Request: "r1", Callback: callback},
	}
}

var questionExamples = []example{
	{"the first answer counts, is stored, and wakes the turn", func(w *world) {
		c := w.asking("a", core.Rule{Timeout: minute})
		first := w.answer("a", bob, ` "blue" `)
		got := must(w.Decide(w.ctx, first))(w)
		if !got.Settled || got.Approval.State != core.Answered || got.Approval.DecidedBy.ID != bob.ID ||
			string(got.Approval.Answer()) != `"blue"` {
			w.Fatalf("got %+v", got)
		}
		w.equal("what is stored", must(w.LoadApproval(w.ctx, "a"))(w), got.Approval)
		_, err := w.Decide(w.ctx, w.answer("a", bob, `"red"`))
		w.fails(err, core.ApprovalDecided)
		w.equal("the same click again", must(w.Decide(w.ctx, first))(w).Approval, got.Approval)
		w.wakes("a", c.Event.Invocation, core.Answered)
		w.equal("tasks", len(w.due(minute)), 0)
	}},
	{"who is not asked can't answer, and what does not fit is no answer", func(w *world) {
		w.asking("a", core.Rule{})
		_, err := w.Decide(w.ctx, w.answer("a", cleo, `"blue"`))
		w.fails(err, core.NotAllowed)
		_, err = w.Decide(w.ctx, w.answer("a", bob, `"green"`))
		w.fails(err, core.Invalid)
		for _, c := range []core.Choice{core.Approve, core.Deny, core.Edit} {
			_, err = w.Decide(w.ctx, w.click("a", bob, c))
			w.fails(err, core.Invalid)
		}
		w.equal("the state", must(w.LoadApproval(w.ctx, "a"))(w).State, core.Open)
		w.idle()
	}},
	{"an approval can't be answered", func(w *world) {
		w.suspend(conversation, "a", core.Rule{})
		_, err := w.Decide(w.ctx, w.answer("a", bob, `"blue"`))
		w.fails(err, core.Invalid)
	}},
	{"a question expires, and is withdrawn by who asked it alone", func(w *world) {
		c := w.asking("a", core.Rule{Timeout: minute})
		_, err := w.Decide(w.ctx, sample.Vote("a", bob, core.Withdraw))
		w.fails(err, core.NotAllowed)
		w.db.Advance(2 * minute)
		must(w.Decide(w.ctx, core.Decision{Approval: "a", Expire: true}))(w)
		w.wakes("a", c.Event.Invocation, core.Expired)
	}},
	{"with its session a question and its answer are erased", func(w *world) {
		c := w.asking("a", core.Rule{})
		must(w.Decide(w.ctx, w.answer("a", bob, `"blue"`)))(w)
		resumed := w.wakes("a", c.Event.Invocation, core.Answered)
		w.done(resumed,
			core.Finish{
				End: core.End{Kind: core.EndReplied}, Changes: core.Changes{
					Session: w.session(resumed, 1, "painted"),
					Resumed: c.Event.Invocation,
				},
			})
		w.ok(w.DeleteSession(w.ctx, c.Session))
		a := must(w.LoadApproval(w.ctx, "a"))(w)
		if a.State != core.Answered || a.Answer() != nil || a.Question == nil || a.Question.Text != "(erased)" ||
			a.Question.Options() != nil {
			w.Fatalf("left is %+v with %s", a.Question, a.Answer())
		}
	}},
	{"an answer is what the audit log records, until somebody changes it", func(w *world) {
		q, err := question.New("What?", nil)
		w.ok(err)
		a := external("x", "")
		a.Question = &q
		_, _, err = w.OpenExternal(w.ctx, a, nil, 1)
		w.ok(err)
		must(w.Decide(w.ctx, w.answer("x", bob, `"a < b & \u2028 ä"`)))(w)
		w.equal("the answer", string(must(w.RecordedApproval(w.ctx, "x"))(w).Answer()), `"a \u003c b \u0026 \u2028 ä"`)
		_, err = w.RecordedApproval(w.ctx, "none")
		w.fails(err, core.NotFound)
	}},
	{"an external request is stored once, and its decision wakes nobody but is posted", func(w *world) {
		want := external("x", "https://ci.example/hook")
		first, created, err := w.OpenExternal(w.ctx, want,
			[]core.Post{{
				Key: "card/x/s", To: core.Address{Platform: platform, Channel: "s"}, Kind: core.PostCard, Approval: "x",
				Copy: true,
			}}, 1)
		w.ok(err)
		w.equal("created", created, true)
		again, created, err := w.OpenExternal(w.ctx, want, nil, 1)
		w.ok(err)
		w.equal("created again", created, false)
		w.equal("the same", again, first)
		_, _, err = w.OpenExternal(w.ctx, external("y", ""), nil, 1)
		w.fails(err, core.RateLimited)
		must(w.Decide(w.ctx, w.click("x", bob, core.Approve)))(w)
		w.idle()
		row := w.posted("callback/x")
		if row.Kind != core.PostCallback || row.To.Platform != core.CallbackPlatform ||
			row.To.Channel != "https://ci.example/hook" || row.Approval != "x" {
			w.Fatalf("the post is %+v", row)
		}
		_, created, err = w.OpenExternal(w.ctx, external("y", ""), nil, 1)
		w.ok(err)
		w.equal("created once there is room", created, true)
		must(w.Decide(w.ctx, w.click("y", bob, core.Deny)))(w)
		w.idle()
	}},
	{"an external request is decided now, and by nobody after its deadline", func(w *world) {
		for _, id := range []string{"x", "y", "z"} {
			a := external(id, "")
			a.Rule.Timeout = minute
			_, _, err := w.OpenExternal(w.ctx, a, nil, 3)
			w.ok(err)
		}
		voted := must(w.Decide(w.ctx, sample.Vote("x", bob, core.Approve)))(w).Approval
		withdrawn := must(w.Decide(w.ctx, core.Decision{Approval: "y", Cancel: true, By: voted.Requester}))(w).Approval
		for _, a := range []core.Approval{voted, withdrawn} {
			if a.DecidedAt.Before(a.CreatedAt) {
				w.Fatalf("%s, requested at %s, is decided at %s", a.ID, a.CreatedAt, a.DecidedAt)
			}
		}
		w.db.Advance(2 * minute)
		_, err := w.Decide(w.ctx, sample.Vote("z", bob, core.Approve))
		w.fails(err, core.ApprovalExpired)
	}},
	{"of many who request the same, one creates it, and no more are open than may be", func(w *world) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		made, limited := 0, 0
		for i := range 12 {
			s := w.view()
			wg.Go(func() {
				_, created, err := s.OpenExternal(w.ctx, external(fmt.Sprint("x", i%4), ""), nil, 3)
				mu.Lock()
				defer mu.Unlock()
				if created {
					made++
				}
				if core.CategoryOf(err) == core.RateLimited {
					limited++
				} else if err != nil {
					w.Error(err)
				}
			})
		}
		wg.Wait()
		if made != 3 || limited != 3 {
			w.Fatalf("%d are made, %d refused", made, limited)
		}
	}},
}
