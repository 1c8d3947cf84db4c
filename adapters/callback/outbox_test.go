package callback_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/callback"
	"gatehouse/core"
	"gatehouse/core/outbox"
	"gatehouse/storage"
)

// office is an outbox over a real store, with a clock that can be put forward.
type office struct {
	t     *testing.T
	store *storage.Store
	box   *outbox.Deliverer
	ahead time.Duration
}

func (o *office) now() time.Time { return time.Now().Add(o.ahead) }

func newOffice(t *testing.T, p core.Platform, timeout time.Duration) *office {
	t.Helper()
	o := &office{t: t}
	store, err := storage.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "g.db"),
		storage.Options{Now: o.now, NewID: uuid.NewString})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	o.store = store
	o.box = outbox.New(outbox.Options{
		// it waits only as asked
		Store: store, Platforms: []core.Platform{p}, Owner: "me", Timeout: timeout, Jitter: func() float64 {
			return -1
		},
		Cards: adaptertest.CardFunc(func(context.Context, core.ApprovalID, bool) (core.Card, error) {
			return core.Card{}, nil
		}),
	})
	return o
}

// put stores the decisions of approvals for a URL, with the Finish of a turn.
func (o *office) put(url string, approvals ...core.ApprovalID) {
	o.t.Helper()
	e := core.Event{Platform: "asker", ID: uuid.NewString(), Conversation: "asker:1", Body: core.MessageEvent{}}
	if _, err := o.store.Accept(o.t.Context(), e); err != nil {
		o.t.Fatal(err)
	}
	claims, err := o.store.Claim(o.t.Context(),
		core.ClaimRequest{Owner: "me", Limit: 1, Scopes: []core.Scope{{Platform: "asker"}}})
	if err != nil || len(claims) != 1 {
		o.t.Fatalf("%v, %v", claims, err)
	}
	f := core.Finish{Claim: claims[0], End: core.End{Kind: core.EndReplied}}
	for _, id := range approvals {
		d := decision(url)
		d.Key, d.To.Thread, d.Approval, d.Conversation = string(id)+"/callback", string(id), id, "asker:1"
		f.Posts = append(f.Posts, d.Post)
	}
	if err := o.store.Finish(o.t.Context(), f); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) row(id core.ApprovalID) core.OutboxRow {
	o.t.Helper()
	rows, err := o.store.ListPosts(o.t.Context(), nil, "", 0)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, r := range rows {
		if r.Approval == id {
			return r
		}
	}
	o.t.Fatalf("no row of %s", id)
	return core.OutboxRow{}
}

// deliver delivers until the row does not wait any more; the clock is put forward to each next attempt.
func (o *office) deliver(id core.ApprovalID) core.OutboxRow {
	o.t.Helper()
	for range 50 {
		if err := o.box.Flush(o.t.Context()); err != nil {
			o.t.Fatal(err)
		}
		r := o.row(id)
		if r.State != core.RowWaiting {
			return r
		}
		o.ahead += max(r.NextAt.Sub(o.now()), 0)
	}
	o.t.Fatalf("it still waits: %+v", o.row(id))
	return core.OutboxRow{}
}

func fail(w http.ResponseWriter, code int) {
	w.Header().Set("Retry-After", "30")
	w.WriteHeader(code)
}

// drop closes the connection without an answer.
func drop(w http.ResponseWriter) {
	if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = c.Close()
	}
}

