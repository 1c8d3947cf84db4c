package slack_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// marked is a word in each refused body that must not appear in the log.
const marked = "hush-hush"

// After a pause of the process Slack has hung up. What it sent counts: it sends a press only once.
func TestWhatSlackSentCountsAlthoughItHasHungUp(t *testing.T) {
	r := start(t, setup{}).known()
	body := []byte(`{"type":"event_callback","team_id":"` + r.TeamID() + `","event":{"type":"message",` +
		`"channel_type":"im","channel":"` + r.DMWith("U1ANN") + `","user":"U1ANN","text":"hi",` +
		`"ts":"1764000000.000100"}}`)
	hungUp, cancel := context.WithCancel(r.ctx)
	cancel()
	q := httptest.NewRequestWithContext(hungUp, http.MethodPost, "/slack/events", bytes.NewReader(body))
	now := time.Now()
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-Slack-Request-Timestamp", fmt.Sprint(now.Unix()))
	q.Header.Set("X-Slack-Signature", slacktest.Sign(r.SigningSecret(), now, body))
	w := httptest.NewRecorder()
	accept := func(ctx context.Context, e core.Event) (core.Receipt, error) {
		if ctx.Err() != nil {
			t.Error("nothing can be stored any more")
		}
		return r.inbox.Accept(ctx, e)
	}
	r.p.Routes(accept)["POST /slack/events"].ServeHTTP(w, q)
	if stored := r.inbox.Take(); w.Code != http.StatusOK || len(stored) != 1 {
		t.Errorf("%d; stored: %v", w.Code, stored)
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	good := `{"type":"event_callback","team_id":"T0GATE","event":{"type":"message","user":"U1ANN","channel":"D1",` +
		`"channel_type":"im","ts":"1.2","text":"` +
		marked + `"}}`
	at := func(when time.Time, body string) func(*http.Request) {
		return func(q *http.Request) {
			q.Header.Set("X-Slack-Request-Timestamp", fmt.Sprint(when.Unix()))
			q.Header.Set("X-Slack-Signature", slacktest.Sign("8f742231b10e8888abcd99yyyzzz85a5", when, []byte(body)))
		}
	}
	header := func(key, value string) func(*http.Request) { return func(q *http.Request) { q.Header.Set(key, value) } }
	for name, c := range map[string]struct {
		path   string
		body   string
		change func(*http.Request)
		want   int
	}{
		"another secret": {
			body: good, want: 401,
			change: header("X-Slack-Signature", slacktest.Sign("another secret", time.Now(), []byte(good))),
		},
		"another body": {body: good + " ", want: 401, change: at(time.Now(), good)},
		"no signature": {body: good, want: 401, change: func(q *http.Request) { q.Header.Del("X-Slack-Signature") }},
		"no time": {body: good, want: 401, change: func(q *http.Request) {
			q.Header.Del("X-Slack-Request-Timestamp")
		}},
		"neither": {body: good, want: 401, change: func(q *http.Request) {
			q.Header.Del("X-Slack-Signature")
			q.Header.Del("X-Slack-Request-Timestamp")
		}},
		"no number": {
			body: good, want: 401, change: header("X-Slack-Request-Timestamp", "now"),
		},
		"another version": {body: good, want: 401, change: func(q *http.Request) {
			q.Header.Set("X-Slack-Signature", "v1"+q.Header.Get("X-Slack-Signature")[2:])
		}},
		"too old":           {body: good, want: 401, change: at(time.Now().Add(-6*time.Minute), good)},
		"from the future":   {body: good, want: 401, change: at(time.Now().Add(6*time.Minute), good)},
		"another workspace": {body: strings.Replace(good, "T0GATE", "T9OTHER", 1), want: 403},
		"no workspace":      {body: strings.Replace(good, "T0GATE", "", 1), want: 403},
		"a body that is too large": {
			body: `{"text":"` + strings.Repeat(marked, 10<<20/len(marked)) + `"}`, want: 413,
		},
		"an unsigned body that is too large": {
			body: strings.Repeat(marked, 10<<20/len(marked)), want: 413, change: header("X-Slack-Signature", "v0=00"),
		},
		"no type of content": {body: good, want: 415, change: func(q *http.Request) {
			q.Header.Del("Content-Type")
		}},
		"a form instead of JSON": {
			body: good, want: 415, change: header("Content-Type", "application/x-www-form-urlencoded"),
		},
		"JSON instead of a form": {
			path: "/slack/commands", body: good, want: 415, change: header("Content-Type", "application/json"),
		},
		"half a body":   {body: good[:len(good)-3], want: 400},
		"no JSON":       {body: marked, want: 400},
		"no object":     {body: `["` + marked + `"]`, want: 400},
		"an empty body": {body: "", want: 400},
		"no event": {
			body: `{"type":"event_callback","team_id":"T0GATE","event":"` + marked + `"}`, want: 400,
		},
		"a malformed event": {body: `{"type":"event_callback","team_id":"T0GATE","event":{"type":"message",` +
			`"channel":["` +
			marked + `"]}}`,
			want: 400},
		"no event at all": {
			body: `{"type":"event_callback","team_id":"T0GATE","x":"` + marked + `"}`, want: 400,
		},
		"no change": {body: `{"type":"event_callback","team_id":"T0GATE","event":{"type":"message",` +
			`"subtype":"message_changed","channel":"C1","message":"` +
			marked + `"}}`,
			want: 400},
		"a change of nothing": {body: `{"type":"event_callback","team_id":"T0GATE","event":{"type":"message",` +
			`"subtype":"message_changed","channel":"C1","x":"` +
			marked + `"}}`,
			want: 400},
		"an invalid form":          {path: "/slack/interactions", body: "payload=%zz" + marked, want: 400},
		"a form without a payload": {path: "/slack/interactions", body: "text=" + marked, want: 400},
		"a form without JSON":      {path: "/slack/interactions", body: "payload=" + marked, want: 400},
		"a malformed click": {
			path: "/slack/interactions", body: string(formOf(`{"type":5,"x":"` + marked + `"}`)), want: 400,
		},
		"a command with an invalid form": {path: "/slack/commands", body: "text=%zz" + marked, want: 400},
		"another's command":              {path: "/slack/commands", body: "team_id=T9OTHER&text=" + marked, want: 403},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, setup{}).known()
			path := c.path
			if path == "" {
				path = "/slack/events"
			}
			status, answer := r.send(path, []byte(c.body), c.change)
			if status != c.want {
				t.Errorf("it was answered with %d %s, want %d", status, answer, c.want)
			}
			if n := r.inbox.Tries(); n != 0 {
				t.Errorf("%d events were passed to accept", n)
			}
			if w := r.log.Warnings(); len(w) != 1 {
				t.Errorf("there are %d warnings, want one:\n%s", len(w), strings.Join(w, ""))
			}
			if strings.Contains(r.log.String()+answer, marked) {
				t.Errorf("the body is in the log or the answer:\n%s\n%s", r.log, answer)
			}
		})
	}
}

