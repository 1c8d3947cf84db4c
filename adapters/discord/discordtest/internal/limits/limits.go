// Package limits is Discord's rate limits: the buckets of the routes, the global limit, and the count of invalid
// requests that gets an address banned.
package limits

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Limit is how many calls of a route are accepted in a time, counted separately for each channel, guild or webhook.
type Limit struct {
	Calls  int
	Per    time.Duration
	Bucket string // routes with the same one are counted together; "": the route's own
}

// Limits are limits by route. AnyRoute is for routes without an entry, GlobalLimit for all calls together.
type Limits map[string]Limit

// Keys of Limits that are not routes.
const (
	AnyRoute    = "*"
	GlobalLimit = "global"
)

// The number of invalid requests, and the time, after which an address is banned.
const (
	InvalidLimit  = 10_000
	InvalidWindow = 10 * time.Minute
)

// unlimited is the limit of a route that has none.
var unlimited = Limit{Calls: 1_000_000, Per: time.Second}

// Limiter counts the calls of one bot. The caller holds the fake's lock.
type Limiter struct {
	Now    func() time.Time
	Ban    func(why string) // the address is banned
	Banned bool

	limits  Limits
	buckets map[string]*bucket // by route and channel, guild or webhook
	global  bucket
	invalid []time.Time
}

// bucket counts the calls until a time.
type bucket struct {
	used  int
	until time.Time
}

// Set replaces the limits, from now on.
func (l *Limiter) Set(limits Limits) {
	l.limits = maps.Clone(limits)
	l.buckets = map[string]*bucket{}
}

func (l *Limiter) limitOf(route string) Limit {
	for _, name := range []string{route, AnyRoute} {
		if limit, is := l.limits[name]; is {
			return limit
		}
	}
	return unlimited
}

// bucketName returns the value of X-RateLimit-Bucket. It does not depend on the ids in the path.
func bucketName(route string) string {
	sum := sha256.Sum256([]byte(route))
	return hex.EncodeToString(sum[:16])
}

// Take counts a call of a route against the global limit, if that governs it, and against the bucket of the channel,
// guild or webhook. It sets the headers, and returns the body of a 429 if the call is one too many.
func (l *Limiter) Take(route, bucketOf string, governed bool, header http.Header) map[string]any {
	now := l.Now()
	if limit, is := l.limits[GlobalLimit]; is && governed {
		if !now.Before(l.global.until) {
			l.global = bucket{until: now.Add(limit.Per)}
		}
		if l.global.used >= limit.Calls {
			after := l.global.until.Sub(now)
			header.Set("X-RateLimit-Global", "true")
			header.Set("X-RateLimit-Scope", "global")
			header.Set("Retry-After", WholeSeconds(after))
			return Body(after, true)
		}
		l.global.used++
	}
	limit := l.limitOf(route)
	name := cmp.Or(limit.Bucket, route)
	key := name + " " + bucketOf
	b := l.buckets[key]
	if b == nil {
		b = &bucket{}
		l.buckets[key] = b
	}
	if !now.Before(b.until) {
		*b = bucket{until: now.Add(limit.Per)}
	}
	late := b.used >= limit.Calls
	if !late {
		b.used++
	}
	after := b.until.Sub(now)
	SetHeaders(header, name, limit.Calls, limit.Calls-b.used, b.until, after)
	if !late {
		return nil
	}
	header.Set("X-RateLimit-Scope", "user")
	header.Set("Retry-After", WholeSeconds(after))
	return Body(after, false)
}

// SetHeaders sets the headers with the state of a bucket.
func SetHeaders(header http.Header, route string, limit, remaining int, until time.Time, after time.Duration) {
	header.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
	header.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(until.UnixMilli())/1000))
	header.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", math.Ceil(after.Seconds()*1000)/1000))
	header.Set("X-RateLimit-Bucket", bucketName(route))
}

// WholeSeconds formats a time for Retry-After.
func WholeSeconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// Body is the body of a 429.
func Body(after time.Duration, global bool) map[string]any {
	return map[string]any{
		"message": "You are being rate limited.", "retry_after": math.Ceil(after.Seconds()*1000) / 1000,
		"global": global, "code": 0,
	}
}

// CountInvalid counts a 401, a 403 or a 429 that is not shared.
func (l *Limiter) CountInvalid() {
	l.invalid = append(l.invalid, l.Now())
	if l.Invalid() >= InvalidLimit && !l.Banned {
		l.Banned = true
		l.Ban(fmt.Sprintf("banned after %d invalid requests within %s", InvalidLimit, InvalidWindow))
	}
}

// Invalid counts the invalid requests within InvalidWindow.
func (l *Limiter) Invalid() int {
	now, first := l.Now(), 0
	for first < len(l.invalid) && now.Sub(l.invalid[first]) >= InvalidWindow {
		first++
	}
	l.invalid = l.invalid[first:]
	return len(l.invalid)
}
