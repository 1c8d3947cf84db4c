package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/postgres"
)

// repeats counts the transactions that a store has repeated.
type repeats struct {
	slog.Handler
	n atomic.Int64
}

func (r *repeats) Enabled(context.Context, slog.Level) bool { return true }

func (r *repeats) Handle(_ context.Context, rec slog.Record) error {
	if rec.Message == "a transaction is repeated" {
		r.n.Add(1)
	}
	return nil
}

// replicas are two stores on one database, with an owner each, as two processes have them.
type replicas struct {
	t       *testing.T
	ctx     context.Context
	url     string
	stores  []*postgres.Store
	owners  []string
	repeats *repeats
}

func newReplicas(t *testing.T, through func(url string) string) *replicas {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	r := &replicas{t: t, ctx: ctx, url: database(t), repeats: &repeats{Handler: slog.DiscardHandler}}
	for range 2 {
		s := open(t, through(r.url), postgres.Options{Log: slog.New(r.repeats)})
		owner, err := s.Register(ctx, "race", 0)
		r.ok(err)
		r.stores, r.owners = append(r.stores, s), append(r.owners, owner)
	}
	return r
}

func (r *replicas) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("unexpected error: %v", err)
	}
}

var served = []core.Scope{{Platform: "p"}}

// said returns a conversation's n-th message.
func said(conversation, n int) core.Event {
	payload, _ := json.Marshal(n)
	l := core.ConversationID(fmt.Sprintf("p:%d", conversation))
	return core.Event{
		Platform: "p", ID: fmt.Sprintf("%d/%d", conversation, n), Conversation: l, Body: core.MessageEvent{},
		Payload: payload, Address: core.Address{Platform: "p", Channel: string(l)},
	}
}

// claim claims at most n ready conversations.
func (r *replicas) claim(i, n int) []core.Claim {
	claims, err := r.stores[i].Claim(r.ctx, core.ClaimRequest{Owner: r.owners[i], Limit: n, Scopes: served})
	if err != nil {
		r.t.Errorf("claiming: %v", err)
	}
	return claims
}

// TestRace_EachConversationIsClaimedOnce: four goroutines accept while eight of two processes claim and finish. No
// conversation is held twice, no event is left, and each conversation's events come in their order.
func TestRace_EachConversationIsClaimedOnce(t *testing.T) {
	noConversationTwiceNoneForgotten(newReplicas(t, straight))
}

func noConversationTwiceNoneForgotten(r *replicas) {
	t := r.t
	const conversations, messages = 12, 12
	var all sync.WaitGroup
	for part := range 4 {
		all.Go(func() {
			for n := range messages {
				for conversation := part; conversation < conversations; conversation += 4 {
					if _, err := r.stores[part%2].Accept(r.ctx, said(conversation, n)); err != nil {
						t.Errorf("accepting: %v", err)
					}
				}
			}
		})
	}
	var held, next [conversations]atomic.Int64
	var done atomic.Int64
	take := func(i int, c core.Claim) {
		var conversation, n int
		_, _ = fmt.Sscanf(c.Event.ID, "%d/%d", &conversation, &n)
		if held[conversation].Add(1) != 1 {
			t.Errorf("the conversation %d is held twice", conversation)
		}
		if want := next[conversation].Add(1) - 1; int64(n) != want || c.Event.Attempt != 1 {
			t.Errorf("the conversation %d gave message %d at attempt %d, want %d", conversation, n, c.Event.Attempt,
				want)
		}
		runtime.Gosched()
		held[conversation].Add(-1)
		if err := r.stores[i].Finish(r.ctx, core.Finish{Claim: c, End: core.End{Kind: core.EndReplied}}); err != nil {
			t.Errorf("finishing: %v", err)
		}
		done.Add(1)
	}
	for worker := range 8 {
		all.Go(func() {
			for done.Load() < conversations*messages && r.ctx.Err() == nil && !t.Failed() {
				for _, c := range r.claim(worker%2, 1+worker%3) {
					take(worker%2, c)
				}
			}
		})
	}
	all.Wait()
	if got := done.Load(); got != conversations*messages {
		t.Errorf("%d turns were taken, want %d", got, conversations*messages)
	}
	if n := r.repeats.n.Load(); n != 0 {
		t.Errorf("%d transactions were repeated: the locks are not taken in one order", n)
	}
}

