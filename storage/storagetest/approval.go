package storagetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/storagetest/sample"
)

func actions(log []audit.Entry) []string {
	all := []string{}
	for _, e := range log {
		all = append(all, e.Action)
	}
	return all
}

// wakes checks that exactly one signal waits in the conversation, with that decision.
func (w *world) wakes(id core.ApprovalID, invocation core.InvocationID, state core.ApprovalState) core.Claim {
	w.Helper()
	c := w.claim(minute)
	var p core.SignalPayload
	var d core.DecisionPayload
	w.ok(json.Unmarshal(c.Event.Payload, &p))
	w.ok(json.Unmarshal(p.Payload["decision"], &d))
	if c.Event.Kind() != core.KindSignal || c.Event.Invocation != invocation || p.SignalID != core.SignalID(id) ||
		d.State != state || d.Approval != id {
		w.Fatalf("got %+v with %+v", c.Event, d)
	}
	return c
}

var approvalExamples = []example{
	{"a missing approval is not found", func(w *world) {
		_, err := w.LoadApproval(w.ctx, "none")
		w.fails(err, core.NotFound)
		_, err = w.Decide(w.ctx, sample.Vote("none", bob, core.Approve))
		w.fails(err, core.NotFound)
	}},
	{"the store's clock sets the times", func(w *world) {
		c := w.take(w.message(conversation), minute)
		a := sample.Asks(c, "a", core.Rule{Timeout: minute})
		a.CreatedAt, a.Deadline = c.Event.AcceptedAt.AddDate(-1, 0, 0), c.Event.AcceptedAt.AddDate(1, 0, 0)
		w.changed(c, core.Changes{Paused: sample.Paused(c, "a", 0), Approval: a})
		got := must(w.LoadApproval(w.ctx, "a"))(w)
		if got.CreatedAt.Before(c.Event.AcceptedAt) || !got.Deadline.Equal(got.CreatedAt.Add(minute)) {
			w.Fatalf("made at %s, until %s", got.CreatedAt, got.Deadline)
		}
		w.suspend(conversation, "b", core.Rule{})
		if got := must(w.LoadApproval(w.ctx, "b"))(w); !got.Deadline.IsZero() {
			w.Fatalf("it has time until %s", got.Deadline)
		}
	}},
	{"approvals are listed, latest first", func(w *world) {
		a := w.suspend(conversation, "a", core.Rule{})
		w.suspend(conversation, "b", core.Rule{})
		w.suspend(other, "c", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("b", bob, core.Deny)))(w)
		for name, f := range map[string]struct {
			filter core.ApprovalFilter
			want   []core.ApprovalID
		}{
			"all":         {core.ApprovalFilter{}, []core.ApprovalID{"c", "b", "a"}},
			"at most two": {core.ApprovalFilter{Limit: 2}, []core.ApprovalID{"c", "b"}},
			"open": {
				core.ApprovalFilter{States: []core.ApprovalState{core.Open}}, []core.ApprovalID{"c", "a"},
			},
			"two states": {
				core.ApprovalFilter{States: []core.ApprovalState{core.Open, core.Denied}},
				[]core.ApprovalID{"c", "b", "a"},
			},
			"a conversation": {core.ApprovalFilter{Conversation: other}, []core.ApprovalID{"c"}},
			"a session": {core.ApprovalFilter{
				Session: conversation.Session(1), States: []core.ApprovalState{core.Open},
			}, []core.ApprovalID{"a"}},
			"an invocation": {core.ApprovalFilter{Invocation: a.Event.Invocation}, []core.ApprovalID{"a"}},
			"a requester": {
				core.ApprovalFilter{Requester: ann.ID, States: []core.ApprovalState{core.Open}},
				[]core.ApprovalID{"c", "a"},
			},
			"another": {core.ApprovalFilter{Requester: bob.ID}, []core.ApprovalID{}},
		} {
			got := []core.ApprovalID{}
			for _, a := range must(w.ListApprovals(w.ctx, f.filter))(w) {
				got = append(got, a.ID)
			}
			w.equal(name, got, f.want)
		}
		if got := must(w.ListApprovals(w.ctx, core.ApprovalFilter{States: []core.ApprovalState{core.Denied}}))(w); len(
			got[0].Votes) != 1 {
			w.Fatalf("got %+v", got)
		}
	}},
	{"whoever reads what is masked is recorded", func(w *world) {
		w.suspend(conversation, "a", core.Rule{})
		a := must(w.RevealApproval(w.ctx, "a", "admin", "as ann"))(w)
		w.equal("the call", a.Call, must(w.LoadApproval(w.ctx, "a"))(w).Call)
		log := must(w.AuditLog(w.ctx, 0, 0))(w)
		w.equal("the log", actions(log), []string{"opened", audit.Revealed})
		w.equal("by", log[1].Actor+" "+log[1].Detail, "admin as ann")
		_, err := w.RevealApproval(w.ctx, "none", "admin", "")
		w.fails(err, core.NotFound)
		w.equal("the log", len(must(w.AuditLog(w.ctx, 0, 0))(w)), 2)
	}},
	{"an approval that the policy allows is decided when it is opened", func(w *world) {
		c := w.take(w.message(conversation), minute)
		a := sample.Asks(c, "a", core.Rule{Name: "free", Verdict: core.VerdictAllow, Timeout: minute})
		a.State, a.DecidedBy = core.Approved, core.Actor{ID: "policy", Name: "policy"}
		w.done(c, core.Finish{
			End:     core.End{Kind: core.EndSuspended},
			Changes: core.Changes{Paused: sample.Paused(c, "a", 0), Approval: a},
		})
		got := must(w.LoadApproval(w.ctx, "a"))(w)
		if got.State != core.Approved || got.DecidedAt.IsZero() || !got.Deadline.IsZero() ||
			got.DecidedBy.ID != "policy" {
			w.Fatalf("got %+v", got)
		}
		w.equal("the log", actions(must(w.AuditLog(w.ctx, 0, 0))(w)), []string{"opened", "approved"})
		s := w.wakes("a", c.Event.Invocation, core.Approved)
		rec := must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.equal("fresh", rec.Fresh, true)
		w.db.Advance(2 * minute)
		w.equal("tasks", len(must(w.ClaimTasks(w.ctx, 10, minute))(w)), 0)
	}},
	{"the audit log can be verified, and quotes no messages", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Name: "r", Quorum: 2, Timeout: minute})
		d := sample.Vote("a", bob, core.Approve)
		d.Vote.Reason = "secret reason"
		must(w.Decide(w.ctx, d))(w)
		must(w.Decide(w.ctx, sample.Vote("a", cleo, core.Approve)))(w)
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{Content: "secret result"}))
		log := must(w.AuditLog(w.ctx, 0, 0))(w)
		w.equal("the log", actions(log), []string{"opened", "voted", "voted", "approved", "begun", "settled"})
		w.ok(audit.KeysOf(w.Signer()).Verify("", log))
		for i, e := range log {
			if e.Seq != int64(i+1) || e.Approval != "a" || e.At.IsZero() || e.Actor == "" {
				w.Fatalf("entry %d is %+v", i, e)
			}
			wanted := ""
			if e.Action == "voted" && e.Actor == bob.ID {
				wanted = "secret reason"
			}
			if e.Reason != wanted || (e.ReasonDigest != "") != (wanted != "") {
				w.Fatalf("entry %d has the reason %q", i, e.Reason)
			}
			e.Reason = ""
			text, _ := json.Marshal(e)
			for _, word := range []string{"secret", "Write a note", "<x>", `\u003cx`} {
				if strings.Contains(string(text), word) {
					w.Fatalf("%s holds %q", text, word)
				}
			}
		}
		w.equal("from the third on", must(w.AuditLog(w.ctx, 2, 2))(w), log[2:4])
		w.ok(audit.KeysOf(w.Signer()).Verify(log[1].Hash, log[2:4]))
		erased := slices.Clone(log)
		erased[1].Reason = ""
		w.ok(audit.KeysOf(w.Signer()).Verify("", erased))
		erased[1].Reason = "another reason"
		w.fails(audit.KeysOf(w.Signer()).Verify("", erased), core.Invalid)
		log[3].Actor = "somebody else"
		w.fails(audit.KeysOf(w.Signer()).Verify("", log), core.Invalid)
		log = must(w.AuditLog(w.ctx, 0, 0))(w)
		w.fails(audit.KeysOf(w.Signer()).Verify("", append(log[:2:2], log[3:]...)), core.Invalid)
	}},
	{"an attempt to approve what was altered is in the audit log, once for each click", func(w *world) {
		w.suspend(conversation, "a", core.Rule{})
		d := w.click("a", bob, core.Approve)
		d.Altered = true
		for range 2 {
			_, err := w.Decide(w.ctx, d)
			w.fails(err, core.Invalid)
		}
		admin := sample.Vote("a", core.Actor{ID: "local-admin"}, core.Approve)
		admin.Admin, admin.Altered, admin.Detail = true, true, "as a test"
		_, err := w.Decide(w.ctx, admin)
		w.fails(err, core.Invalid)
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Deny)))(w)
		_, err = w.Decide(w.ctx, admin)
		w.fails(err, core.ApprovalDecided)
		log := must(w.AuditLog(w.ctx, 0, 0))(w)
		w.equal("the log", actions(log),
			[]string{"opened", audit.Altered, audit.Altered, "voted", "denied", "rejected"})
		w.equal("by click", log[1].Actor+": "+log[1].Detail,
			fmt.Sprintf("%s: choice approve, invalid, event %d", bob.ID, d.Event))
		w.equal("by the admin", log[2].Actor+": "+log[2].Detail, "local-admin: choice approve, invalid, as a test")
	}},
	{"a vote that does not count is in the audit log, once for each click", func(w *world) {
		w.suspend(conversation, "a", core.Rule{})
		stranger := w.click("a", core.Actor{ID: "plat:dan"}, core.Approve)
		stranger.Vote.Reason = "let me"
		for range 2 {
			_, err := w.Decide(w.ctx, stranger)
			w.fails(err, core.NotAllowed)
		}
		_, err := w.Decide(w.ctx, w.click("none", bob, core.Deny))
		w.fails(err, core.NotFound)
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		admin := sample.Vote("a", core.Actor{ID: "local-admin"}, core.Deny)
		admin.Admin, admin.Detail = true, "as a test"
		_, err = w.Decide(w.ctx, admin)
		w.fails(err, core.ApprovalDecided)
		log := must(w.AuditLog(w.ctx, 0, 0))(w)
		w.ok(audit.KeysOf(w.Signer()).Verify("", log))
		w.equal("the log", actions(log), []string{"opened", "rejected", "rejected", "voted", "approved", "rejected"})
		for i, want := range map[int]audit.Entry{
			1: {Approval: "a", Actor: "plat:dan", Detail: "choice approve, not_allowed, event ", Reason: "let me"},
			2: {Approval: "none", Actor: bob.ID, Detail: "choice deny, not_found, event "},
			5: {Approval: "a", Actor: "local-admin", Detail: "choice deny, approval_decided, as a test"},
		} {
			if e := log[i]; e.Approval != want.Approval || e.Actor != want.Actor || e.Reason != want.Reason ||
				!strings.HasPrefix(e.Detail, want.Detail) || e.At.IsZero() {
				w.Errorf("entry %d is %+v", i, e)
			}
		}
	}},
}

