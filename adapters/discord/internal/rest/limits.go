package rest

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/time/rate"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/core"
)

// Numbers of the rate limits. Discord accepts 50 calls a second in all.
const (
	globalRate  = 45
	globalBurst = 45
	urgentBurst = 10              // calls of the burst that posts leave to urgent ones
	postRate    = 15              // posts a second that are made however many urgent calls there are
	sweepAt     = 1000            // routes, before unused ones are looked for
	unusedAfter = 5 * time.Minute // a route that was not used for so long is forgotten
)

// class is how a call counts against the global limit.
type class int

// The classes. Urgent calls go before posts: those that a start needs, the fetching of missed messages, look-ups.
// However long the queue of posts is, it does not keep the bot from receiving events; and missed messages leave posts a
// part of the limit.
const (
	urgent class = iota
	post         // for a post; see ForPosts
	exempt       // an answer to an interaction, which does not count
)

type forPosts struct{}

// ForPosts returns a context for the calls by which posts are sent, edited or looked for. Other calls go before them.
func ForPosts(ctx context.Context) context.Context { return context.WithValue(ctx, forPosts{}, true) }

// classOf returns the class of a call.
func classOf(ctx context.Context, path string) class {
	switch {
	case strings.HasPrefix(path, "/interactions/"), strings.HasPrefix(path, "/webhooks/"):
		return exempt
	case ctx.Value(forPosts{}) != nil:
		return post
	}
	return urgent
}

// What a 429 may apply to other than one route.
const (
	allCalls    = ""
	globalLimit = "global"
)

// limits admits one call at a time to each route, and none that would have to wait for a rate limit. Each route has its
// own discordgo limiter, which reads the headers of answers: a shared limiter would never forget a bucket.
type limits struct {
	now func() time.Time

	mu      sync.Mutex
	routes  map[string]*routeLimit
	buckets map[string]*routeLimit // by bucketKey
	blocked map[string]time.Time   // allCalls or globalLimit: no call is made before
	global  *rate.Limiter
	posts   *rate.Limiter // of the posts that are made although few calls are left
}

// routeLimit is the bucket of a route, or of several that Discord counts together: it names the bucket in its answers.
type routeLimit struct {
	turn    chan struct{} // holds one while a call is under way
	limiter *discordgo.RateLimiter
	bucket  *discordgo.Bucket

	// of limits.mu:
	key     string // in limits.buckets; "": Discord has not named it
	used    time.Time
	blocked time.Time // no call is made before
	queued  int       // calls under way or waiting for their turn
}

func newLimits(now func() time.Time) *limits {
	return &limits{
		now: now, routes: map[string]*routeLimit{}, buckets: map[string]*routeLimit{}, blocked: map[string]time.Time{},
		global: rate.NewLimiter(globalRate, globalBurst), posts: rate.NewLimiter(postRate, 1),
	}
}

// enter waits for the route's call in progress, if any, and takes a call from the limits. If a limit has none left, it
// returns an error of category delivery_not_yet with the time to wait.
func (l *limits) enter(ctx context.Context, route string, kind class) (*routeLimit, error) {
	r := l.take(route)
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		l.put(r)
		return nil, core.Wrap(core.DeliveryLater, ctx.Err(), "The call to Discord timed out while it waited for "+
			"earlier calls.")
	}
	r.bucket.Lock()
	if wait := l.wait(r, kind); wait > 0 {
		r.bucket.Unlock()
		l.leave(r)
		return nil, &core.Error{Category: core.DeliveryNotYet, Message: "Discord's rate limit is used up for the " +
			"moment.", RetryAfter: wait}
	}
	r.bucket.Remaining--
	return r, nil // discordgo unlocks the bucket with the answer
}

// leave lets the next call into the route.
func (l *limits) leave(r *routeLimit) {
	<-r.turn
	l.put(r)
}

// wait returns how long no call may be made to a route. If that is zero, it takes a call from the global limit. The
// caller has the route's turn.
func (l *limits) wait(r *routeLimit, kind class) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	wait := max(r.limiter.GetWaitTime(r.bucket, 1), r.blocked.Sub(now), l.blocked[allCalls].Sub(now))
	if kind != exempt {
		wait = max(wait, l.blocked[globalLimit].Sub(now))
	}
	if wait > 0 || kind == exempt {
		return wait
	}
	return l.waitGlobal(kind, now)
}

