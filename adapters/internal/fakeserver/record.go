package fakeserver

import (
	"net/http"
	"time"
)

// Call is the record of a call. A fake's own Call embeds it and adds the platform's fields.
type Call struct {
	At     time.Time // by the fake's clock
	Header http.Header
	Body   []byte // as sent

	Done   bool // the call was answered, or its connection was cut
	Status int  // of the answer; 0 if there was none
	// the platform's error, "" if there was none; "(cut)", "(lost)" or "(garbled)" for a fault of the connection
	Error string
	Fault string // the name of the injected trouble, if any
}

// Common returns the part of the record that all fakes share.
func (c *Call) Common() *Call { return c }

// CallPointer is a pointer to a fake's Call.
type CallPointer[C any] interface {
	*C
	Common() *Call
	// Of reports whether it is a call of the endpoint with this name.
	Of(endpoint string) bool
}

// Record holds the calls of the API in the order of arrival, and the faults that tests inject into them.
type Record[C any, P CallPointer[C]] struct {
	host      *Host
	answering func(c *C, t Trouble, header http.Header)
	calls     []C
	faults    []*Injected[C]
}

// Calls returns the calls of the named endpoints, or all calls, in the order of arrival.
func (r *Record[C, P]) Calls(endpoints ...string) []C {
	r.host.mu.Lock()
	defer r.host.mu.Unlock()
	var found []C
	for i := range r.calls {
		wanted := len(endpoints) == 0
		for _, endpoint := range endpoints {
			wanted = wanted || P(&r.calls[i]).Of(endpoint)
		}
		if wanted {
			found = append(found, r.calls[i])
		}
	}
	return found
}

// CountCalls counts the calls of an endpoint without copying them.
func (r *Record[C, P]) CountCalls(endpoint string) int {
	r.host.mu.Lock()
	defer r.host.mu.Unlock()
	n := 0
	for i := range r.calls {
		if P(&r.calls[i]).Of(endpoint) {
			n++
		}
	}
	return n
}

// Pending is a call that is being handled.
type Pending[C any, P CallPointer[C]] struct {
	record *Record[C, P]
	index  int
	fault  *Injected[C]
}

// Begin records a call and picks the fault that applies to it, if any.
func Begin[C any, P CallPointer[C]](r *Record[C, P], call C) *Pending[C, P] {
	r.host.mu.Lock()
	defer r.host.mu.Unlock()
	fault := r.faultFor(&call)
	r.calls = append(r.calls, call)
	r.host.Changed()
	return &Pending[C, P]{record: r, index: len(r.calls) - 1, fault: fault}
}

// Note records a call that is over and that no fault applies to. The caller holds the lock.
func Note[C any, P CallPointer[C]](r *Record[C, P], call C) {
	r.calls = append(r.calls, call)
	r.host.Changed()
}

// Finish records how the call was answered. set, unless nil, records the rest, under the lock.
func (p *Pending[C, P]) Finish(status int, set func(*C)) {
	p.record.host.mu.Lock()
	defer p.record.host.mu.Unlock()
	call := &p.record.calls[p.index]
	c := P(call).Common()
	c.Done, c.Status = true, status
	if set != nil {
		set(call)
	}
	p.record.host.Changed()
}
