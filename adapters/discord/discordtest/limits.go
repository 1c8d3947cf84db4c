package discordtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Limit is how many calls of a route go through in a time, for each channel, guild or webhook of its own.
type Limit struct {
	Calls int
	Per   time.Duration
}

// Limits are limits by route. AnyRoute is for those not named, GlobalLimit for all together.
type Limits map[string]Limit

// Keys of Limits that are no routes.
const (
	AnyRoute    = "*"
	GlobalLimit = "global"
)

// DiscordLimits are limits close to those of the real Discord.
func DiscordLimits() Limits {
	return Limits{
		CreateMessage: {5, 5 * time.Second}, EditMessage: {5, 5 * time.Second}, DeleteMessage: {5, time.Second}, AddReaction: {1, 250 * time.Millisecond},
		StartThread: {50, 5 * time.Minute}, TriggerTyping: {5, 5 * time.Second}, AnyRoute: {50, time.Second}, GlobalLimit: {50, time.Second},
	}
}

// wide is a limit that nobody meets.
var wide = Limit{Calls: 1_000_000, Per: time.Second}

// SetLimits replaces the rate limits, from now on.
func (s *Server) SetLimits(l Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = maps.Clone(l)
	s.buckets = map[string]*bucket{}
}

// bucket counts the calls of one route for one channel, guild or webhook.
type bucket struct {
	used  int
	until time.Time
}

type globalLimit struct {
	used  int
	until time.Time
}

func (s *Server) limitOf(name string) Limit {
	if l, is := s.limits[name]; is {
		return l
	}
	if l, is := s.limits[AnyRoute]; is {
		return l
	}
	return wide
}

// bucketName is what X-RateLimit-Bucket says: it does not depend on what stands in the path.
func bucketName(route string) string {
	sum := sha256.Sum256([]byte(route))
	return hex.EncodeToString(sum[:16])
}

// take counts a call against its bucket and the global limit, sets the headers, and returns the body of a 429 if it is one too many.
func (s *Server) take(name string, rt route, q *request, header http.Header) object {
	now := s.o.LimitNow()
	if l, is := s.limits[GlobalLimit]; is && !rt.ungoverned {
		if !now.Before(s.global.until) {
			s.global = globalLimit{until: now.Add(l.Per)}
		}
		if s.global.used >= l.Calls {
			after := s.global.until.Sub(now)
			header.Set("X-RateLimit-Global", "true")
			header.Set("X-RateLimit-Scope", "global")
			header.Set("Retry-After", wholeSeconds(after))
			return lateBody(after, true)
		}
		s.global.used++
	}
	l := s.limitOf(name)
	key := name + " " + q.path["channel"] + q.path["guild"] + q.path["token"]
	b := s.buckets[key]
	if b == nil {
		b = &bucket{}
		s.buckets[key] = b
	}
	if !now.Before(b.until) {
		*b = bucket{until: now.Add(l.Per)}
	}
	late := b.used >= l.Calls
	if !late {
		b.used++
	}
	after := b.until.Sub(now)
	setLimitHeaders(header, name, l.Calls, l.Calls-b.used, b.until, after)
	if !late {
		return nil
	}
	header.Set("X-RateLimit-Scope", "user")
	header.Set("Retry-After", wholeSeconds(after))
	return lateBody(after, false)
}

func setLimitHeaders(header http.Header, name string, limit, remaining int, until time.Time, after time.Duration) {
	header.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
	header.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(until.UnixMilli())/1000))
	header.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", math.Ceil(after.Seconds()*1000)/1000))
	header.Set("X-RateLimit-Bucket", bucketName(name))
}

func wholeSeconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

func lateBody(after time.Duration, global bool) object {
	return object{"message": "You are being rate limited.", "retry_after": math.Ceil(after.Seconds()*1000) / 1000, "global": global}
}

// InvalidLimit is how many invalid requests in InvalidWindow get an address banned.
const (
	InvalidLimit  = 10_000
	InvalidWindow = 10 * time.Minute
)

// countInvalid counts a 401, a 403 or a 429 that is not shared.
func (s *Server) countInvalid() {
	now := s.o.LimitNow()
	s.invalid = append(s.invalid, now)
	if s.invalidNow(now) >= InvalidLimit && !s.banned {
		s.banned = true
		s.disasters = append(s.disasters, fmt.Sprintf("banned after %d invalid requests within %s", InvalidLimit, InvalidWindow))
	}
	s.changed()
}

func (s *Server) invalidNow(now time.Time) int {
	first := 0
	for first < len(s.invalid) && now.Sub(s.invalid[first]) >= InvalidWindow {
		first++
	}
	s.invalid = s.invalid[first:]
	return len(s.invalid)
}

// InvalidRequests are the requests of the last 10 minutes that met 401, 403 or a 429 which is not shared. InvalidLimit of them are a disaster.
func (s *Server) InvalidRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.invalidNow(s.o.LimitNow())
}
