package dispatch_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"gatehouse/approvals"
	"gatehouse/approvals/policy"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/chat"
	"gatehouse/core/dispatch"
	"gatehouse/core/graph"
	"gatehouse/core/outbox"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// patience is how long a test waits for something that should happen at once.
const patience = 2 * time.Minute

// room is a platform in memory that sends its posts to a channel.
type room struct {
	name   string
	posted chan core.Delivery
	edited chan core.Delivery
	steps  chan core.Delivery
}

func (r *room) Name() string { return r.name }

func (r *room) Run(ctx context.Context, _ core.Accept) error { <-ctx.Done(); return nil }

func (r *room) Parse(_ context.Context, e core.Event) (core.Input, error) {
	var text string
	if err := json.Unmarshal(e.Payload, &text); err != nil {
		return core.Input{}, core.Wrap(core.ChatMessageShapeInvalid, err, "That is no text.")
	}
	return core.Input{Message: &core.Message{Role: core.User, Content: core.Text(text)}}, nil
}

func (r *room) Post(_ context.Context, d core.Delivery) (core.Ref, bool, error) {
	if d.Kind == core.PostWorking {
		return "", false, nil
	}
	if d.Kind == core.PostSteps {
		r.steps <- d
	} else {
		r.posted <- d
	}
	return core.Ref("ref/" + d.Key), false, nil
}

func (r *room) Find(context.Context, core.Delivery) (core.Found, error) {
	return core.Found{}, core.Errorf(core.Unsupported, "The room can't be read.")
}

func (r *room) Edit(_ context.Context, _ core.Ref, d core.Delivery) error {
	if d.Kind == core.PostSteps {
		r.steps <- d
	} else {
		r.edited <- d
	}
	return nil
}

// bench is a dispatcher and an outbox over a real store.
type bench struct {
	t     testing.TB
	path  string
	store *storage.Store
	room  *room
	disp  *dispatch.Dispatcher
	stop  func() // ends dispatcher and outbox, drained
}

// setup are the parts of a bench; zero values are the defaults.
type setup struct {
	model    agent.Model // the demo
	tools    []tool.Tool // besides the demo's
	compiled *graph.Graph
	policy   rules
	options  func(*dispatch.Options)
	path     string // an existing database: a file, or a URL of Postgres
	service  func(*approvals.Service)
	idle     bool // do not run
	trace    func(storage.Statement)
}

