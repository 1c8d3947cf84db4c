package slack_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// page answers with a web page.
func page(status int, header ...string) slacktest.Trouble {
	h := map[string]string{"Content-Type": "text/html; charset=utf-8"}
	for i := 0; i < len(header); i += 2 {
		h[header[i]] = header[i+1]
	}
	return slacktest.Trouble{Name: "page", Status: status, Header: h, Body: "<html>a page</html>"}
}

// opensAt answers apps.connections.open with an address.
func opensAt(url string) slacktest.Fault {
	return slacktest.Fault{Endpoint: opening, Trouble: slacktest.Trouble{
		Name: "rewritten", Status: http.StatusOK, Header: map[string]string{"Content-Type": "application/json"},
		Body: `{"ok":true,"url":"` + url + `"}`,
	}}
}

// unopened are what keeps a websocket from opening while the Web API works, and what is said then.
var unopened = map[string]struct {
	fault slacktest.Fault
	words []string
}{
	"log-in page": {slacktest.Fault{Endpoint: slacktest.DialSocket, Trouble: page(200)},
		[]string{"answers with a page (200)", "log this machine in"}},
	"redirect": {
		slacktest.Fault{Endpoint: slacktest.DialSocket, Trouble: page(302, "Location", "https://login.example/x")},
		[]string{"a redirect (302) to login.example"}},
	"proxy": {slacktest.Fault{Endpoint: slacktest.DialSocket, Trouble: page(403)},
		[]string{"refuses it (403)", "A proxy is the likely cause"}},
	"outage": {slacktest.Fault{Endpoint: slacktest.DialSocket, Trouble: slacktest.ServerError(503)},
		[]string{"(503)", "whether Slack has an outage"}},
	"cut": {slacktest.Fault{Endpoint: slacktest.DialSocket, Trouble: slacktest.Cut()},
		[]string{"is cut off"}},
	"scheme": {opensAt("https://127.0.0.1:1/link/?ticket=1"),
		[]string{"is not that of a websocket", "SLACK_API_URL"}},
	"port": {opensAt("ws://127.0.0.1:1/link/?ticket=1"),
		[]string{"127.0.0.1", "connection refused", "another host"}},
	"name": {opensAt("wss://wss.slack.invalid/link/?ticket=1"),
		[]string{"wss.slack.invalid", "its name is not found", "DNS"}},
}

// The Web API may well work while the websocket, at another host, does not.
func TestTheCauseIsSaidOfASocketThatDoesNotOpen(t *testing.T) {
	for name, c := range unopened {
		t.Run(name, func(t *testing.T) {
			r := start(t, setup{config: overSocket, before: func(r *running) { r.Inject(c.fault) }})
			r.eventually("the cause", func() bool {
				hears, _ := r.p.Health()
				for _, word := range append(c.words, "Slack's websocket at ", "no event arrives") {
					if hears == nil || !strings.Contains(core.MessageOf(hears), word) {
						return false
					}
				}
				return true
			})
			for _, word := range c.words {
				if !strings.Contains(r.log.String(), word) {
					t.Errorf("the log does not have %q:\n%s", word, r.log)
				}
			}
			r.alive()
		})
	}
}

func TestASecondCauseIsLoggedToo(t *testing.T) {
	r := start(t, setup{config: overSocket, before: func(r *running) {
		r.Inject(slacktest.Fault{Endpoint: slacktest.DialSocket, Trouble: slacktest.ServerError(503), Times: 3})
		r.Inject(slacktest.Fault{Endpoint: slacktest.DialSocket, Trouble: page(200), Times: 3})
	}}).known()
	log := r.log.String()
	for _, words := range []string{"does not open (503)", "answers with a page (200)"} {
		if n := strings.Count(log, words); n != 1 {
			t.Errorf("the log has %q %d times, want once:\n%s", words, n, log)
		}
	}
}

