package slacktest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Fault says which calls go wrong, and how.
type Fault struct {
	Method string // the method, or "" for all
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
}

// RateLimited answers HTTP 429 with Retry-After in whole seconds, as Slack does.
func RateLimited(after time.Duration) Trouble {
	return Trouble{name: "rate limited", status: http.StatusTooManyRequests, body: `{"ok":false,"error":"ratelimited"}`,
		header: map[string]string{"Retry-After": strconv.Itoa(int(after.Seconds()))}}
}

// RateLimitedWithoutHeader answers HTTP 429 and does not say for how long.
func RateLimitedWithoutHeader() Trouble {
	return Trouble{name: "rate limited without header", status: http.StatusTooManyRequests, body: `{"ok":false,"error":"ratelimited"}`}
}

// RateLimitedInBody answers HTTP 200 with ok:false and the error ratelimited, as some methods do.
func RateLimitedInBody() Trouble { return Refused("ratelimited") }

// Refused answers ok:false with an error.
func Refused(code string) Trouble {
	return Trouble{name: code, status: http.StatusOK, body: string(asJSON(object{"ok": false, "error": code}))}
}

// MissesScope answers missing_scope with the scope that is needed.
func MissesScope(scope string) Trouble {
	return Trouble{name: "missing_scope", status: http.StatusOK,
		body: string(asJSON(object{"ok": false, "error": "missing_scope", "needed": scope, "provided": "identify"}))}
}

// ServerError answers a 5xx with a page of HTML.
func ServerError(status int) Trouble {
	return Trouble{name: fmt.Sprint("HTTP ", status), status: status, header: map[string]string{"Content-Type": "text/html"},
		body: "<!DOCTYPE html><html><body><h1>Server Error</h1><p>Something went wrong.</p></body></html>"}
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
	return Trouble{name: "garbled", handled: true, status: http.StatusOK, body: `{"ok":true,"channel":"C`}
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

// Hits is how many calls went wrong by it.
func (in *Injected) Hits() int {
	in.s.mu.Lock()
	defer in.s.mu.Unlock()
	return in.hits
}

// Waiting is how many calls it holds right now.
func (in *Injected) Waiting() int {
	in.s.mu.Lock()
	defer in.s.mu.Unlock()
	return in.waiting
}

// faultFor picks the fault that a call meets, if any, and counts it.
func (s *Server) faultFor(c *Call) *Injected {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.faults {
		if in.strikes(*c) {
			in.hits++
			c.Fault = in.fault.name
			return in
		}
	}
	return nil
}

func (in *Injected) strikes(c Call) bool {
	f := in.fault
	if in.over || (f.Method != "" && f.Method != c.Method) || (f.When != nil && !f.When(c)) {
		return false
	}
	in.seen++
	nth := in.seen - f.Skip
	switch {
	case nth <= 0, f.Every > 0 && nth%f.Every != 0, f.Times > 0 && in.hits >= f.Times:
		return false
	}
	return f.Ratio == 0 || in.chance.Float64() < f.Ratio
}

// before is what the fault does ahead of the work; true means the call is over.
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
	in.s.finishCall(place, 0, "(cut)")
	return false
}

func (in *Injected) answers(w http.ResponseWriter, s *Server, place int) {
	t := in.fault.Trouble
	if t.cut {
		s.finishCall(place, 0, "("+t.name+")")
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	for key, value := range t.header {
		w.Header().Set(key, value)
	}
	code := t.name
	if t.handled {
		code = "(" + t.name + ")"
	}
	s.finishCall(place, t.status, code)
	w.WriteHeader(t.status)
	_, _ = w.Write([]byte(t.body))
}
