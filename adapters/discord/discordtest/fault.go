package discordtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Fault says which calls go wrong, and how.
type Fault struct {
	Route string // such as CreateMessage; a step of it may be *; "" for all
	Trouble
	When  func(Call) bool // which calls of it; nil means all
	Skip  int             // so many of those go well first
	Every int             // then every so-manieth goes wrong; 0 means each
	Times int             // so many go wrong in all; 0 means without end
	Ratio float64         // of those, this part by chance (with a fixed seed); 0 means all
}

// Trouble is a way for a call to go wrong.
type Trouble struct {
	name    string
	status  int
	header  map[string]string
	body    string
	handled bool // the call does its work first
	cut     bool // no answer, the connection is closed
	hold    bool // until Release
	late    time.Duration
	scope   Scope
}

// Scope is whose limit a 429 is about.
type Scope string

// The scopes of rate limits. A shared one is not counted as an invalid request.
const (
	ScopeUser   Scope = "user"
	ScopeGlobal Scope = "global"
	ScopeShared Scope = "shared"
)

// RateLimited answers 429 with Discord's body and headers.
func RateLimited(after time.Duration, scope Scope) Trouble {
	t := Trouble{name: "rate limited", status: http.StatusTooManyRequests, late: after, scope: scope}
	body := lateBody(after, scope == ScopeGlobal)
	if scope == ScopeShared {
		body["message"], body["code"] = "The resource is being rate limited.", 20016
	}
	t.body = string(asJSON(body))
	return t
}

// RateLimitedByProxy answers 429 with a page that is no JSON, as the proxy before Discord does to an address that it banned.
func RateLimitedByProxy(after time.Duration) Trouble {
	return Trouble{name: "rate limited by proxy", status: http.StatusTooManyRequests, body: "error code: 1015",
		header: map[string]string{"Retry-After": wholeSeconds(after), "Content-Type": "text/html"}}
}

// Refused answers an error with its code and message.
func Refused(status, code int, message string) Trouble {
	return Trouble{name: message, status: status, body: string(asJSON(object{"message": message, "code": code}))}
}

// Unauthorized answers 401 as for a bad token.
func Unauthorized() Trouble { return Refused(401, 0, "401: Unauthorized") }

// MissesAccess answers 403 as for a channel that the bot can't see.
func MissesAccess() Trouble { return Refused(403, 50001, "Missing Access") }

// MissesPermissions answers 403 as for something that the bot may not do in a channel.
func MissesPermissions() Trouble { return Refused(403, 50013, "Missing Permissions") }

// ServerError answers a 5xx with a page of HTML.
func ServerError(status int) Trouble {
	return Trouble{name: fmt.Sprint("HTTP ", status), status: status, header: map[string]string{"Content-Type": "text/html"},
		body: "<html><head><title>Server Error</title></head><body><center><h1>Server Error</h1></center><hr><center>cloudflare</center></body></html>"}
}

// ServerErrorAfterwards does the work, and then answers a 5xx.
func ServerErrorAfterwards(status int) Trouble {
	t := ServerError(status)
	t.handled = true
	return t
}

// Cut closes the connection before anything is done.
func Cut() Trouble { return Trouble{name: "cut", cut: true} }

// AnswerLost does the work, and then closes the connection: the message is posted and its sender does not know.
func AnswerLost() Trouble { return Trouble{name: "lost", cut: true, handled: true} }

// Garbled does the work and answers half a JSON object.
func Garbled() Trouble {
	return Trouble{name: "garbled", handled: true, status: http.StatusOK, body: `{"id":"12345678`}
}

// Held keeps the call waiting until Release, then goes on as if nothing had been.
func Held() Trouble { return Trouble{name: "held", hold: true} }

// AnswerHeld does the work and keeps the answer back until Release.
func AnswerHeld() Trouble { return Trouble{name: "answer held", hold: true, handled: true} }

// Injected is a fault at work.
type Injected struct {
	fault    Fault
	s        *Server
	seen     int
	hits     int
	waiting  int
	over     bool
	chance   *rand.Rand
	release  chan struct{}
	released sync.Once
}