// TestRace_NumbersFollowCommits: a reader of a conversation never sees an event appear before one that it has already
// read.
func TestRace_NumbersFollowCommits(t *testing.T) {
	r := newReplicas(t, straight)
	const writers, each = 8, 15
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(writers)
	for w := range writers {
		all.Go(func() {
			defer left.Add(-1)
			for n := range each {
				e := said(0, w*each+n)
				first, err := r.stores[w%2].Accept(r.ctx, e)
				if err != nil || !first.Fresh {
					t.Errorf("accepting: %+v, %v", first, err)
				}
				if again, err := r.stores[1-w%2].Accept(r.ctx, e); err != nil || again.Fresh || again.Seq != first.Seq {
					t.Errorf("accepting again: %+v, %v", again, err)
				}
			}
		})
	}
	last := int64(0)
	known := map[int64]bool{}
	for reading := true; reading; {
		reading = left.Load() > 0 // then read once more
		events, err := r.stores[0].Events(r.ctx, core.EventFilter{Conversation: "p:0"})
		r.ok(err)
		slices.Reverse(events)
		highest, at := last, time.Time{}
		for _, e := range events {
			if !known[e.Seq] && e.Seq < last {
				t.Errorf("the event %d came after %d", e.Seq, last)
			}
			if e.AcceptedAt.Before(at) {
				t.Errorf("the event %d was accepted before the one before it", e.Seq)
			}
			known[e.Seq], highest, at = true, max(highest, e.Seq), e.AcceptedAt
		}
		last = highest
	}
	all.Wait()
	if len(known) != writers*each {
		t.Errorf("%d events, want %d", len(known), writers*each)
	}
}

// suspend runs a conversation's turn until it waits for an approval.
func (r *replicas) suspend(conversation int, id string) core.Claim {
	r.t.Helper()
	_, err := r.stores[0].Accept(r.ctx, said(conversation, 0))
	r.ok(err)
	c := r.claim(0, 1)[0]
	a := &core.Approval{
		ID: core.ApprovalID(id), Invocation: c.Event.Invocation, Session: c.Session, Conversation: c.Event.Conversation,
		Address: c.Event.Address,
		Call:    core.Call{Tool: "note", Digest: "d"}, Rule: core.Rule{Approvers: voters()}, State: core.Open,
	}
	card := core.Post{
		Key: a.CardKey(), To: a.Address, Conversation: a.Conversation, Kind: core.PostCard, Approval: a.ID,
	}
	r.ok(r.stores[0].Finish(r.ctx, core.Finish{
		Claim: c, End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
			Approval: a,
			Posts:    []core.Post{card},
			Paused: &core.PausedRecord{
				Invocation: c.Event.Invocation, Session: c.Session,
				Descriptor: core.Descriptor{SignalID: core.SignalID(id)},
			},
		},
	}))
	return c
}

func voters() []string {
	all := make([]string, 6)
	for i := range all {
		all[i] = fmt.Sprintf("p:v%d", i)
	}
	return all
}

// TestRace_FirstDecisionWins: six people on two processes vote while a turn cancels. One of them wins, there is one
// signal (none if the turn was cancelled), and the audit log is one unbroken chain.
func TestRace_FirstDecisionWins(t *testing.T) { theFirstDecisionStands(newReplicas(t, straight)) }