var readerExamples = []example{
	{"approvals are listed for those who asked or may decide", func(w *world) {
		w.suspend(conversation, "a", core.Rule{Approvers: []string{bob.ID}})
		w.suspend(conversation, "b", core.Rule{
			Approvers: []string{"group", bob.ID}, Escalate: core.Escalation{After: minute, To: []string{"dora"}},
			People: map[string]string{"dora": "Dora", "dora2": "Dora", bob.ID: "Bob", "bob2": "Bob"},
		})
		w.suspend(other, "c", core.Rule{Approvers: []string{cleo.ID}})
		w.suspend(other, "d", core.Rule{Approvers: []string{bob.ID}})
		must(w.Decide(w.ctx, sample.Vote("d", bob, core.Deny)))(w)
		now := must(w.LoadApproval(w.ctx, "b"))(w).CreatedAt
		open := core.ApprovalFilter{States: []core.ApprovalState{core.Open}, At: now}
		lists := func(name string, f core.ApprovalFilter, want string) {
			w.Helper()
			got := ""
			for _, a := range must(w.ListApprovals(w.ctx, f))(w) {
				got += string(a.ID)
			}
			w.equal(name, got, want)
		}
		by := func(f core.ApprovalFilter, who string) core.ApprovalFilter { f.Reader = who; return f }
		later, closed, second := open, core.ApprovalFilter{Closed: true, At: now}, open
		later.At = now.Add(minute)
		second.Before, second.Limit = "b", 1
		lists("who asked", by(open, ann.ID), "cba")
		lists("who may decide", by(open, bob.ID), "ba")
		lists("by another account", by(open, "bob2"), "b")
		lists("a group", by(open, "group"), "b")
		lists("somebody else", by(open, "nobody"), "")
		lists("before the escalation", by(open, "dora"), "")
		lists("after it", by(later, "dora"), "b")
		lists("after it, by another account", by(later, "dora2"), "b")
		lists("what is decided", by(closed, bob.ID), "d")
		lists("what is decided, for somebody else", by(closed, cleo.ID), "")
		lists("what is decided, for all", closed, "d")
		lists("the next page", by(second, ann.ID), "a")
		lists("the next page for all", second, "a")
		w.equal("how many", must(w.CountApprovals(w.ctx, by(second, ann.ID)))(w), 3)
		w.equal("how many in all", must(w.CountApprovals(w.ctx, open))(w), 3)
		w.equal("how many decided", must(w.CountApprovals(w.ctx, closed))(w), 1)
		w.ok(w.DeleteSession(w.ctx, other.Session(1)))
		lists("once the session is deleted", by(open, cleo.ID), "")
	}},
	{"approvals wait for those who may decide and have not voted", func(w *world) {
		w.suspend(conversation, "a", core.Rule{
			Approvers: []string{bob.ID, cleo.ID, ann.ID}, Quorum: 2, Edit: true,
			People: map[string]string{bob.ID: "Bob", "bob2": "Bob"},
		})
		w.suspend(conversation, "b", core.Rule{
			Approvers: []string{core.LocalPerson}, Escalate: core.Escalation{After: minute, To: []string{"dora"}},
		})
		w.suspend(other, "c", core.Rule{Approvers: []string{ann.ID}, Self: true})
		now := must(w.LoadApproval(w.ctx, "b"))(w).CreatedAt
		list := func(f core.ApprovalFilter) (ids string) {
			w.Helper()
			all := must(w.ListApprovals(w.ctx, f))(w)
			for _, a := range all {
				ids += string(a.ID)
			}
			w.equal("the count", must(w.CountApprovals(w.ctx, f))(w), len(all))
			return ids
		}
		is := func(who core.Actor, at time.Time, wantWaits, wantOthers string) {
			w.Helper()
			f := core.ApprovalFilter{Decider: who, At: at}
			w.equal("what waits for "+who.ID, list(f), wantWaits)
			f.Others = true
			w.equal("what does not wait for "+who.ID, list(f), wantOthers)
		}
		atMachine := core.Actor{ID: "web:local", Local: true}
		is(bob, now, "a", "cb")
		is(core.Actor{ID: "bob2"}, now, "a", "cb")
		is(ann, now, "c", "ba")
		is(core.Actor{ID: "dora"}, now, "", "cba")
		is(core.Actor{ID: "dora"}, now.Add(minute), "b", "ca")
		before := must(w.ApprovalsChanged(w.ctx, 0, now))(w)
		must(w.Decide(w.ctx, core.Decision{
			Approval: "b", Remind: core.Escalated, Posts: []core.Post{post("escalated", conversation)},
			By: core.Actor{ID: "clock"},
		}))(w)
		is(core.Actor{ID: "dora"}, now, "b", "ca") // by a clock that is behind that of the database
		changes := must(w.ApprovalsChanged(w.ctx, before.Place, now))(w)
		w.equal("who is told", slices.Contains(changes.Of["b"], "dora"), true)
		is(atMachine, now, "b", "ca")
		is(core.Actor{ID: "web:local"}, now, "", "cba")
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		is(bob, now, "", "cba")
		is(core.Actor{ID: "bob2"}, now, "", "cba")
		is(cleo, now, "a", "cb")
		own := core.ApprovalFilter{
			States: []core.ApprovalState{core.Open}, Reader: bob.ID, Decider: bob, Others: true, At: now,
		}
		w.equal("what bob has voted on", must(w.CountApprovals(w.ctx, own))(w), 1)
		must(w.Decide(w.ctx, sample.Vote("b", atMachine, core.Approve)))(w)
		is(atMachine, now, "", "ca")
		must(w.Decide(w.ctx, sample.Vote("a", cleo, core.Approve)))(w)
		is(cleo, now, "", "c")
	}},
	{"what changes is told with those who may see it", func(w *world) {
		begin := must(w.ApprovalsChanged(w.ctx, 0, time.Now()))(w)
		w.suspend(conversation, "a", core.Rule{Approvers: []string{bob.ID}, Quorum: 2})
		now := must(w.LoadApproval(w.ctx, "a"))(w).CreatedAt
		opened := must(w.ApprovalsChanged(w.ctx, begin.Place, now))(w)
		w.equal("what was opened", opened.Of["a"], []string{ann.ID, bob.ID})
		w.equal("nothing more", len(must(w.ApprovalsChanged(w.ctx, opened.Place, now))(w).Of), 0)
		must(w.RevealApproval(w.ctx, "a", bob.ID, ""))(w)
		read := must(w.ApprovalsChanged(w.ctx, opened.Place, now))(w)
		w.equal("what was read without masks", len(read.Of), 0)
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		voted := must(w.ApprovalsChanged(w.ctx, opened.Place, now))(w)
		w.equal("what was voted on", len(voted.Of), 1)
		w.equal("after another database's place", must(w.ApprovalsChanged(w.ctx, voted.Place+1, now))(w).Many, true)
	}},
	{"approvals are found by words", func(w *world) {
		w.suspend(conversation, "a", core.Rule{Name: "Refunds", Approvers: []string{bob.ID}})
		w.suspend(conversation, "b", core.Rule{Name: "notes", Approvers: []string{bob.ID}})
		f := core.ApprovalFilter{Words: []string{"refunds"}, Decider: bob, At: time.Unix(1<<33, 0)}
		all := must(w.ListApprovals(w.ctx, f))(w)
		w.equal("how many", len(all), 1)
		w.equal("which", all[0].ID, core.ApprovalID("a"))
		w.equal("the count", must(w.CountApprovals(w.ctx, f))(w), 1)
	}},
	{"a page of approvals reads no more than the page", func(w *world) {
		const all, page = 300, 10
		for i := range all {
			_, _, err := w.OpenExternal(w.ctx, core.Approval{
				ID: core.ApprovalID(fmt.Sprint("e", i)), Conversation: "external:ci", Requester: ann, State: core.Open,
				External: &core.External{}, Rule: core.Rule{Verdict: core.VerdictAsk, Approvers: []string{bob.ID}},
			}, nil, all+1)
			w.ok(err)
		}
		for _, reader := range []string{"", bob.ID} {
			f := core.ApprovalFilter{
				States: []core.ApprovalState{core.Open}, Reader: reader, At: time.Unix(1<<33, 0), Limit: page,
			}
			seen := map[core.ApprovalID]bool{}
			for len(seen) < all {
				got := must(w.ListApprovals(w.ctx, f))(w)
				if len(got) != page {
					w.Fatalf("a page of %q after %d has %d", reader, len(seen), len(got))
				}
				for _, a := range got {
					seen[a.ID], f.Before = true, a.ID
				}
			}
			w.equal("after the last one", len(must(w.ListApprovals(w.ctx, f))(w)), 0)
		}
	}},
	{"the queue's first queues, with the count of all", func(w *world) {
		for i := range 5 {
			w.message(core.ConversationID(fmt.Sprintf("%s%d", conversation, i)))
		}
		first := must(w.Queue(w.ctx, 2))(w)
		w.equal("the entries", len(first.Entries), 2)
		w.equal("the count", first.Queues, 5)
		all := must(w.Queue(w.ctx, 0))(w)
		w.equal("all", len(all.Entries), 5)
		w.equal("the first ones", first.Entries, all.Entries[:2])
	}},
}

