package outbox

import (
	"sync"
	"time"

	"gatehouse/core"
)

// Numbers of an outage.
const (
	outageAfter = 3               // failures in a row
	outageEnds  = time.Minute     // without another failure: nothing is sent any more that could fail
	probes      = 4               // posts that are tried at a time
	firstProbe  = time.Second     // between two tries, which doubles
	maxProbe    = 4 * time.Second // up to this
)

// outage is the breaker of a platform. Once several posts in a row have failed for reasons that are not their own (the
// platform can't be reached, fails, or something in front of it answers), only a few of those that wait are tried at a
// time. Its first success ends it: all posts that wait are due then, since none is delayed for longer than maxBackoff.
type outage struct {
	mu      sync.Mutex
	failed  int // in a row
	cause   error
	last    time.Time // of a failure
	pause   time.Duration
	probeAt time.Time
}

// report notes the answer to a call that posts, edits, or has found a post. began and ended: the outage.
func (o *outage) report(err error, now time.Time) (began, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch category := core.CategoryOf(err); {
	case category == core.DeliveryNotYet, core.RetryAfterOf(err) > 0: // it says nothing about the next one
	case category == core.DeliveryLater, category == core.DeliveryInDoubt:
		o.failed++
		o.cause, o.last = err, now
		began = o.failed == outageAfter
	case category == "", category == core.NotFound, category == core.DeliveryForbidden,
		category == core.ContentRefused: // the platform's own answer
		ended = o.failed >= outageAfter
		o.failed, o.pause, o.probeAt = 0, 0, time.Time{}
	}
	return began, ended
}

// claims is how many of n posts that wait may be tried now.
func (o *outage) claims(n int, now time.Time) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.failed < outageAfter:
		return n
	case now.Before(o.probeAt):
		return 0
	}
	o.pause = min(max(2*o.pause, firstProbe), maxProbe)
	o.probeAt = now.Add(o.pause)
	return min(n, probes)
}

// err returns why the platform takes no posts now, nil if it does as far as is known.
func (o *outage) err(now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed < outageAfter || now.Sub(o.last) > outageEnds {
		return nil
	}
	return o.cause
}
