package discord_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// alive fails the test if Run has ended.
func (r *inbound) alive() {
	r.t.Helper()
	select {
	case <-r.ended:
		r.t.Fatalf("Run ended: %v", r.err)
	default:
	}
}

// ends waits until Run ends by itself and returns its error.
func (r *inbound) ends() error {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-r.ctx.Done():
		r.t.Fatalf("Run did not end; the log:\n%s", r.log)
	}
	return r.err
}

// Discord may lose a session without saying so. However it refuses the resumes, a new session begins after some.
func TestASessionThatIsNotResumedIsReplaced(t *testing.T) {
	for name, how := range map[string]discordtest.Refusal{
		"broken": {}, "4000": {Code: 4000}, "4006": {Code: 4006}, "going away": {Code: 1001},
		"invalid": {Invalid: true}, "silence": {Silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newInbound(t, setup{fake: discordtest.Options{HeartbeatInterval: 200 * time.Millisecond}}).known()
			r.RefuseResumes(how)
			r.connection().Reset()
			r.eventually("a new session", func() bool { return len(r.Identifies()) == 2 && len(r.Open()) == 1 })
			r.known().settled()
			if n := len(r.Resumes()); n != 3 {
				t.Errorf("it tried to resume %d times, want 3", n)
			}
			for _, words := range []string{"Discord does not resume the session", "level=WARN"} {
				if !strings.Contains(r.log.String(), words) {
					t.Errorf("the log does not have %q:\n%s", words, r.log)
				}
			}
			r.TakeAll()
			r.connection().Reset()
			r.eventually("a resume", func() bool { return len(r.Resumes()) == 4 })
			r.known().settled()
			if n := len(r.Identifies()); n != 2 {
				t.Errorf("it identified %d times, want twice", n)
			}
		})
	}
}

func TestAResumeThatFailsTwiceIsTriedAgain(t *testing.T) {
	r := newInbound(t, setup{}).known()
	for range 3 { // what failed before counts no more once it works
		r.RefuseResumes(discordtest.Refusal{Code: 4000, Times: 2})
		before := len(r.Resumes())
		r.connection().Reset()
		r.eventually("a resume", func() bool { return len(r.Resumes()) == before+3 })
		r.known().settled()
	}
	if n := len(r.Identifies()); n != 1 {
		t.Errorf("it identified %d times, want once", n)
	}
}

// A session that is lost again and again does not use up the budget: Discord would reset the token.
func TestSessionsThatAreLostAgainAndAgainKeepTheBudget(t *testing.T) {
	r := newInbound(t, setup{fake: discordtest.Options{IdentifyBudget: 20}}).known()
	r.RefuseIdentifies(discordtest.Refusal{Code: 4000})
	r.ForgetSessions()
	r.connection().Reset()
	r.eventually("a wait", func() bool {
		hears, _ := r.p.Health()
		return hears != nil && strings.Contains(hears.Error(), "reset its token")
	})
	if n := len(r.Identifies()); n != 10 {
		t.Errorf("it identified %d times in a day, want 10", n)
	}
}

func TestTokensRefusedForAMomentDoNotEndRun(t *testing.T) {
	html := discordtest.Trouble{
		Name: "log-in page", Status: http.StatusUnauthorized, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<html><body>Log in</body></html>",
	}
	unauthorized := discordtest.Refused(http.StatusUnauthorized, 0, "401: Unauthorized")
	for name, begin := range map[string]func(*inbound){
		"4004 of an identify":     func(r *inbound) { r.RefuseIdentifies(discordtest.Refusal{Code: 4004, Times: 2}) },
		"4004 of many identifies": func(r *inbound) { r.RefuseIdentifies(discordtest.Refusal{Code: 4004, Times: 7}) },
		"401 twice": func(r *inbound) {
			r.Inject(discordtest.Fault{Endpoint: discordtest.GetMe, Trouble: unauthorized, Times: 2})
		},
		"401 of a proxy": func(r *inbound) {
			r.Inject(discordtest.Fault{Endpoint: discordtest.GetMe, Trouble: html, Times: 9})
		},
		"401 of a proxy, as JSON": func(r *inbound) {
			json := html
			json.Body = `{"error":"access denied"}`
			r.Inject(discordtest.Fault{Endpoint: discordtest.GetMe, Trouble: json, Times: 9})
		},
		"401 of the gateway's address": func(r *inbound) {
			r.Inject(discordtest.Fault{Endpoint: "GET /gateway/bot", Trouble: unauthorized, Times: 7})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newInbound(t, setup{before: func(r *inbound) {
				r.timers.FireAlways(discord.RefusedWait)
				begin(r)
			}}).known()
			r.settled()
			r.alive()
		})
	}
	t.Run("4004 of a resume", func(t *testing.T) {
		r := newInbound(t, setup{}).known()
		r.RefuseResumes(discordtest.Refusal{Code: 4004, Times: 1})
		r.connection().Reset()
		r.eventually("a resume", func() bool { return len(r.Resumes()) == 2 })
		r.known().settled()
		r.alive()
	})
}

