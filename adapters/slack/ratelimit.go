package slack

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"gatehouse/core"
)

// Numbers of the rate limit.
const (
	burst       = 3               // posts that an idle channel may get at once; Slack allows short bursts
	idleTime    = 5 * time.Minute // after which an idle channel is dropped
	maxChannels = 1000            // channels, or reserved parts of one channel, before idle ones are dropped
)

// rateLimit spreads the posts of each channel over time. A part that has to wait gets its time reserved, so that it
// need not compete again.
type rateLimit struct {
	rps float64

	mu       sync.Mutex
	channels map[string]*channelLimit
}

type channelLimit struct {
	limiter  *rate.Limiter
	reserved map[string]time.Time // by part
	until    time.Time            // when the wait ends that Slack asked for
	used     time.Time
}

func newRateLimit(rps float64) *rateLimit {
	return &rateLimit{rps: rps, channels: map[string]*channelLimit{}}
}

// ask returns nil if a part of a post may be sent now, else delivery_not_yet with the time to wait. If Slack asked to
// wait, only posts to that channel wait.
func (l *rateLimit) ask(d core.Delivery, now time.Time) error {
	if wait := l.wait(d.To.Channel, fmt.Sprintf("%s#%d", d.Key, d.Part), now); wait > 0 {
		return &core.Error{
			Category: core.DeliveryNotYet, RetryAfter: wait,
			Message: "The rate limit of the Slack channel is reached, or Slack asked to wait before it gets more.",
		}
	}
	return nil
}

// wait returns how long a part has to wait; 0: it is sent now, and is counted.
func (l *rateLimit) wait(channel, part string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.channel(channel, now)
	from, at := now, c.reserved[part]
	if c.until.After(from) {
		from = c.until
	}
	switch {
	case l.rps == 0:
		at = from
	case at.IsZero(), at.Before(c.until):
		// times reserved before Slack asked to wait are assigned again, or all parts would be sent at once
		at = from.Add(c.limiter.ReserveN(from, 1).DelayFrom(from))
	}
	if at.After(now) {
		c.reserved[part] = at
		return at.Sub(now)
	}
	delete(c.reserved, part)
	return 0
}

// pause sends nothing to a channel for a while.
func (l *rateLimit) pause(channel string, wait time.Duration, now time.Time) {
	if wait <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.channel(channel, now)
	if until := now.Add(wait); until.After(c.until) {
		c.until = until
	}
}

// channel returns a channel's limit. The caller holds mu.
func (l *rateLimit) channel(name string, now time.Time) *channelLimit {
	if len(l.channels) >= maxChannels {
		maps.DeleteFunc(l.channels, func(_ string, c *channelLimit) bool {
			return now.Sub(c.used) > idleTime && len(c.reserved) == 0
		})
	}
	c := l.channels[name]
	if c == nil {
		c = &channelLimit{limiter: rate.NewLimiter(rate.Limit(l.rps), burst), reserved: map[string]time.Time{}}
		l.channels[name] = c
	}
	c.used = now
	if len(c.reserved) >= maxChannels { // another process may have sent those parts
		maps.DeleteFunc(c.reserved, func(_ string, at time.Time) bool { return now.Sub(at) > idleTime })
	}
	return c
}