// waitGlobal takes a call from the global limit, or returns how long it takes until one is left.
func (l *limits) waitGlobal(kind class, now time.Time) time.Duration {
	left, needed := l.global.TokensAt(now), 1.0
	spare := kind == post && left < urgentBurst+1
	if spare && l.posts.TokensAt(now) < 1 {
		needed += urgentBurst
	}
	if wait := time.Duration((needed - left) / globalRate * float64(time.Second)); wait > 0 {
		return wait
	}
	l.global.ReserveN(now, 1)
	if spare {
		l.posts.AllowN(now, 1)
	}
	return 0
}

// hold blocks calls for a while: those of a route and of all that share its bucket, those that count against the global
// limit, or all.
func (l *limits) hold(what string, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.now().Add(wait)
	if r := l.routes[what]; r != nil {
		r.blocked = latest(until, r.blocked)
		return
	}
	l.blocked[what] = latest(until, l.blocked[what])
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// share makes a route use the bucket that Discord names in an answer, together with the other routes of that bucket.
func (l *limits) share(route, bucket string) {
	if bucket == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	own, key := l.routes[route], bucketKey(route, bucket)
	if own == nil || own.key == key {
		return
	}
	if own.key != "" { // Discord counts the route elsewhere now
		own = newRouteLimit(route, l.now())
		l.routes[route] = own
	}
	shared := l.buckets[key]
	if shared == nil {
		own.key, l.buckets[key] = key, own
		return
	}
	own.key, own.blocked, l.buckets[key] = key, latest(own.blocked, shared.blocked), own // its state is the newer one
	for other, r := range l.routes {
		if r == shared {
			l.routes[other] = own
		}
	}
}

// bucketKey identifies a bucket: Discord counts each channel, guild and webhook by itself.
func bucketKey(route, bucket string) string {
	_, path, _ := strings.Cut(route, " ")
	steps := strings.Split(path, "/")
	n := 0
	switch steps[0] {
	case "channels", "guilds":
		n = 2
	case "webhooks", "interactions":
		n = 3
	}
	return bucket + " " + strings.Join(steps[:min(n, len(steps))], "/")
}

// take returns a route's bucket, and keeps it until put.
func (l *limits) take(route string) *routeLimit {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.routes) >= sweepAt {
		for other, r := range l.routes {
			if r.queued == 0 && now.Sub(r.used) > unusedAfter && now.After(r.blocked) {
				delete(l.routes, other)
				delete(l.buckets, r.key)
			}
		}
	}
	r := l.routes[route]
	if r == nil {
		r = newRouteLimit(route, now)
		l.routes[route] = r
	}
	r.used = now
	r.queued++
	return r
}

func newRouteLimit(route string, now time.Time) *routeLimit {
	limiter := discordgo.NewRatelimiter()
	return &routeLimit{turn: make(chan struct{}, 1), limiter: limiter, bucket: limiter.GetBucket(route), used: now}
}

func (l *limits) put(r *routeLimit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.queued--
}

// routeOf returns the name of the bucket that a call counts against: its method and path with the first channel, guild
// or webhook. Other ids don't matter.
func routeOf(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	steps := strings.Split(strings.Trim(path, "/"), "/")
	for i, step := range steps {
		first := i == 1 || i == 2 && (steps[0] == "webhooks" || steps[0] == "interactions")
		if !first && snowflake.Valid(step) {
			steps[i] = "*"
		}
	}
	return method + " " + strings.Join(steps, "/")
}

// Discord bans an address for a while after 10,000 calls within ten minutes that it answers with 401, 403, or a 429
// caused by the caller. Other programs may share the address, so this client stops long before that.
const (
	MaxInvalid    = 500
	InvalidWindow = 10 * time.Minute
)

// invalidRequests counts such calls.
type invalidRequests struct {
	now func() time.Time

	mu sync.Mutex
	at []time.Time // of the last MaxInvalid at most
}

func newInvalidRequests(now func() time.Time) *invalidRequests { return &invalidRequests{now: now} }

func (i *invalidRequests) count() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.at = append(i.at, i.now())
	if len(i.at) > MaxInvalid {
		i.at = append(i.at[:0], i.at[len(i.at)-MaxInvalid:]...)
	}
}

// many reports whether half of MaxInvalid is used up.
func (i *invalidRequests) many() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.at) >= MaxInvalid/2 && i.now().Sub(i.at[len(i.at)-MaxInvalid/2]) < InvalidWindow
}

// wait returns how long no call may be made; zero: calls may be made.
func (i *invalidRequests) wait() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.at) < MaxInvalid {
		return 0
	}
	return max(0, i.at[0].Add(InvalidWindow).Sub(i.now()))
}