func TestARevokedTokenEndsRunOnceRESTConfirmsIt(t *testing.T) {
	r := newInbound(t, setup{}).known()
	r.RevokeToken()
	r.connection().Reset()
	if err := r.ends(); core.CategoryOf(err) != core.Unauthorized ||
		!strings.Contains(core.MessageOf(err), "DISCORD_BOT_TOKEN") {
		t.Errorf("Run gave %v", err)
	}
	if n := len(r.Resumes()); n != 3 {
		t.Errorf("it tried %d times, want 3", n)
	}
	r.stopped()
}

// The REST API may well work while the websocket, at another host, does not.
func TestTheCauseIsSaidOfAWebsocketThatDoesNotOpen(t *testing.T) {
	page := func(status int, header ...string) discordtest.Trouble {
		h := map[string]string{"Content-Type": "text/html"}
		for i := 0; i < len(header); i += 2 {
			h[header[i]] = header[i+1]
		}
		return discordtest.Trouble{Name: "page", Status: status, Header: h, Body: "<html>a page</html>"}
	}
	address := func(url string) discordtest.Fault {
		return discordtest.Fault{Endpoint: "GET /gateway/bot", Trouble: discordtest.Trouble{
			Name: "rewritten", Status: http.StatusOK, Header: map[string]string{"Content-Type": "application/json"},
			Body: `{"url":"` + url + `","shards":1,"session_start_limit":{"total":1000,"remaining":999,` +
				`"reset_after":0,"max_concurrency":1}}`,
		}}
	}
	for name, c := range map[string]struct {
		fault discordtest.Fault
		words []string
	}{
		"log-in page": {discordtest.Fault{Endpoint: discordtest.Dial, Trouble: page(200)},
			[]string{"answers with a page (200)", "log this machine in"}},
		"redirect": {
			discordtest.Fault{Endpoint: discordtest.Dial, Trouble: page(302, "Location", "https://login.example/x")},
			[]string{"a redirect (302) to login.example"}},
		"proxy": {discordtest.Fault{Endpoint: discordtest.Dial, Trouble: page(403)},
			[]string{"refuses it (403)", "A proxy is the likely cause"}},
		"proxy's password": {discordtest.Fault{Endpoint: discordtest.Dial, Trouble: page(407)},
			[]string{"HTTPS_PROXY"}},
		"outage": {discordtest.Fault{Endpoint: discordtest.Dial, Trouble: discordtest.ServerError(503)},
			[]string{"(503)", "whether Discord has an outage"}},
		"cut":    {discordtest.Fault{Endpoint: discordtest.Dial, Trouble: discordtest.Cut()}, []string{"is cut off"}},
		"scheme": {address("http://127.0.0.1:1"), []string{"is not that of a websocket", "DISCORD_API_URL"}},
		"port":   {address("ws://127.0.0.1:1"), []string{"127.0.0.1", "connection refused", "another host"}},
		"name":   {address("wss://gateway.invalid"), []string{"gateway.invalid", "its name is not found", "DNS"}},
	} {
		t.Run(name, func(t *testing.T) {
			pausing := core.Deps{Jitter: func() float64 { return 1 }} // after the first attempt
			r := newInbound(t, setup{discord: pausing, before: func(r *inbound) { r.Inject(c.fault) }})
			r.eventually("the cause", func() bool {
				hears, _ := r.p.Health()
				for _, word := range append(c.words, "Discord's websocket at ") {
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
			if n := len(r.Identifies()); n != 0 {
				t.Errorf("it identified %d times", n)
			}
		})
	}
}