func TestCheckupOpensASocket(t *testing.T) {
	for name, c := range unopened {
		t.Run(name, func(t *testing.T) {
			k := newCheckup(t, slacktest.Options{})
			k.Inject(c.fault)
			wantCheck(t, k.finds(t), "slack socket", core.CheckFail, c.words...)
		})
	}
	t.Run("crowded", func(t *testing.T) {
		k := newCheckup(t, slacktest.Options{})
		for range slacktest.MaxSockets {
			strangeSocket(t.Context(), t, k.Server)
		}
		wantCheck(t, k.finds(t), "slack socket", core.CheckFail, "too_many_websockets", "10 connections")
	})
}

// leases are what a KV has of its leases.
type leases struct {
	core.KV
	mu   sync.Mutex
	held map[string]string
}

func (l *leases) AcquireLease(_ context.Context, name, owner string, lease time.Duration) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[name] != "" && l.held[name] != owner {
		return false, nil
	}
	if lease <= 0 {
		delete(l.held, name)
		return false, nil
	}
	l.held[name] = owner
	return true, nil
}

const split = "at random"

func TestAStrangerWithTheSameAppTokenIsWarnedOf(t *testing.T) {
	r := start(t, setup{config: overSocket, before: func(r *running) {
		strangeSocket(r.ctx, r.t, r.Server)
	}}).known()
	for _, words := range []string{"level=WARN", split, "SLACK_APP_TOKEN", "connections=2"} {
		if !strings.Contains(r.log.String(), words) {
			t.Errorf("the log does not have %q:\n%s", words, r.log)
		}
	}
}

func TestOwnConnectionsAreNotWarnedOf(t *testing.T) {
	r := socketed(t, setup{})
	for n := range 4 { // two are open meanwhile, and one that broke may still be counted
		k := r.sockets(n + 1)
		if n%2 == 0 {
			k.Disconnect("refresh_requested")
		} else {
			k.Reset()
		}
	}
	r.sockets(5)
	if strings.Contains(r.log.String(), split) {
		t.Errorf("it warns of itself:\n%s", r.log)
	}
}

func TestReplicasAreNotWarnedOf(t *testing.T) {
	shared := &leases{held: map[string]string{}}
	r := socketed(t, setup{slack: core.Deps{KV: shared, Owner: "one"}})
	for n, owner := range []string{"two", "three"} {
		log := &adaptertest.Log{}
		p := slack.New(core.Deps{
			KV: shared, Owner: owner, Log: log.Logger(), Signer: adaptertest.Signer(t, "a key for the tests"),
			Jitter: func() float64 { return -1 },
		}, slack.Config{BotToken: r.BotToken(), AppToken: r.AppToken(), APIURL: r.APIURL(), FollowUp: "thread"})
		ctx, stop := context.WithCancel(r.ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = p.Run(ctx, r.inbox.Accept)
		}()
		t.Cleanup(func() { <-ended })
		t.Cleanup(stop)
		r.sockets(n + 2)
		r.eventually("its connection", func() bool { hears, _ := p.Health(); return hears == nil })
		if strings.Contains(log.String(), split) {
			t.Errorf("it warns of another replica:\n%s", log)
		}
	}
	if len(shared.held) != 3 {
		t.Errorf("held are %v", shared.held)
	}
}

func TestTokensOfTokenRotationAreRefused(t *testing.T) {
	for _, token := range []string{"xoxe.xoxb-1-secret", "xoxe-1-secret", "xoxe.xoxp-1-secret"} {
		for key, c := range map[string]slack.Config{
			"SLACK_BOT_TOKEN": {BotToken: token, AppToken: "xapp-1"},
			"SLACK_APP_TOKEN": {BotToken: "xoxb-1", AppToken: token},
		} {
			c.APIURL, c.FollowUp = "https://slack.com/api/", "thread"
			faults := c.Validate()
			if len(faults) != 1 || !strings.HasPrefix(faults[0], key+": ") {
				t.Fatalf("%s: %q", token, faults)
			}
			for _, word := range []string{"token rotation", "expires after 12 hours", "reinstall", "xoxb-"} {
				if !strings.Contains(faults[0], word) {
					t.Errorf("it does not say %q: %s", word, faults[0])
				}
			}
			if strings.Contains(faults[0], "secret") {
				t.Errorf("it shows the token: %s", faults[0])
			}
		}
	}
}
