package openharness_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/openharness"
	"gatehouse/core"
	"gatehouse/core/inflight"
	"gatehouse/storage"
)

const mailbox = core.ConversationID("openharness:oh/local/s1")

// served is an engine behind a real HTTP server, on a real store.
type served struct {
	*openharness.Engine
	store *shelf
	ahead atomic.Int64 // of the store's clock
	http  *httptest.Server

	memory *inflight.Budget // nil: no limit

	mu     sync.Mutex
	cards  map[core.ApprovalID]core.Card // as they were posted last
	accept core.Accept
	ready  chan struct{}
	acks   int
	sent   int
	last   []byte
	wait   sync.WaitGroup
	stop   context.CancelFunc
	ctx    context.Context
}

// shelf is a store with an approval for every id.
type shelf struct{ *storage.Store }

func (s shelf) LoadApproval(_ context.Context, id core.ApprovalID) (core.Approval, error) {
	return core.Approval{
		ID: id, Invocation: "run-1", Conversation: mailbox, State: core.Open,
		Requester: core.Actor{ID: "openharness:local"},
	}, nil
}

func serve(t *testing.T, change ...func(*openharness.Options)) *served {
	t.Helper()
	s := &served{ready: make(chan struct{}), cards: map[core.ApprovalID]core.Card{}}
	now := func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
	store, err := storage.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), storage.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	s.store = &shelf{store}
	s.ctx, s.stop = context.WithCancel(context.Background())
	signer, err := core.NewSigner("the old key of many characters")
	if err != nil {
		t.Fatal(err)
	}
	o := openharness.Options{
		Gate: access.New(access.Options{Signer: store.Signer()}), Store: s.store, Signer: signer,
		Cards: adaptertest.CardFunc(s.card),
		KV:    store, Blobs: store,
	}
	for _, c := range change {
		c(&o)
	}
	s.Engine = openharness.New(o)
	mux := http.NewServeMux()
	for pattern, h := range s.Routes(func(ctx context.Context, e core.Event) (core.Receipt, error) {
		return s.pass(ctx, e)
	}) {
		mux.Handle(pattern, h)
	}
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hold := s.memory.Hold(inflight.Strangers, r.RemoteAddr)
		defer hold.Release()
		mux.ServeHTTP(w, r.WithContext(inflight.With(r.Context(), hold)))
	}))
	return s
}

// Run passes events to accept, which stands for the store's answer, and then to the store.
func (s *served) Run(ctx context.Context, accept core.Accept) error {
	s.accept = accept
	close(s.ready)
	return s.Engine.Run(ctx, accept)
}

// Post keeps the card, as the store would.
func (s *served) Post(ctx context.Context, d core.Delivery) (core.Ref, bool, error) {
	if d.Card != nil {
		s.mu.Lock()
		s.cards[d.Approval] = *d.Card
		s.mu.Unlock()
	}
	return s.Engine.Post(ctx, d)
}

// Edit keeps the card, as the store would.
func (s *served) Edit(ctx context.Context, _ core.Ref, d core.Delivery) error {
	_, _, err := s.Post(ctx, d)
	return err
}

func (s *served) card(_ context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cards[id], nil
}

func (s *served) pass(ctx context.Context, e core.Event) (core.Receipt, error) {
	<-s.ready
	if _, err := s.accept(ctx, e); err != nil {
		return core.Receipt{}, err
	}
	return s.store.Accept(ctx, e)
}

// Close ends the fake and the store.
func (s *served) Close() {
	s.stop()
	s.wait.Wait()
	s.http.Client().CloseIdleConnections()
	s.http.Close()
	_ = s.store.Close()
}