func newBench(t testing.TB, s setup) *bench {
	t.Helper()
	if s.path == "" {
		s.path = filepath.Join(t.TempDir(), "gatehouse.db")
	}
	url := s.path
	if !strings.HasPrefix(url, "postgres:") {
		url = "sqlite:" + url
	}
	store, err := storage.Open(t.Context(), url, storage.Options{Now: time.Now, NewID: newID, Trace: s.trace})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{
		t: t, path: s.path, store: store,
		room: &room{
			name: "room", posted: make(chan core.Delivery, 10_000), edited: make(chan core.Delivery, 10_000),
			steps: make(chan core.Delivery, 10_000),
		},
	}
	owner, err := store.Register(t.Context(), "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	service := approvals.NewService(store, store)
	if s.service != nil {
		s.service(service)
	}
	compiled := b.compile(s)
	harness, err := chat.New(chat.Options{Graph: compiled})
	if err != nil {
		t.Fatal(err)
	}
	deliver := outbox.New(
		outbox.Options{Store: store, Cards: service, Platforms: []core.Platform{b.room}, Owner: owner})
	o := dispatch.Options{
		Store: store, Approvals: service, Outbox: deliver,
		Platforms: []core.Platform{b.room}, Owner: owner,
		Harness: harness,
		// no delay between retries
		Log: testLog(t), Drain: 20 * time.Second, MaxMessage: 1 << 20, Jitter: func() float64 { return -1 },
	}
	if s.options != nil {
		s.options(&o)
	}
	b.disp = dispatch.New(o)
	b.run(s.idle, deliver)
	return b
}

// die claims up to n events for a process that then dies, and has another process notice. Other processes that do not
// beat meanwhile die too.
func (b *bench) die(n int) []core.Claim {
	b.t.Helper()
	var died []core.Claim
	for _, suspects := range []bool{false, true} {
		claims, err := b.store.Claim(b.t.Context(),
			core.ClaimRequest{
				Owner: "gone", Limit: n - len(died), Scopes: []core.Scope{{Platform: "room"}}, Suspects: suspects,
			})
		if err != nil {
			b.t.Fatal(err)
		}
		died = append(died, claims...)
	}
	b.expire()
	return died
}

// expire has an observer take all processes that do not beat for dead.
func (b *bench) expire() {
	b.t.Helper()
	for range 5 {
		if err := b.store.Beat(b.t.Context(), "observer"); err != nil {
			b.t.Fatal(err)
		}
	}
}

// run starts the dispatcher and the outbox; at the end of the test it stops them and closes the store.
func (b *bench) run(idle bool, deliver *outbox.Deliverer) {
	ctx, cancel := context.WithCancel(context.Background())
	var dispatching, delivering sync.WaitGroup
	speak, hush := context.WithCancel(context.Background())
	if !idle {
		dispatching.Go(func() { _ = b.disp.Run(ctx) })
		delivering.Go(func() { _ = deliver.Run(speak) })
	}
	b.stop = sync.OnceFunc(func() {
		cancel()
		dispatching.Wait()
		hush()
		delivering.Wait()
		if err := b.store.Close(); err != nil {
			b.t.Errorf("closing the store: %v", err)
		}
	})
	b.t.Cleanup(b.stop)
}

func (b *bench) compile(s setup) *graph.Graph {
	if s.compiled != nil {
		return s.compiled
	}
	if s.model == nil {
		s.model = agent.Demo{}
	}
	if s.policy == nil {
		s.policy = policy.Defaults{Approvers: []string{"room:bob"}}.Rule
	}
	tools := append([]tool.Tool{tool.Calc(), tool.NoteAdd(b.store.AddNote), tool.NoteList(b.store.Notes)}, s.tools...)
	compiled, err := agent.Loop{
		Name: "demo", Model: s.model, Executor: &tool.Executor{Tools: tool.NewRegistry(tools...)}, Policy: s.policy,
		NewID: newID,
	}.Graph()
	if err != nil {
		b.t.Fatal(err)
	}
	return compiled
}

// rules are a policy under which nobody can be asked.
type rules func(core.Turn, core.Call) core.Rule

func (r rules) Rule(turn core.Turn, call core.Call) core.Rule { return r(turn, call) }

func (rules) Asks(core.Turn, core.Call, tool.Asking) core.Rule {
	return core.Rule{Verdict: core.VerdictDeny, Why: "Nobody can be asked here."}
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (b *bench) accept(e core.Event) core.Receipt {
	b.t.Helper()
	e.Platform = "room"
	e.Address = core.Address{Platform: "room", Channel: string(e.Conversation)}
	if e.ID == "" {
		e.ID = newID()
	}
	if e.Actor.ID == "" {
		e.Actor = core.Actor{ID: "room:ann", Name: "Ann"}
	}
	r, err := b.disp.Accept(b.t.Context(), e)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) say(conversation core.ConversationID, text string) core.Receipt {
	b.t.Helper()
	payload, _ := json.Marshal(text)
	return b.accept(core.Event{Conversation: conversation, Body: core.MessageEvent{}, Payload: payload})
}

func (b *bench) word(conversation core.ConversationID, word string) core.Receipt {
	b.t.Helper()
	return b.accept(core.Event{Conversation: conversation, Body: core.ControlEvent{Word: word}})
}

func (b *bench) click(
	conversation core.ConversationID, id core.ApprovalID, who string, c core.Choice, reason string,
) core.Receipt {
	b.t.Helper()
	payload, _ := json.Marshal(core.Click{Approval: id, Choice: c, Reason: reason})
	return b.accept(
		core.Event{
			Conversation: conversation, Body: core.ClickEvent{Approval: id}, Payload: payload,
			Actor: core.Actor{ID: who, Name: who},
		})
}

// heard waits for the next post.
func (b *bench) heard() core.Delivery {
	b.t.Helper()
	return b.next(b.room.posted, "a post")
}

// redrawn waits for the next edit.
func (b *bench) redrawn() core.Delivery {
	b.t.Helper()
	return b.next(b.room.edited, "an edit")
}

func (b *bench) next(from chan core.Delivery, what string) core.Delivery {
	b.t.Helper()
	select {
	case d := <-from:
		return d
	case <-time.After(patience):
		b.t.Fatalf("%s never came", what)
		return core.Delivery{}
	}
}

// expect waits for a post that contains want.
func (b *bench) expect(want string) core.Delivery {
	b.t.Helper()
	d := b.heard()
	if !strings.Contains(d.Text, want) {
		b.t.Fatalf("heard %s %q, want %q in it", d.Kind, d.Text, want)
	}
	return d
}

// asked waits for a card.
func (b *bench) asked() core.Card {
	b.t.Helper()
	d := b.heard()
	if d.Kind != core.PostCard || d.Card == nil || d.Card.State != core.Open {
		b.t.Fatalf("heard %+v, want an open card", d)
	}
	return *d.Card
}

// ended waits for an event's end.
func (b *bench) ended(seq int64) core.EventRecord {
	b.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if e := b.event(seq); !e.EndedAt.IsZero() {
			return e
		}
		settle()
	}
	b.t.Fatalf("event %d never ended: %+v", seq, b.event(seq))
	return core.EventRecord{}
}

// settle waits a moment for other goroutines and processes; callers check their condition again.
func settle() {
	timer := time.NewTimer(5 * time.Millisecond)
	<-timer.C
}

func (b *bench) event(seq int64) core.EventRecord {
	b.t.Helper()
	found, err := b.store.Events(b.t.Context(), core.EventFilter{Seq: seq})
	if err != nil || len(found) != 1 {
		b.t.Fatalf("event %d: %v, %v", seq, found, err)
	}
	return found[0]
}

func (b *bench) notes(conversation core.ConversationID) []string {
	b.t.Helper()
	notes, err := b.store.Notes(b.t.Context(), string(conversation))
	if err != nil {
		b.t.Fatal(err)
	}
	return notes
}

func (b *bench) history(id core.SessionID) []core.Message {
	b.t.Helper()
	rec, err := b.store.LoadSession(b.t.Context(), id, core.Writer{})
	if err != nil {
		b.t.Fatal(err)
	}
	if rec == nil {
		return nil
	}
	msgs, err := rec.Messages.From(b.t.Context(), 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return msgs
}

// testLog writes to the test's own log.
func testLog(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(writer{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type writer struct{ t testing.TB }

func (w writer) Write(p []byte) (int, error) {
	w.t.Logf("%s", p)
	return len(p), nil
}
