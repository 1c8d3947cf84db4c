package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/dispatch"
	"gatehouse/core/graph"
	"gatehouse/core/outbox"
	"gatehouse/storage"
)

// soakPlatform is a platform whose posts always arrive.
type soakPlatform struct{}

func (soakPlatform) Name() string                                 { return "soak" }
func (soakPlatform) Run(ctx context.Context, _ core.Accept) error { <-ctx.Done(); return nil }

func (soakPlatform) Parse(_ context.Context, e core.Event) (core.Input, error) {
	return core.Input{Message: &core.Message{Role: core.User, Content: core.Text(string(e.Payload))}}, nil
}

func (soakPlatform) Post(_ context.Context, d core.Delivery) (core.Ref, bool, error) {
	return core.Ref(d.Key), false, nil
}

func (soakPlatform) Edit(context.Context, core.Ref, core.Delivery) error { return nil }

func (soakPlatform) Find(context.Context, core.Delivery) (core.Found, error) {
	return core.Found{}, nil
}

// soakBegun is what a child prints from when on SIGTERM ends it well.
const soakBegun = "the soak has begun"

// soakChild runs turns of random duration, with random transient failures, until SIGTERM.
func soakChild(url string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	store, err := storage.Open(ctx, url, storage.Options{NewID: cli.NewID})
	if err != nil {
		return err
	}
	defer store.Close()
	heartbeat, err := time.ParseDuration(cmp.Or(os.Getenv("GATEHOUSE_LEASE"), "5s"))
	if err != nil {
		return err
	}
	owner, err := store.Register(ctx, "soak", heartbeat)
	for end := time.Now().Add(patience); core.CategoryOf(err) == core.StoreBusy && time.Now().Before(end); {
		owner, err = store.Register(ctx, "soak", heartbeat) // the test keeps the database busy
	}
	if err != nil {
		return err
	}
	fmt.Println(soakBegun)
	compiled, err := graph.New("soak", "1").Fields(graph.Messages).Session("messages").Entry("n").Node("n",
		soakNode).Edge("n", graph.END).Compile()
	if err != nil {
		return err
	}
	harness, err := chat.New(chat.Options{Graph: compiled})
	if err != nil {
		return err
	}
	service, platforms := approvals.NewService(store, store), []core.Platform{soakPlatform{}}
	deliver := outbox.New(outbox.Options{Store: store, Cards: service, Platforms: platforms, Owner: owner})
	d := dispatch.New(dispatch.Options{
		Store: store, Approvals: service, Outbox: deliver,
		Platforms: platforms, Owner: owner, Workers: 32, Drain: 10 * time.Second,
		Jitter: func() float64 {
			return -1
		}, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Harness: harness,
	})
	var all sync.WaitGroup
	all.Go(func() { _ = deliver.Run(ctx) })
	all.Go(func() { _ = d.Run(ctx) })
	all.Wait()
	return nil
}

func soakNode(ctx context.Context, s graph.State) (graph.Update, error) {
	timer := time.NewTimer(time.Duration(rand.N(int64(5 * time.Millisecond))))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if rand.N(50) == 0 {
		return nil, core.Errorf(core.StoreBusy, "the database is not there")
	}
	said, err := graph.Messages.Get(s).Tail(ctx, 1)
	if err != nil {
		return nil, err
	}
	return graph.Update{graph.Messages.Add(
		core.Message{Role: core.Assistant, Content: core.Text("re " + said[0].Content.String())})}, nil
}

// TestSoak_EveryEventEndsOnceInOrder stores many messages in many conversations, some of them twice. The process that
// answers them is killed in the middle and started again. GATEHOUSE_SOAK_ROUNDS is the number of rounds; if the tests
// are wide, there are several times as many messages.
func TestSoak_EveryEventEndsOnceInOrder(t *testing.T) {
	t.Parallel()
	rounds, _ := strconv.Atoi(os.Getenv("GATEHOUSE_SOAK_ROUNDS"))
	for range max(1, rounds) {
		t.Run("sqlite", func(t *testing.T) { soak(t, sqliteFile, wide(200, 60), wide(50, 25)) })
		t.Run("postgres", func(t *testing.T) { soak(t, postgresServer, wide(50, 20), 20) })
	}
}