func theFirstDecisionStands(r *replicas) {
	t := r.t
	for round := range 15 {
		id := fmt.Sprintf("a%d", round)
		paused := r.suspend(round, id)
		_, err := r.stores[0].Accept(r.ctx, said(round, 1))
		r.ok(err)
		cancelling := r.claim(1, 1)[0]
		var all sync.WaitGroup
		var won atomic.Int64
		for i, who := range voters() {
			choice := []core.Choice{core.Approve, core.Deny}[i%2]
			all.Go(func() {
				_, err := r.stores[i%2].Decide(r.ctx,
					core.Decision{
						Approval: core.ApprovalID(id), Vote: &core.Vote{Actor: core.Actor{ID: who}, Choice: choice},
					})
				switch core.CategoryOf(err) {
				case "":
					won.Add(1)
				case core.ApprovalDecided:
				default:
					t.Errorf("deciding: %v", err)
				}
			})
		}
		all.Go(func() {
			err := r.stores[1].Finish(r.ctx, core.Finish{
				Claim: cancelling,
				End:   core.End{Kind: core.EndReplied},
				Changes: core.Changes{Abandoned: []core.Abandon{
					{Invocation: paused.Event.Invocation, Cancel: true, Reason: "enough"},
				}},
			})
			if err != nil {
				t.Errorf("cancelling: %v", err)
			}
		})
		all.Wait()
		a, err := r.stores[0].LoadApproval(r.ctx, core.ApprovalID(id))
		r.ok(err)
		if won.Load() > 1 || won.Load() == 0 && a.State != core.Cancelled {
			t.Fatalf("%d won, and it is %s", won.Load(), a.State)
		}
		signals := 0
		events, err := r.stores[0].Events(r.ctx, core.EventFilter{Invocation: paused.Event.Invocation})
		r.ok(err)
		for _, e := range events {
			if e.Kind() == core.KindSignal {
				signals++
				if e.End.Kind != core.EndWithdrawn && a.State == core.Cancelled {
					t.Errorf("a signal waits for what was cancelled: %+v", e)
				}
			}
		}
		if int64(signals) != won.Load() {
			t.Errorf("%d signals for %d decisions", signals, won.Load())
		}
		for _, c := range r.claim(0, 1) { // a refusal's signal
			r.ok(r.stores[0].Finish(r.ctx, core.Finish{Claim: c, End: core.End{Kind: core.EndReplied}}))
		}
	}
	log, err := r.stores[0].AuditLog(r.ctx, 0, 0)
	r.ok(err)
	r.ok(audit.KeysOf(r.stores[0].Signer()).Verify("", log))
	if n := r.repeats.n.Load(); n != 0 {
		t.Errorf("%d transactions were repeated: the locks are not taken in one order", n)
	}
}

// TestRace_AuditLogIsOneChain: approvals of many conversations are opened and decided at once, and the log has one
// entry per step.
func TestRace_AuditLogIsOneChain(t *testing.T) {
	r := newReplicas(t, straight)
	const conversations, rounds = 8, 6
	var all sync.WaitGroup
	for conversation := range conversations {
		all.Go(func() {
			for n := range rounds {
				i, id := (conversation+n)%2, core.ApprovalID(fmt.Sprintf("%d/%d", conversation, n))
				e := said(conversation, n)
				if _, err := r.stores[i].Accept(r.ctx, e); err != nil {
					t.Errorf("accepting: %v", err)
				}
				only := []core.Scope{{Platform: "p", Conversations: []core.ConversationID{e.Conversation}}}
				claims, err := r.stores[i].Claim(r.ctx, core.ClaimRequest{Owner: r.owners[i], Limit: 1, Scopes: only})
				if err != nil || len(claims) != 1 {
					t.Errorf("claiming: %v, %v", claims, err)
					return
				}
				c := claims[0]
				a := &core.Approval{
					ID: id, Invocation: c.Event.Invocation, Session: c.Session, Conversation: e.Conversation,
					Address: e.Address, Rule: core.Rule{Approvers: voters(), Quorum: 2},
				}
				if err := r.stores[i].Finish(r.ctx,
					core.Finish{
						Claim:   c,
						End:     core.End{Kind: core.EndSuspended},
						Changes: core.Changes{Approval: a},
					}); err != nil {
					t.Errorf("finishing: %v", err)
				}
				if _, err := r.stores[1-i].Decide(r.ctx,
					core.Decision{
						Approval: id, Vote: &core.Vote{Actor: core.Actor{ID: "p:v1"}, Choice: core.Approve},
					}); err != nil {
					t.Errorf("deciding: %v", err)
				}
			}
		})
	}
	all.Wait()
	log, err := r.stores[0].AuditLog(r.ctx, 0, 0)
	r.ok(err)
	r.ok(audit.KeysOf(r.stores[0].Signer()).Verify("", log))
	if len(log) != 2*conversations*rounds {
		t.Errorf("%d entries, want %d", len(log), 2*conversations*rounds)
	}
	if n := r.repeats.n.Load(); n != 0 {
		t.Errorf("%d transactions were repeated", n)
	}
}

// TestRace_EachPostIsClaimedOnce: eight deliverers of two processes run while posts are added: each post is claimed
// once, in order per destination.
func TestRace_EachPostIsClaimedOnce(t *testing.T) { eachPostOnce(newReplicas(t, straight)) }