func TestRequestsAtTheEdgeOfTheSignatureWindow(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, off := range []time.Duration{-5 * time.Minute, 0, 5 * time.Minute} {
		s := setup{fake: slacktest.Options{Now: func() time.Time { return now.Add(off) }}}
		s.slack.Now = func() time.Time { return now }
		r := start(t, s).known()
		r.one(r.ann.Says("hello").Deliveries...)
	}
}

func TestURLVerification(t *testing.T) {
	r := start(t, setup{}).known()
	d, challenge := r.VerifyURL()
	r.none(d)
	if answer := string(d.Attempts()[0].Answer); !strings.Contains(answer, `"challenge":"`+challenge+`"`) {
		t.Errorf("the answer was %s", answer)
	}
	d, _ = r.VerifyURL(slacktest.SignedWith("another secret"))
	if status := r.refused(d); status != 401 {
		t.Errorf("unsigned it was answered with %d", status)
	}
}

func TestOnlyPOSTIsAccepted(t *testing.T) {
	r := start(t, setup{}).known()
	for _, path := range []string{"/slack/events", "/slack/interactions", "/slack/commands"} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodHead} {
			q, err := http.NewRequestWithContext(r.ctx, method, r.web.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := r.web.Client().Do(q)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s was answered with %d", method, path, answer.StatusCode)
			}
		}
	}
}