// A receiver that fails nine times of ten, each time in another way, gets every decision; by the id it knows those that
// it had.
func TestReceiverThatFailsNineTimesOfTenGetsTheDecision(t *testing.T) {
	s := receive(t, func(n int, w http.ResponseWriter, r *http.Request) {
		switch n % 10 {
		case 0:
			w.WriteHeader(http.StatusOK)
		case 1, 2:
			drop(w)
		case 3: // hangs
			<-r.Context().Done()
		default:
			fail(w, []int{429, 503, 500, 502, 408, 425}[n%10-4])
		}
	})
	busy := true
	p := sender(t, hosts(t, s.at()), func(c *callback.Config) {
		all := c.Approvals.(approvals)
		body := all.body
		c.Timeout = 2 * time.Second
		all.body = func(ctx context.Context, id core.ApprovalID) ([]byte, error) {
			if busy = !busy; !busy {
				return nil, core.Errorf(core.StoreBusy, "busy")
			}
			return body(ctx, id)
		}
		c.Approvals = all
	})
	o := newOffice(t, p, 0)
	for n := range 3 {
		id := core.ApprovalID(fmt.Sprintf("a%d", n))
		o.put("http://"+s.at()+"/decided", id)
		if r := o.deliver(id); r.State != core.RowSent || r.Delivered()[0].Ref != core.Ref(id+"/callback") {
			t.Fatalf("%+v", r)
		}
		all := s.got()
		if len(all) != 10*(n+1) {
			t.Fatalf("%d requests", len(all))
		}
		for _, r := range all[10*n:] {
			if got := r.header.Get("Webhook-Id"); got != string(id) {
				t.Errorf("an attempt has the id %s", got)
			}
			hook, _ := standardwebhooks.NewWebhookRaw(newKey)
			if err := hook.VerifyIgnoringTimestamp([]byte(r.body), r.header); err != nil {
				t.Error(err)
			}
		}
	}
	if o.ahead < time.Minute {
		t.Errorf("it did not wait as the receiver asked: %s", o.ahead)
	}
}

// The outbox gives up a delivery before the receiver answers, or dies: whether the decision arrived is unknown, and it
// is sent again.
func TestDecisionInDoubtIsSentAgain(t *testing.T) {
	s := receive(t, func(n int, _ http.ResponseWriter, r *http.Request) {
		if n == 1 {
			<-r.Context().Done()
		}
	})
	o := newOffice(t, sender(t, hosts(t, s.at()), nil), 2*time.Second)
	o.put("http://"+s.at(), "a1")
	if r := o.deliver("a1"); r.State != core.RowSent || len(s.got()) != 2 {
		t.Errorf("after a timeout: %+v, %d requests", r, len(s.got()))
	}

	o.put("http://"+s.at(), "a2")
	rows, err := o.store.ClaimPosts(t.Context(),
		core.PostRequest{Owner: "gone", Limit: 1, Scopes: []core.Scope{{Platform: callback.Name}}})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%v, %v", rows, err)
	}
	rows[0].Parts = []core.Part{{InDoubt: true, SentAt: o.now()}}
	if err := o.store.SavePost(t.Context(), rows[0]); err != nil {
		t.Fatal(err)
	}
	for range 5 { // another process takes the one that claimed it for dead
		if err := o.store.Beat(t.Context(), "observer"); err != nil {
			t.Fatal(err)
		}
	}
	if r := o.deliver("a2"); r.State != core.RowSent || len(s.got()) != 3 {
		t.Errorf("after a crash: %+v, %d requests", r, len(s.got()))
	}
}

// A refusal is a dead letter that says why. A decision that its receiver can't take delays no other, for the same URL
// either.
func TestRefusalIsADeadLetterAndDelaysNoOther(t *testing.T) {
	s := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 1:
			fail(w, http.StatusInternalServerError)
		case 2:
			fail(w, http.StatusGone)
		}
	})
	o := newOffice(t, sender(t, hosts(t, s.at()), nil), 0)
	o.put("http://"+s.at(), "stuck")
	if err := o.box.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.put("http://"+s.at(), "gone")
	if r := o.deliver("gone"); r.State != core.RowDead || !strings.Contains(r.Cause, "410 Gone") {
		t.Errorf("%+v", r)
	}
	o.put("http://"+s.at(), "a1")
	if r := o.deliver("a1"); r.State != core.RowSent {
		t.Errorf("%+v", r)
	}
	if r := o.row("stuck"); r.State != core.RowWaiting || r.Attempts != 1 ||
		!strings.Contains(r.Cause, "500 Internal Server Error") {
		t.Errorf("%+v", r)
	}
}