func soak(t *testing.T, e engine, conversations, messages int) {
	w := e.workbench(t)
	start := func() *child { return w.start([]string{soakKey + "=" + w.url}) }
	c := start()
	var said sync.WaitGroup
	defer said.Wait() // also after a failure: it reports to this test
	for conversation := range conversations {
		said.Go(func() { w.soakSay(conversation, messages) })
	}
	// waits for so many percent of the turns, so that no wait is long, however many turns there are
	percent := func(n int) {
		t.Helper()
		seq := int64(conversations * messages * n / 100)
		w.until(fmt.Sprintf("turn %d", seq), c, func() bool {
			found := w.events(core.EventFilter{Seq: seq})
			return c.gone() || len(found) == 1 && !found[0].EndedAt.IsZero()
		})
	}
	for n := 1; n <= 50; n++ {
		percent(n)
	}
	if c.gone() {
		t.Fatalf("the process ended by itself:\n%s", c.out)
	}
	c.kill()
	c = start()
	for n := 51; n <= 100; n++ {
		percent(n)
	}
	said.Wait()
	w.until("the end of all", c, w.settled)
	// the first may have done it all
	w.until("the beginning of the second process", c, func() bool {
		return strings.Contains(c.out.String(), soakBegun)
	})
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	c.quit(t)
	if c.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("after SIGTERM: %s\n%s", c.cmd.ProcessState, c.out)
	}
	events := w.events(core.EventFilter{})
	if len(events) != conversations*messages {
		t.Fatalf("%d events, want %d", len(events), conversations*messages)
	}
	for _, e := range events {
		if e.End.Kind != core.EndReplied {
			t.Errorf("event %d: %+v", e.Seq, e.End)
		}
	}
	w.soakReplies(conversations * messages)
	for conversation := range conversations {
		w.soakOrder(conversation, messages)
	}
}

// soakSay stores the messages of a conversation in order, one in twenty of them twice.
func (w *workbench) soakSay(conversation, messages int) {
	for n := range messages {
		payload, _ := json.Marshal(n)
		e := core.Event{
			Platform: "soak", ID: fmt.Sprintf("%d/%d", conversation, n),
			Conversation: core.ConversationID(fmt.Sprintf("soak:%d", conversation)), Body: core.MessageEvent{},
			Address: core.Address{Platform: "soak", Channel: strconv.Itoa(conversation)}, Payload: payload,
		}
		for range 1 + (n+conversation)%20/19 {
			_, err := w.store.Accept(w.t.Context(), e)
			for end := time.Now().Add(patience); core.CategoryOf(err) == core.StoreBusy && time.Now().Before(end); {
				_, err = w.store.Accept(w.t.Context(), e) // a platform sends again what was not stored
			}
			if err != nil {
				w.t.Errorf("accept: %v", err)
			}
		}
	}
}

// soakReplies checks that each event has one delivered reply.
func (w *workbench) soakReplies(want int) {
	w.t.Helper()
	rows, err := w.store.ListPosts(w.t.Context(), nil, "", 0)
	if err != nil {
		w.t.Fatal(err)
	}
	of := map[int64]int{}
	for _, r := range rows {
		if r.Kind != core.PostReply {
			continue
		}
		of[r.Event]++
		if r.State != core.RowSent || of[r.Event] > 1 {
			w.t.Errorf("event %d: reply %d is %s", r.Event, of[r.Event], r.State)
		}
	}
	if len(of) != want {
		w.t.Errorf("%d events have a reply, want %d", len(of), want)
	}
}

// soakOrder checks that a conversation's history is its messages in order, each with its answer.
func (w *workbench) soakOrder(conversation, messages int) {
	w.t.Helper()
	id := core.ConversationID(fmt.Sprintf("soak:%d", conversation)).Session(1)
	rec, err := w.store.LoadSession(w.t.Context(), id, core.Writer{})
	if err != nil || rec == nil {
		w.t.Fatalf("%s: %v, %v", id, rec, err)
	}
	said, err := rec.Messages.From(w.t.Context(), 0)
	if err != nil || len(said) != 2*messages {
		w.t.Fatalf("%s: %d messages, want %d (%v)", id, len(said), 2*messages, err)
	}
	for n := range messages {
		if q, a := said[2*n].Content.String(), said[2*n+1].Content.String(); q != strconv.Itoa(n) || a != "re "+q {
			w.t.Fatalf("%s: at %d stands %q, %q", id, n, q, a)
		}
	}
}