// Slack checks the certificate now and then, and need not sign that.
func TestACheckOfTheCertificateIsAnswered200(t *testing.T) {
	r := start(t, setup{}).known()
	unsigned := func(q *http.Request) {
		q.Header.Del("X-Slack-Signature")
		q.Header.Del("X-Slack-Request-Timestamp")
	}
	for _, path := range []string{"/slack/interactions", "/slack/commands"} {
		for body, want := range map[string]int{
			"ssl_check=1": 200, "token=x&ssl_check=1": 200, "ssl_check=1&payload=%7B%7D&text=new": 200,
			"ssl_check=0": 401, "ssl_check": 401, "text=ssl_check%3D1": 401, "": 401,
			"ssl_check=1&x=" + strings.Repeat("x", 1<<10): 401,
		} {
			if status, answer := r.send(path, []byte(body), unsigned); status != want {
				t.Errorf("%s, unsigned %.40q: %d %s, want %d", path, body, status, answer, want)
			}
		}
		if status, answer := r.send(path, []byte("ssl_check=1&token=x"), nil); status != 200 || answer != "" {
			t.Errorf("%s, signed: %d %s", path, status, answer)
		}
	}
	for _, path := range []string{"/slack/events", "/slack/interactions", "/slack/commands"} {
		for query, want := range map[string]int{"?ssl_check=1&token=x": 200, "?ssl_check=0": 405, "": 405} {
			answer, err := r.web.Client().Get(r.web.URL + path + query)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("GET %s%s: %d, want %d", path, query, answer.StatusCode, want)
			}
		}
	}
	if n := r.inbox.Tries(); n != 0 {
		t.Errorf("%d events were passed to accept", n)
	}
}

func TestNoRoutesWithoutASigningSecret(t *testing.T) {
	r := start(t, setup{config: overSocket})
	if routes := r.p.Routes(r.inbox.Accept); len(routes) != 0 {
		t.Errorf("it serves %v", routes)
	}
}

func TestManyAtOnceOverHTTP(t *testing.T) {
	r := start(t, setup{}).known()
	var all []*slacktest.Delivery
	for i := range 100 {
		all = append(all,
			r.ann.Posts("C1", fmt.Sprintf("%s number %d", r.MentionOfBot(), i), slacktest.TwiceAtOnce()).Deliveries...)
	}
	if got := r.taken(all...); len(got) != 100 {
		t.Errorf("100 posts, each delivered four times, became %d events", len(got))
	}
}

func TestAnEndlessBodyBlocksNoOtherRequest(t *testing.T) {
	r := start(t, setup{}).known()
	body, writer := io.Pipe()
	q, err := http.NewRequestWithContext(r.ctx, http.MethodPost, r.web.URL+"/slack/events", body)
	if err != nil {
		t.Fatal(err)
	}
	var slow sync.WaitGroup
	slow.Go(func() {
		if answer, err := r.web.Client().Do(q); err == nil {
			answer.Body.Close()
		}
	})
	_, _ = writer.Write([]byte(`{"type":`))
	r.one(r.ann.Says("hello").Deliveries...)
	writer.CloseWithError(io.ErrUnexpectedEOF)
	slow.Wait()
	r.eventually("a warning", func() bool { return len(r.log.Warnings()) == 1 })
	if r.inbox.Tries() != 0 {
		t.Error("half a body was passed to accept")
	}
}

func TestAnEventThatIsNotStoredIsAnswered503(t *testing.T) {
	r := start(t, setup{}).known()
	for category, want := range map[core.Category]int{
		core.StoreBusy: 503, core.StoreFull: 503, core.Internal: 503, core.Invalid: 400,
	} {
		r.inbox.Gate(func(context.Context, core.Event) error { return core.Errorf(category, "No.") })
		before := len(r.log.Warnings())
		body := []byte(
			`{"type":"event_callback","team_id":"T0GATE","event":{"type":"message","user":"U1ANN","channel":"D1",` +
				`"channel_type":"im","ts":"1.2","text":"` +
				marked + `"}}`)
		status, answer := r.send("/slack/events", body, nil)
		if status != want || len(r.log.Warnings()) != before+1 || strings.Contains(answer+r.log.String(), marked) {
			t.Errorf("%s was answered with %d %s; the log:\n%s", category, status, answer, r.log)
		}
	}
}

func TestHTTPAndSocketTogetherStoreAnEventOnce(t *testing.T) {
	r := start(t, setup{config: overBoth}).known()
	p := r.ann.Says("hello") // over the socket
	r.one(p.Deliveries...)
	status, _ := r.send("/slack/events", bytes.TrimSpace(p.Deliveries[0].Body()), nil)
	if got := r.taken(); status != 200 || len(got) != 1 || got["message/T0GATE/"+p.Channel+"/"+p.TS].ID == "" {
		t.Errorf("over HTTP it was answered with %d and came as %v", status, got)
	}
}
