package storagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/storagetest/sample"
)

// The places and people of the examples.
const (
	platform     = "plat"
	conversation = core.ConversationID("plat:one")
	other        = core.ConversationID("plat:two")
	minute       = time.Minute
	hour         = time.Hour
	over         = time.Duration(0) // in place of minute: the claim's owner dies at once
)

var (
	ann   = sample.Ann
	bob   = sample.Bob
	cleo  = sample.Cleo
	scope = []core.Scope{{Platform: platform}}
)

// world is a test's database, one open view of it, and helpers.
type world struct {
	testing.TB
	*sqlstore.Store
	ctx   context.Context
	db    Database
	owner string
	count int
	alive map[string]*sqlstore.Store // the owners that live
}

func newWorld(t testing.TB, open Opener) *world {
	w := &world{TB: t, ctx: context.Background(), db: open(t), alive: map[string]*sqlstore.Store{}}
	w.Store = w.view()
	w.owner = w.register(w.Store)
	return w
}

// view opens the database once more.
func (w *world) view() *sqlstore.Store {
	s := w.db.Open(w.TB)
	w.Cleanup(func() {
		if err := s.Close(); err != nil {
			w.Errorf("closing: %v", err)
		}
	})
	return s
}

// restart is a crash as the store sees it: the view is closed, nothing is released, and another view is opened.
// Afterwards the death is known.
func (w *world) restart() {
	w.Helper()
	w.crash()
	if w.db.Orphans {
		w.beat(sample.DeadAfter)
	}
}

// crash is a restart whose death only an engine that can prove it knows of.
func (w *world) crash() {
	w.Helper()
	w.ok(w.Close())
	delete(w.alive, w.owner)
	w.Store = w.view()
	w.owner = w.register(w.Store)
}

// beat has each owner that lives beat n times.
func (w *world) beat(n int) {
	w.Helper()
	for range n {
		for _, owner := range slices.Sorted(maps.Keys(w.alive)) {
			w.ok(w.alive[owner].Beat(w.ctx, owner))
		}
	}
}

// holder is the owner of a claim: the world's own or, where the claim is to be over at once, one that dies afterwards.
func (w *world) holder(life time.Duration) (owner string, dies func()) {
	w.Helper()
	if life > over {
		return w.owner, func() {}
	}
	w.count++
	owner = fmt.Sprintf("dead-%d", w.count)
	return owner, func() { w.beat(sample.DeadAfter) }
}

func (w *world) register(s *sqlstore.Store) string {
	w.Helper()
	owner := must(s.Register(w.ctx, "test", 0))(w)
	w.alive[owner] = s
	return owner
}

// must returns a function that unwraps a result and fails the test on an error.
func must[T any](v T, err error) func(*world) T {
	return func(w *world) T {
		w.Helper()
		w.ok(err)
		return v
	}
}

// release ends the delivery of a row.
func (w *world) release(row core.OutboxRow, wait time.Duration) error {
	_, err := w.ReleasePost(w.ctx, row, wait)
	return err
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("unexpected error: %v", err)
	}
}

// fails checks the category of an error.
func (w *world) fails(err error, c core.Category) {
	w.Helper()
	if got := core.CategoryOf(err); err == nil || got != c {
		w.Fatalf("got error %v (%q), want one of category %q", err, got, c)
	}
}

// equal checks that got equals want.
func (w *world) equal(what string, got, want any) {
	w.Helper()
	if diff := cmp.Diff(want, got, sample.Same); diff != "" {
		w.Fatalf("%s is not as it should be (-want +got):\n%s", what, diff)
	}
}

// event makes an event with a new id.
func (w *world) event(kind core.Kind, l core.ConversationID, subject string) core.Event {
	w.count++
	return core.Event{
		Platform: platform, ID: fmt.Sprintf("e%d", w.count), Conversation: l, Body: core.BodyOf(kind, subject),
		Actor:   ann,
		Address: core.Address{Platform: platform, Channel: string(l)}, Payload: json.RawMessage(`{"n": 1}`),
	}
}

func (w *world) accept(e core.Event) int64 {
	w.Helper()
	return must(w.Accept(w.ctx, e))(w).Seq
}

// message accepts a message.
func (w *world) message(l core.ConversationID) int64 {
	w.Helper()
	return w.accept(w.event(core.KindMessage, l, ""))
}

// signal accepts a signal for an invocation.
func (w *world) signal(l core.ConversationID, invocation core.InvocationID) int64 {
	w.Helper()
	e := w.event(core.KindSignal, l, "")
	e.Payload, _ = json.Marshal(core.SignalPayload{SignalID: "s", Invocation: invocation})
	return w.accept(e)
}

// claims claims up to n conversations, suspects last.
func (w *world) claims(n int, life time.Duration) []core.Claim {
	w.Helper()
	owner, dies := w.holder(life)
	defer dies()
	fresh := must(w.Claim(w.ctx, core.ClaimRequest{Owner: owner, Limit: n, Scopes: scope}))(w)
	return append(fresh,
		must(w.Claim(w.ctx, core.ClaimRequest{Owner: owner, Limit: n - len(fresh), Scopes: scope, Suspects: true}))(
			w)...)
}

func (w *world) controls(n int, life time.Duration) []core.Claim {
	w.Helper()
	return w.claimed(core.ClaimRequest{Limit: n, Scopes: scope, Controls: true}, life)
}

func (w *world) claimed(r core.ClaimRequest, life time.Duration) []core.Claim {
	w.Helper()
	owner, dies := w.holder(life)
	defer dies()
	r.Owner = owner
	return must(w.Claim(w.ctx, r))(w)
}

// claim claims the one conversation that is ready.
func (w *world) claim(life time.Duration) core.Claim {
	w.Helper()
	c := w.claims(10, life)
	if len(c) != 1 {
		w.Fatalf("got %d claims, want 1", len(c))
	}
	return c[0]
}

// idle checks that nothing is ready.
func (w *world) idle() {
	w.Helper()
	for _, c := range w.claims(10, minute) {
		w.Fatalf("event %d was given out", c.Event.Seq)
	}
}

// take claims and checks that it gets a certain event.
func (w *world) take(seq int64, life time.Duration) core.Claim {
	w.Helper()
	c := w.claim(life)
	if c.Event.Seq != seq {
		w.Fatalf("got event %d, want %d", c.Event.Seq, seq)
	}
	return c
}

// done finishes a turn with a reply and the rest of f.
func (w *world) done(c core.Claim, f core.Finish) {
	w.Helper()
	w.ok(w.Finish(w.ctx, finish(c, f)))
}

// changed ends a claim's turn with what it changed.
func (w *world) changed(c core.Claim, changes core.Changes) {
	w.Helper()
	w.done(c, core.Finish{Changes: changes})
}

func finish(c core.Claim, f core.Finish) core.Finish {
	f.Claim = c
	if f.End.Kind == "" && f.Retry == nil {
		f.End.Kind = core.EndReplied
	}
	return f
}

// record reads one event.
func (w *world) record(seq int64) core.EventRecord {
	w.Helper()
	found := must(w.Events(w.ctx, core.EventFilter{Seq: seq}))(w)
	if len(found) != 1 {
		w.Fatalf("got %d events of number %d", len(found), seq)
	}
	return found[0]
}

func seqs(events []core.EventRecord) []int64 {
	all := []int64{}
	for _, e := range events {
		all = append(all, e.Seq)
	}
	return all
}