// Inject makes calls go wrong from now on. Of several faults for one call the first injected wins.
func (s *Server) Inject(f Fault) *Injected {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := &Injected{fault: f, s: s, release: make(chan struct{}), chance: rand.New(rand.NewPCG(1, 2))}
	s.faults = append(s.faults, in)
	return in
}

// Lift ends the fault and lets go of what it holds.
func (in *Injected) Lift() {
	in.s.mu.Lock()
	in.over = true
	in.s.mu.Unlock()
	in.Release()
}

// Release lets go of the calls that are held, and holds none from now on.
func (in *Injected) Release() { in.released.Do(func() { close(in.release) }) }

// Hits counts the calls that went wrong so far.
func (in *Injected) Hits() int {
	in.s.mu.Lock()
	defer in.s.mu.Unlock()
	return in.hits
}

// Waiting counts the calls that are held now.
func (in *Injected) Waiting() int {
	in.s.mu.Lock()
	defer in.s.mu.Unlock()
	return in.waiting
}

// faultFor finds the fault that a call meets, counts it, and notes it in the call.
func (s *Server) faultFor(c *Call) *Injected {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.faults {
		if in.meets(*c) {
			in.hits++
			c.Fault = in.fault.name
			s.changed()
			return in
		}
	}
	return nil
}

func (in *Injected) meets(c Call) bool {
	f := in.fault
	if in.over || (f.Times > 0 && in.hits >= f.Times) {
		return false
	}
	if (f.Route != "" && !sameRoute(f.Route, c.Route)) || (f.When != nil && !f.When(c)) {
		return false
	}
	in.seen++
	if in.seen <= f.Skip || (f.Every > 1 && (in.seen-f.Skip)%f.Every != 0) {
		return false
	}
	return f.Ratio == 0 || in.chance.Float64() < f.Ratio
}

// before is what the fault does ahead of the work; true means that the call is over.
func (in *Injected) before(w http.ResponseWriter, r *http.Request, s *Server, place int) bool {
	if in.fault.handled {
		return false
	}
	if in.fault.hold {
		return !in.holds(r, place)
	}
	in.answers(w, s, place)
	return true
}

// after is what the fault does to the answer; true means that it is gone.
func (in *Injected) after(w http.ResponseWriter, r *http.Request, s *Server, place int) bool {
	if !in.fault.handled {
		return false
	}
	if in.fault.hold {
		return !in.holds(r, place)
	}
	in.answers(w, s, place)
	return true
}

// holds waits for the release; false means that the caller went away first.
func (in *Injected) holds(r *http.Request, place int) bool {
	count := func(by int) {
		in.s.mu.Lock()
		defer in.s.mu.Unlock()
		in.waiting += by
		in.s.changed()
	}
	count(1)
	defer count(-1)
	select {
	case <-in.release:
		return true
	case <-r.Context().Done():
	case <-in.s.ctx.Done():
	}
	in.s.finishCall(place, 0, nil)
	return false
}

func (in *Injected) answers(w http.ResponseWriter, s *Server, place int) {
	t := in.fault.Trouble
	if t.cut {
		s.finishCall(place, 0, nil)
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	if t.scope != "" {
		w.Header().Set("X-RateLimit-Scope", string(t.scope))
		w.Header().Set("Retry-After", wholeSeconds(t.late))
		if t.scope == ScopeGlobal {
			w.Header().Set("X-RateLimit-Global", "true")
		} else {
			setLimitHeaders(w.Header(), in.routeOf(place), 5, 0, s.o.LimitNow().Add(t.late), t.late)
		}
	}
	for key, value := range t.header {
		w.Header().Set(key, value)
	}
	if (t.status == 401 || t.status == 403 || t.status == 429) && t.scope != ScopeShared {
		s.mu.Lock()
		s.countInvalid()
		s.mu.Unlock()
	}
	code := object{}
	if !t.handled {
		var body struct{ Code int }
		_ = json.Unmarshal([]byte(t.body), &body)
		code["code"] = body.Code
	}
	s.finishCall(place, t.status, code)
	w.WriteHeader(t.status)
	_, _ = w.Write([]byte(t.body))
}

func (in *Injected) routeOf(place int) string {
	in.s.mu.Lock()
	defer in.s.mu.Unlock()
	return in.s.calls[place].Route
}
