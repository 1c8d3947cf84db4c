package fakeserver

import (
	"math/rand/v2"
	"net/http"
	"sync"
)

// Fault says which calls fail, and how.
type Fault[C any] struct {
	Endpoint string // the method or route whose calls fail, "" for all
	Trouble
	When  func(C) bool // which calls of it; nil means all
	Skip  int          // so many of those succeed first
	Every int          // then every so-manieth fails; 0 means each
	Times int          // so many fail in all; 0 means without end
	Ratio float64      // of those, this part by chance (with a fixed seed); 0 means all
}

// Injected is a fault that is in force.
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

// Inject makes calls fail from now on. Of several faults for one call the first injected wins.
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

// Release releases the calls that are held, and holds none from now on.
func (in *Injected[C]) Release() { in.released.Do(func() { close(in.release) }) }

// Hits counts the calls that failed by it so far.
func (in *Injected[C]) Hits() int {
	in.host.mu.Lock()
	defer in.host.mu.Unlock()
	return in.hits
}

// Waiting counts the calls that it holds now.
func (in *Injected[C]) Waiting() int {
	in.host.mu.Lock()
	defer in.host.mu.Unlock()
	return in.waiting
}

// faultFor picks the fault that disturbs a call, if any, counts it, and notes it in the call. The caller holds the lock.
func (r *Record[C, P]) faultFor(call *C) *Injected[C] {
	for _, in := range r.faults {
		if in.over || (in.fault.Endpoint != "" && !P(call).Of(in.fault.Endpoint)) || (in.fault.When != nil && !in.fault.When(*call)) {
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

// isDue counts a call that the fault is about, and says whether it fails.
func (in *Injected[C]) isDue() bool {
	f := in.fault
	in.seen++
	nth := in.seen - f.Skip
	if nth <= 0 || (f.Every > 0 && nth%f.Every != 0) || (f.Times > 0 && in.hits >= f.Times) {
		return false
	}
	return f.Ratio == 0 || in.chance.Float64() < f.Ratio
}

// Before does what the call's fault does ahead of the work; true means that the call is over.
func (p *Pending[C, P]) Before(w http.ResponseWriter, r *http.Request) bool {
	return p.fault != nil && !p.fault.fault.Handled && p.fails(w, r)
}

// After does what the call's fault does to the answer; true means that the answer is gone.
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

// holds waits for the release; false means that the caller went away first.
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

// answer gives the answer that the trouble has in place of the platform's own, or cuts the connection.
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
