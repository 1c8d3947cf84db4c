package discord

import (
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"gatehouse/core"
)

// Numbers of the pacing of posts: Discord takes 50 calls a second in all, and not every call is a post.
const (
	postRate  = 30
	postBurst = 10
)

// pace spreads all posts over time. A post that has to wait is given its time once, so that it need not compete again. How fast a
// channel is Discord says with its answers: see gates.
type pace struct {
	now func() time.Time

	mu       sync.Mutex
	all      *rate.Limiter
	promised map[string]time.Time // by part
}

func newPace(now func() time.Time) *pace {
	return &pace{now: now, all: rate.NewLimiter(postRate, postBurst), promised: map[string]time.Time{}}
}

// pace gives a part leave, or says when to come again. A channel that Discord asked to leave alone waits as long as it said, and no
// other does.
func (d *Discord) pace(delivery core.Delivery) time.Duration {
	if wait := d.out.rest.gates.closedFor(bucketOf(http.MethodPost, messagesOf(placeOf(delivery.To)))); wait > 0 {
		return wait
	}
	return d.out.pace.ask(fmt.Sprintf("%s#%d", delivery.Key, delivery.Part))
}

func (p *pace) ask(part string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	at, promised := p.promised[part]
	if !promised {
		at = now.Add(p.all.ReserveN(now, 1).DelayFrom(now))
	}
	if !at.After(now) {
		delete(p.promised, part)
		return 0
	}
	if len(p.promised) >= sweepAt { // another process may have sent what was promised here
		maps.DeleteFunc(p.promised, func(_ string, at time.Time) bool { return now.Sub(at) > forget })
	}
	p.promised[part] = at
	return at.Sub(now)
}
