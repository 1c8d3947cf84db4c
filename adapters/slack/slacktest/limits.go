package slacktest

import (
	"math"
	"time"
)

// LimitPosts makes the fake as strict as Slack: more than so many chat.postMessage calls a second in one channel get a 429, with a burst of
// three times as many. 0 lifts the limit, which is how a fake begins.
func (s *Server) LimitPosts(perSecond int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.perChannel, s.limits = perSecond, map[string][]time.Time{}
}

// overLimit says for how many seconds a call comes too early, 0 if it does not.
func (s *Server) overLimit(method, channel string) int {
	if s.perChannel == 0 || method != "chat.postMessage" {
		return 0
	}
	const window = 3 * time.Second
	now, burst := s.o.Now(), 3*s.perChannel
	recent := s.limits[channel]
	for len(recent) > 0 && now.Sub(recent[0]) >= window {
		recent = recent[1:]
	}
	if len(recent) >= burst {
		s.limits[channel] = recent
		return max(1, int(math.Ceil((window - now.Sub(recent[0])).Seconds())))
	}
	s.limits[channel] = append(recent, now)
	return 0
}
