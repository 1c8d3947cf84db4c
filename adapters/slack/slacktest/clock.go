package slacktest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Clock is a clock that stands still until it is moved, for Options.Now.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock is a clock that stands at start.
func NewClock(start time.Time) *Clock { return &Clock{now: start} }

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock on.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// newTS is the next message timestamp: seconds and six digits, unique and rising even if the clock stands. The caller holds the lock.
func (s *Server) newTS() string {
	micros := s.o.Now().UnixMicro() / 100 * 100
	if micros <= s.lastTS {
		micros = s.lastTS + 100
	}
	s.lastTS = micros
	return fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6)
}

// tsMicros reads a timestamp back; what is none counts as 0.
func tsMicros(ts string) int64 {
	seconds, rest, _ := strings.Cut(ts, ".")
	sec, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return 0
	}
	micros, _ := strconv.ParseInt((rest + "000000")[:6], 10, 64)
	return sec*1e6 + micros
}
