package outbox

import (
	"context"
	"sync"
	"time"
)

// lane is the slots in which posts of one platform are delivered, and what wakes whoever looks for more.
type lane struct {
	platform string
	nudged   chan struct{}
	process  context.Context // of Run; set by open
	mu       sync.Mutex
	free     int // slots; none while the lane is closed. Guarded by mu
	closed   bool
	behind   bool            // whoever looks for posts waits for a slot; guarded by mu
	counts   map[Event]int64 // guarded by mu
	sending  sync.WaitGroup
	outage   outage
}

func newLane(platform string) *lane {
	return &lane{platform: platform, nudged: make(chan struct{}, 1), closed: true, counts: map[Event]int64{}}
}

func (l *lane) open(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.process, l.free, l.closed = ctx, inFlight, false
}

// close gives out no more slots, and waits until those that were given out are back.
func (l *lane) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.sending.Wait()
}

// look takes slots for posts that are looked for; few, or none for a while, during an outage. If none are free, the
// next one that is given back wakes the lane's loop.
func (l *lane) look() int {
	most := l.outage.claims(mostClaims, time.Now())
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.takeLocked(most, 0)
	l.behind = n < most && n == 0
	return n
}

// take takes up to n free slots, and leaves keep of them.
func (l *lane) take(n, keep int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.takeLocked(n, keep)
}

func (l *lane) takeLocked(n, keep int) int {
	if l.closed {
		return 0
	}
	n = max(0, min(n, l.free-keep))
	l.free -= n
	l.sending.Add(n)
	return n
}

func (l *lane) giveBack(n int) {
	l.mu.Lock()
	l.free += n
	wanted := l.behind && l.free > 0
	l.mu.Unlock()
	l.sending.Add(-n)
	if wanted {
		l.wake()
	}
}

// wake makes the lane's loop look for posts now. It never blocks.
func (l *lane) wake() {
	select {
	case l.nudged <- struct{}{}:
	default:
	}
}
