package slacktest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"gatehouse/adapters/slack/slacktest"
)

// app is the HTTP server of an app: it checks signatures with slack-go and records the requests.
type app struct {
	*httptest.Server
	mu     sync.Mutex
	came   []came
	status func(n int, r *http.Request) int // for the nth request
	answer string
}

type came struct {
	body  []byte
	retry string
	why   string
	bad   error // of the signature
}

func newApp(t *testing.T, secret string) *app {
	a := &app{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c := came{body: body, retry: r.Header.Get("X-Slack-Retry-Num"), why: r.Header.Get("X-Slack-Retry-Reason")}
		verifier, err := slackgo.NewSecretsVerifier(r.Header, secret)
		if err == nil {
			_, _ = verifier.Write(body)
			err = verifier.Ensure()
		}
		c.bad = err
		a.mu.Lock()
		a.came = append(a.came, c)
		n, status, answer := len(a.came), a.status, a.answer
		a.mu.Unlock()
		code := http.StatusOK
		if status != nil {
			code = status(n, r)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *app) all() []came {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]came{}, a.came...)
}

// answersWith sets the app's answer.
func (a *app) answersWith(answer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = answer
}

func (a *app) everything() slacktest.Addresses {
	return slacktest.Addresses{Events: a.URL, Interactions: a.URL, Commands: a.URL}
}

func TestAMentionIsTwoSignedEventsWithOneTimestamp(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	a := newApp(t, w.SigningSecret())
	w.SendTo(a.everything())
	post := w.alice.Posts("C1", w.MentionOfBot()+" hello")
	if err := w.WaitDelivered(w.ctx); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, c := range a.all() {
		if c.bad != nil {
			t.Error(c.bad)
		}
		e, err := slackevents.ParseEvent(c.body, slackevents.OptionNoVerifyToken())
		if err != nil {
			t.Fatal(err)
		}
		ids[e.Data.(*slackevents.EventsAPICallbackEvent).EventID] = true
		switch inner := e.InnerEvent.Data.(type) {
		case *slackevents.AppMentionEvent:
			if inner.TimeStamp != post.TS || inner.User != "U1" {
				t.Errorf("%+v", inner)
			}
		case *slackevents.MessageEvent:
			if inner.TimeStamp != post.TS || inner.ChannelType != "channel" {
				t.Errorf("%+v", inner)
			}
		}
	}
	if len(ids) != 2 {
		t.Errorf("got the event ids %v", ids)
	}
}

func TestAnEventIsRetriedUntilAcknowledged(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	a := newApp(t, w.SigningSecret())
	a.status = func(n int, _ *http.Request) int {
		if n < 3 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	}
	w.SendTo(a.everything())
	d := w.alice.Says("hello").Deliveries[0]
	if err := d.Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	tries := a.all()
	if len(tries) != 3 || tries[0].retry != "" || tries[1].retry != "1" || tries[2].retry != "2" ||
		tries[2].why != "http_error" {
		t.Errorf("%+v", tries)
	}
}

func TestSlackGoReceivesEventsOverASocket(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{PingEvery: 20 * time.Millisecond})
	client := socketmode.New(w.api)
	ctx, stop := context.WithCancel(w.ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { _ = client.RunContext(ctx) })
	texts := make(chan string, 10)
	running.Go(func() {
		for {
			select {
			case e := <-client.Events:
				if e.Type != socketmode.EventTypeEventsAPI {
					continue
				}
				_ = client.Ack(*e.Request)
				inner := e.Data.(slackevents.EventsAPIEvent).InnerEvent.Data
				if m, ok := inner.(*slackevents.MessageEvent); ok {
					texts <- m.Text
				}
			case <-ctx.Done():
				return
			}
		}
	})
	early := w.alice.Says("early").Deliveries[0] // before the socket is open
	for _, want := range []string{"early", "late"} {
		select {
		case got := <-texts:
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		case <-w.ctx.Done():
			t.Fatal("no event came")
		}
		if want == "early" {
			w.alice.Says("late")
		}
	}
	if err := w.WaitDelivered(w.ctx); err != nil {
		t.Fatal(err)
	}
	var envelope struct {
		EventID string `json:"event_id"`
	}
	if err := json.Unmarshal(early.Body(), &envelope); err != nil || envelope.EventID != early.EventID {
		t.Errorf("%v %+v", err, envelope)
	}
}
