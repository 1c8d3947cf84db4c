package storagetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/storagetest/sample"
)

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
	readers := a.Rule.Readers(a.Requester.ID, a.CreatedAt)
	if len(readers) < 8 {
		t.Fatalf("the readers are %v", readers)
	}
	for account, since := range readers {
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
