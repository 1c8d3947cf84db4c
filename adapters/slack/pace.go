package slack

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Numbers of the pacing of posts.
const (
	burst   = 3               // posts that a channel gets at once after a rest; Slack allows short bursts
	forget  = 5 * time.Minute // after which a channel that nothing was posted to is as if new
	sweepAt = 1000            // channels, or parts of one, before the forgotten ones are looked for
)

// pace spreads posts over time, each channel by itself. A post that has to wait is given its time once, so that it need not compete
// again.
type pace struct {
	rps float64
	now func() time.Time

	mu       sync.Mutex
	channels map[string]*channelPace
}

type channelPace struct {
	limit    *rate.Limiter
	promised map[string]time.Time // by part
	until    time.Time            // Slack asked to wait
	used     time.Time
}

func newPace(rps float64, now func() time.Time) *pace {
	return &pace{rps: rps, now: now, channels: map[string]*channelPace{}}
}

// ask gives a part leave (0), or says when to come again. A channel that Slack asked to leave alone waits as long as it said, and
// nothing else does.
func (p *pace) ask(channel, part string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	c := p.channel(channel, now)
	at := c.promised[part]
	switch from := latest(now, c.until); {
	case p.rps == 0:
		at = from
	case at.IsZero(), at.Before(c.until): // those that were promised before Slack asked to wait stand in line anew, or all would go at once
		at = from.Add(c.limit.ReserveN(from, 1).DelayFrom(from))
	}
	if at.After(now) {
		c.promised[part] = at
		return at.Sub(now)
	}
	delete(c.promised, part)
	return 0
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// hold leaves a channel alone for a while.
func (p *pace) hold(channel string, wait time.Duration) {
	if wait <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	c := p.channel(channel, now)
	if until := now.Add(wait); until.After(c.until) {
		c.until = until
	}
}

// channel gives a channel's pace. The caller holds mu.
func (p *pace) channel(name string, now time.Time) *channelPace {
	if len(p.channels) >= sweepAt {
		for other, c := range p.channels {
			if now.Sub(c.used) > forget && len(c.promised) == 0 {
				delete(p.channels, other)
			}
		}
	}
	c := p.channels[name]
	if c == nil {
		c = &channelPace{limit: rate.NewLimiter(rate.Limit(p.rps), burst), promised: map[string]time.Time{}}
		p.channels[name] = c
	}
	c.used = now
	if len(c.promised) >= sweepAt { // another process may have sent what was promised here
		maps.DeleteFunc(c.promised, func(_ string, at time.Time) bool { return now.Sub(at) > forget })
	}
	return c
}
