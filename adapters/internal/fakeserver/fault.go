package fakeserver

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Fault describes which calls fail, and how.
type Fault[C any] struct {
	Endpoint string // the method or route whose calls fail; "": all
	Trouble
	When  func(C) bool // selects calls of the endpoint; nil: all
	Skip  int          // how many of the selected calls succeed first
	Every int          // after that, every Every-th call fails; 0: each
	Times int          // how many calls fail in total; 0: no limit
	Ratio float64      // the part of these calls that fails, at random with a fixed seed; 0: all
}

// Injected is an injected fault.
type Injected[C any] struct {
	fault    Fault[C]
	host     *Host
	seen     int
	hits     int
	waiting  int
	over     bool
	chance   *rand.Rand
	release  chan struct{}
	released sync.Once
}

// Inject makes calls fail from now on. If several faults apply to a call, the one that was injected first wins.
func (r *Record[C, P]) Inject(f Fault[C]) *Injected[C] {
	r.host.mu.Lock()
	defer r.host.mu.Unlock()
	in := &Injected[C]{fault: f, host: r.host, release: make(chan struct{}), chance: rand.New(rand.NewPCG(1, 2))}
	r.faults = append(r.faults, in)
	return in
}

// Lift ends the fault and releases the calls that it holds.
func (in *Injected[C]) Lift() {
	in.host.mu.Lock()
	in.over = true
	in.host.mu.Unlock()
	in.Release()
}

// Release releases the held calls, and holds no further ones.
func (in *Injected[C]) Release() { in.released.Do(func() { close(in.release) }) }

// Hits counts the calls that the fault has made fail so far.
func (in *Injected[C]) Hits() int {
	in.host.mu.Lock()
	defer in.host.mu.Unlock()
	return in.hits
}

// Waiting counts the calls that the fault holds now.
func (in *Injected[C]) Waiting() int {
	in.host.mu.Lock()
	defer in.host.mu.Unlock()
	return in.waiting
}

// faultFor returns the fault that applies to a call, if any, counts it, and records it in the call. The caller holds
// the lock.
func (r *Record[C, P]) faultFor(call *C) *Injected[C] {
	for _, in := range r.faults {
		if in.over || (in.fault.Endpoint != "" && !P(call).Of(in.fault.Endpoint)) ||
			(in.fault.When != nil && !in.fault.When(*call)) {
			continue
		}
		if in.isDue() {
			in.hits++
			P(call).Common().Fault = in.fault.Name
			return in
		}
	}
	return nil
}

// isDue counts a call that the fault applies to, and reports whether the call fails.
func (in *Injected[C]) isDue() bool {
	f := in.fault
	in.seen++
	nth := in.seen - f.Skip
	if nth <= 0 || (f.Every > 0 && nth%f.Every != 0) || (f.Times > 0 && in.hits >= f.Times) {
		return false
	}
	return f.Ratio == 0 || in.chance.Float64() < f.Ratio
}

// Before applies the call's fault if it comes before the work. It returns true if the call is over.
func (p *Pending[C, P]) Before(w http.ResponseWriter, r *http.Request) bool {
	return p.fault != nil && !p.fault.fault.Handled && p.fails(w, r)
}

// After applies the call's fault if it comes after the work. It returns true if the fake must not send its own answer.
func (p *Pending[C, P]) After(w http.ResponseWriter, r *http.Request) bool {
	return p.fault != nil && p.fault.fault.Handled && p.fails(w, r)
}

func (p *Pending[C, P]) fails(w http.ResponseWriter, r *http.Request) bool {
	if p.fault.fault.Hold {
		return !p.holds(r)
	}
	p.answer(w, p.fault.fault.Trouble)
	return true
}

// holds waits for the release. It returns false if the caller's connection or the fake was closed first.
func (p *Pending[C, P]) holds(r *http.Request) bool {
	in := p.fault
	count := func(by int) {
		in.host.mu.Lock()
		defer in.host.mu.Unlock()
		in.waiting += by
		in.host.Changed()
	}
	count(1)
	defer count(-1)
	select {
	case <-in.release:
		return true
	case <-r.Context().Done():
	case <-in.host.Ctx.Done():
	}
	p.Finish(0, func(c *C) { P(c).Common().Error = "(cut)" })
	return false
}

// answer sends the trouble's answer instead of the platform's own, or cuts the connection.
func (p *Pending[C, P]) answer(w http.ResponseWriter, t Trouble) {
	code := t.Name
	if t.Handled || t.Cut {
		code = "(" + t.Name + ")"
	}
	p.Finish(t.Status, func(c *C) {
		P(c).Common().Error = code
		if !t.Cut {
			p.record.answering(c, t, w.Header())
		}
	})
	if t.Cut {
		panic(http.ErrAbortHandler)
	}
	for key, value := range t.Header {
		w.Header().Set(key, value)
	}
	w.WriteHeader(t.Status)
	_, _ = w.Write([]byte(t.Body))
}

// Trouble is a way in which a call can fail. The fakes have functions for the troubles of their platform.
type Trouble struct {
	Name    string // for Call.Fault
	Status  int
	Header  map[string]string
	Body    string
	Wait    time.Duration // the wait that a rate limit asks for
	Handled bool          // the call does its work first
	Cut     bool          // the connection is closed without an answer
	Hold    bool          // the call waits until Release
}

// ServerError answers with a 5xx status and an HTML page.
func ServerError(status int) Trouble {
	return Trouble{
		Name: fmt.Sprint("HTTP ", status), Status: status, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<!DOCTYPE html><html><head><title>Server Error</title></head><body><h1>Server Error</h1><p>Something " +
			"went wrong.</p></body></html>",
	}
}

// Cut closes the connection before anything is done.
func Cut() Trouble { return Trouble{Name: "cut", Cut: true} }

// AnswerLost does the work, and then closes the connection: the message is posted and its sender does not know.
func AnswerLost() Trouble { return Trouble{Name: "lost", Cut: true, Handled: true} }

// Garbled does the work and answers with half a JSON object.
func Garbled() Trouble {
	return Trouble{Name: "garbled", Handled: true, Status: http.StatusOK, Body: `{"ok":true,"id":"C`}
}

// Held keeps the call waiting until Release, and then handles it normally.
func Held() Trouble { return Trouble{Name: "held", Hold: true} }

// AnswerHeld does the work and withholds the answer until Release.
func AnswerHeld() Trouble { return Trouble{Name: "answer held", Hold: true, Handled: true} }