// Readers tests that what earlier builds stored is listed for those who may see it, by each of their accounts.
func (l Landed) Readers(t *testing.T, open func(url string) (*sqlstore.Store, error)) {
	url := l.Restore(t, "00008")
	db := l.Connect(t, url)
	var id, body string
	if err := db.QueryRowContext(t.Context(), `select id, body from approvals order by seq limit 1`).Scan(&id,
		&body); err != nil {
		t.Fatal(err)
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &whole); err != nil {
		t.Fatal(err)
	}
	rule, _ := json.Marshal(core.Rule{
		Verdict: core.VerdictAsk, Approvers: []string{"bob", "Cleo's", "group"},
		Escalate: core.Escalation{After: time.Hour, To: []string{"dora", "bob"}},
		People:   map[string]string{"cleo": "Cleo's", "dora": "Dora", "dora2": "Dora", "eve": "Eve"},
	})
	whole["rule"] = rule
	changed, _ := json.Marshal(whole)
	if _, err := db.ExecContext(t.Context(), `update approvals set body = $1 where id = $2`, string(changed),
		id); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `insert into approvals (id, invocation, session, conversation, body,
		state, reason, decided_by, decided_at, created_at, deadline, begun, changed, requester)
		select 'broken', invocation, session, conversation, '{', state, reason, decided_by, decided_at, created_at,
		deadline, begun, changed, requester from approvals where id = $1`, id); err != nil {
		t.Fatal(err)
	}
	db.Close()
	s, err := open(url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := s.LoadApproval(t.Context(), core.ApprovalID(id))
	if err != nil {
		t.Fatal(err)
	}
	readers := a.Readers()
	if len(readers) < 8 {
		t.Fatalf("the readers are %v", readers)
	}
	for account, reader := range readers {
		since := reader.Since
		f := core.ApprovalFilter{Closed: a.State != core.Open, Reader: account, At: since}
		if n, err := s.CountApprovals(t.Context(), f); err != nil || n == 0 {
			t.Errorf("%s sees %d from %s on (%v)", account, n, since, err)
		}
		f.At = since.Add(-1)
		if n, err := s.CountApprovals(t.Context(), f); !since.IsZero() && (err != nil || n > 0) {
			t.Errorf("%s sees %d before %s (%v)", account, n, since, err)
		}
	}
	other := core.ApprovalFilter{Reader: "eve", At: time.Now()}
	if n, err := s.CountApprovals(t.Context(), other); err != nil || n > 0 {
		t.Errorf("somebody else sees %d (%v)", n, err)
	}
}
