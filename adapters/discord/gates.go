package discord

import (
	"context"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/time/rate"

	"gatehouse/core"
)

// Numbers of the rate limits. Discord takes 50 calls a second in all.
const (
	globalRate  = 45
	globalBurst = 45
	sweepAt     = 1000            // buckets before the forgotten ones are looked for
	forget      = 5 * time.Minute // after which a bucket that was not used is as if new
)

// gates let one call at a time into each bucket of rate limits, and none that would have to wait for it. A limiter of discordgo's stands
// behind each gate and reads the answers' headers; each has its own, since it never forgets a bucket.
type gates struct {
	now func() time.Time

	mu      sync.Mutex
	open    map[string]*gate
	until   time.Time // nothing is called before
	limited time.Time // nothing that the global limit is about is called before
	global  *rate.Limiter
}

// gate is a bucket of rate limits.
type gate struct {
	turn    chan struct{} // holds one while somebody is inside
	limiter *discordgo.RateLimiter
	bucket  *discordgo.Bucket

	// of gates.mu:
	until  time.Time // nothing goes in before
	used   time.Time
	queued int // those inside and those who wait for their turn
}

func newGates(now func() time.Time) *gates {
	return &gates{now: now, open: map[string]*gate{}, global: rate.NewLimiter(globalRate, globalBurst)}
}

// enter waits for the bucket's call that is under way, if there is one, and takes a call from the limits. Where one of them has none
// left, the error says how long to wait.
func (g *gates) enter(ctx context.Context, key string, ungoverned bool) (*gate, error) {
	one := g.take(key)
	select {
	case one.turn <- struct{}{}:
	case <-ctx.Done():
		g.put(one)
		return nil, core.Wrap(core.DeliveryLater, ctx.Err(), "Discord could not be asked in time: other calls were before this one.")
	}
	one.bucket.Lock()
	if wait := g.wait(one, ungoverned); wait > 0 {
		one.bucket.Unlock()
		g.leave(one)
		return nil, waitFor(wait, "Discord's limit of calls is used up for the moment.")
	}
	one.bucket.Remaining--
	return one, nil // discordgo unlocks the bucket with the answer
}

// leave lets the next call into the bucket.
func (g *gates) leave(one *gate) {
	<-one.turn
	g.put(one)
}

// wait is how long nothing may go into a bucket; zero takes a call from the global limit. The caller is inside.
func (g *gates) wait(one *gate, ungoverned bool) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	wait := max(one.limiter.GetWaitTime(one.bucket, 1), one.until.Sub(now), g.until.Sub(now))
	if !ungoverned {
		wait = max(wait, g.limited.Sub(now))
	}
	if wait > 0 || ungoverned {
		return wait
	}
	r := g.global.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// until says how long a bucket is known to take nothing, without taking anything from it.
func (g *gates) closedFor(key string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	wait := max(g.until.Sub(now), g.limited.Sub(now))
	one := g.open[key]
	if one == nil {
		return max(0, wait)
	}
	wait = max(wait, one.until.Sub(now))
	if one.bucket.TryLock() {
		wait = max(wait, one.limiter.GetWaitTime(one.bucket, 1))
		one.bucket.Unlock()
	}
	return max(0, wait)
}

// What can be left alone besides a bucket: all of Discord, and what the global limit is about.
const (
	allOfDiscord = ""
	allGoverned  = "global"
)

// hold leaves a bucket alone for a while, or more than one.
func (g *gates) hold(key string, wait time.Duration) {
	one := (*gate)(nil)
	if key != allOfDiscord && key != allGoverned {
		one = g.take(key)
		defer g.put(one)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	until := &g.until
	switch {
	case one != nil:
		until = &one.until
	case key == allGoverned:
		until = &g.limited
	}
	if at := g.now().Add(wait); at.After(*until) {
		*until = at
	}
}

// take gives a bucket, which is not forgotten before put.
func (g *gates) take(key string) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if len(g.open) >= sweepAt {
		for other, one := range g.open {
			if one.queued == 0 && now.Sub(one.used) > forget && now.After(one.until) {
				delete(g.open, other)
			}
		}
	}
	one := g.open[key]
	if one == nil {
		limiter := discordgo.NewRatelimiter()
		one = &gate{turn: make(chan struct{}, 1), limiter: limiter, bucket: limiter.GetBucket(key)}
		g.open[key] = one
	}
	one.used = now
	one.queued++
	return one
}

func (g *gates) put(one *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one.queued--
}