// post sends a message and does not wait for its turn.
func (s *served) post(body []byte) (status int, answer []byte, err error) {
	q, err := http.NewRequestWithContext(s.ctx, http.MethodPost, s.http.URL+"/v1/openharness", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Prefer", "wait=0")
	r, err := s.http.Client().Do(q)
	if err != nil {
		return 0, nil, err
	}
	defer r.Body.Close()
	answer, err = io.ReadAll(r.Body)
	return r.StatusCode, answer, err
}

func message(id, context string) []byte {
	return fmt.Appendf(nil, `{"protocol_version":"1.0.0","request_id":%q,"request":{"context":{"session_id":"s1",%s}}}`,
		id, context)
}

// send sends a request until it is served, as a Shell does that gets retryable errors.
func (s *served) send(body []byte) { s.wait.Go(func() { s.served(body) }) }

func (s *served) served(body []byte) {
	for s.ctx.Err() == nil {
		status, _, err := s.post(body)
		if err == nil && status == http.StatusOK {
			s.mu.Lock()
			s.acks++
			s.mu.Unlock()
			return
		}
	}
}

// Say sends a message.
func (s *served) Say(_ testing.TB, text string) {
	quoted, _ := json.Marshal(text)
	s.mu.Lock()
	s.sent++
	s.last = message(fmt.Sprintf("r%d", s.sent), `"user_intent":`+string(quoted))
	body := s.last
	s.mu.Unlock()
	s.send(body)
}

// Repeat sends the last message again, and waits for its answer.
func (s *served) Repeat(testing.TB) { s.served(s.last) }

// Recognizes says that what is known already is answered from the store.
func (s *served) Recognizes() {}

// Acknowledged returns how many requests were answered with success.
func (s *served) Acknowledged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acks
}

// Conversation is the session of all requests.
func (s *served) Conversation() (core.Address, core.ConversationID) {
	return core.Address{Platform: "openharness", Channel: string(mailbox)}, mailbox
}

// events reads the stream of events until the newest mail.
func (s *served) events(after string) (all []map[string]any, err error) {
	mail, err := s.store.ListMail(s.ctx, core.MailFilter{Mailbox: mailbox, Last: 1})
	if err != nil || len(mail) == 0 {
		return nil, err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http.URL+"/v1/openharness/events?session=s1", nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Last-Event-ID", after)
	r, err := s.http.Client().Do(q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	last := fmt.Sprintf("id: %d", mail[0].Seq)
	in := bufio.NewScanner(r.Body)
	in.Buffer(nil, 16<<20)
	for seen := false; ; {
		if !in.Scan() {
			return all, fmt.Errorf("the stream ended: %w", in.Err())
		}
		seen = seen || in.Text() == last
		if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
			var m map[string]any
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				return all, err
			}
			if all = append(all, m); seen {
				return all, nil
			}
		}
	}
}

// Shown is the text of all events.
func (s *served) Shown() string {
	all, err := s.events("0")
	if err != nil {
		return err.Error()
	}
	var text strings.Builder
	for _, m := range all {
		response := m["response"].(map[string]any)
		if failed, ok := response["error"].(map[string]any); ok {
			fmt.Fprintln(&text, failed["message"])
		}
		directives, _ := response["action_directives"].([]any)
		for _, d := range directives {
			for _, value := range d.(map[string]any)["payload"].(map[string]any) {
				fmt.Fprintln(&text, value)
			}
		}
	}
	return text.String()
}

// SideEffects are none: an answer is data.
func (s *served) SideEffects() []string { return nil }

// Click sends the continuation of a choice on a card.
func (s *served) Click(t testing.TB, c core.Click) {
	t.Helper()
	token := s.choice(t, c.Approval, c.Choice)
	reason, err := json.Marshal(c.Reason)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.sent++
	body := fmt.Appendf(nil,
		`{"protocol_version":"1.0.0","request_id":"c%d","request":{"context":{"session_id":"s1",`+
			`"continuation":%s},"extensions":{"dev.gatehouse":{"reason":%s}}}}`,
		s.sent, token, reason)
	s.last = body
	s.mu.Unlock()
	s.wait.Go(func() { _, _, _ = s.post(body) })
}

// choice returns the continuation of a choice on a card, as JSON.
func (s *served) choice(t testing.TB, id core.ApprovalID, choice core.Choice) string {
	t.Helper()
	all, err := s.events("0")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		for _, d := range m["response"].(map[string]any)["action_directives"].([]any) {
			own := d.(map[string]any)["extensions"].(map[string]any)["dev.gatehouse"].(map[string]any)
			choices, _ := d.(map[string]any)["payload"].(map[string]any)["choices"].([]any)
			for _, c := range choices {
				if own["approval"] == string(id) && c.(map[string]any)["id"] == string(choice) {
					token, err := json.Marshal(c.(map[string]any)["continuation"])
					if err != nil {
						t.Fatal(err)
					}
					return string(token)
				}
			}
		}
	}
	t.Fatalf("there is no choice %s of %s", choice, id)
	return ""
}