func eachPostOnce(r *replicas) {
	t := r.t
	const conversations, posts = 6, 8
	for conversation := range conversations {
		_, err := r.stores[0].Accept(r.ctx, said(conversation, 0))
		r.ok(err)
	}
	claims := r.claim(0, conversations)
	var all sync.WaitGroup
	for i, c := range claims {
		all.Go(func() {
			for n := range posts {
				own := core.Post{
					Key: fmt.Sprintf("%d/%d", i, n), To: c.Event.Address, Conversation: c.Event.Conversation,
					Kind: core.PostReply,
				}
				shared := core.Post{
					Key: fmt.Sprintf("shared/%d/%d", i, n),
					To:  core.Address{Platform: "p", Channel: fmt.Sprintf("shared %d", n%3)}, Kind: core.PostReply,
				}
				if err := r.stores[i%2].AddPosts(r.ctx, c, []core.Post{shared, own}); err != nil {
					t.Errorf("saying: %v", err)
				}
			}
		})
	}
	var mu sync.Mutex
	given := map[string]int{}
	last := map[string]int64{}
	var sent atomic.Int64
	for worker := range 8 {
		all.Go(func() {
			i := worker % 2
			for sent.Load() < 2*conversations*posts && r.ctx.Err() == nil && !t.Failed() {
				rows, err := r.stores[i].ClaimPosts(r.ctx,
					core.PostRequest{Owner: r.owners[i], Limit: 1 + worker%3, Scopes: served})
				if err != nil {
					t.Errorf("claiming posts: %v", err)
				}
				for _, row := range rows {
					mu.Lock()
					given[row.Key]++
					if row.Seq < last[row.To.Channel] {
						t.Errorf("%s came after a later one", row.Key)
					}
					last[row.To.Channel] = row.Seq
					mu.Unlock()
					row.Parts = []core.Part{{InDoubt: true}}
					if err := r.stores[i].SavePost(r.ctx, row); err != nil {
						t.Errorf("saving: %v", err)
					}
					row.State, row.Shown, row.Parts = core.RowSent, row.Wanted, []core.Part{{Ref: "r"}}
					if _, err := r.stores[i].ReleasePost(r.ctx, row, 0); err != nil {
						t.Errorf("releasing: %v", err)
					}
					sent.Add(1)
				}
			}
		})
	}
	all.Wait()
	for key, n := range given {
		if n != 1 {
			t.Errorf("%s was given out %d times", key, n)
		}
	}
	if len(given) != 2*conversations*posts {
		t.Errorf("%d posts, want %d", len(given), 2*conversations*posts)
	}
	if n := r.repeats.n.Load(); n != 0 {
		t.Errorf("%d transactions were repeated: the locks are not taken in one order", n)
	}
}

// TestRace_ClickBesideAnExpiry: an expiry waits for a click that is being stored, and the click counts.
func TestRace_ClickBesideAnExpiry(t *testing.T) {
	r := newReplicas(t, straight)
	_, err := r.stores[0].Accept(r.ctx, said(0, 0))
	r.ok(err)
	c := r.claim(0, 1)[0]
	r.ok(r.stores[0].Finish(r.ctx, core.Finish{
		Claim: c, End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{Approval: &core.Approval{
			ID: "a", Invocation: c.Event.Invocation, Session: c.Session, Conversation: c.Event.Conversation,
			Address: c.Event.Address, Rule: core.Rule{Timeout: time.Hour, Approvers: voters()},
		}},
	}))
	click := core.Event{
		Platform: "p", ID: "click", Conversation: c.Event.Conversation, Body: core.ClickEvent{Approval: "a"},
		Address: c.Event.Address,
	}
	// The click's transaction has its lock and its time, and is not committed.
	other := connect(t, r.url)
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := other.Exec(r.ctx, query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	exec(`begin`)
	exec(`insert into queues (queue_key, platform, conversation, controls) values ($1, 'p', $2, true)`,
		string(click.QueueKey()), string(c.Event.Conversation))
	exec(`insert into events (platform, id, conversation, queue_key, kind, signal, subject, actor, address, invocation,
		accepted_at, actor_id)
		values ('p', 'click', $1, $2, 'click', false, 'a', '{}', '{}', 'i', `+postgres.Clock+`, '')`,
		string(c.Event.Conversation), string(click.QueueKey()))
	mover := connect(t, r.url)
	if _, err := mover.Exec(r.ctx, `update test_clock set moved = interval '2 hours'`); err != nil {
		t.Fatal(err)
	}
	came := make(chan error)
	go func() {
		_, err := r.stores[1].Decide(r.ctx, core.Decision{Approval: "a", Expire: true})
		came <- err
	}()
	waiting(t, r.ctx, mover)
	exec(`commit`)
	if err := <-came; core.CategoryOf(err) != core.StoreBusy || !strings.Contains(core.MessageOf(err), "click") {
		t.Errorf("the expiry came to %v", err)
	}
}
