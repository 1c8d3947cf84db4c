package dispatch

import (
	"strconv"
	"strings"
	"sync"
	"time"
)

// steps are the tools that a turn has used so far, and what it waits for.
type steps struct {
	mu    sync.Mutex
	used  []string  // guarded by mu
	until time.Time // guarded by mu: when the model is asked again; zero: no vendor asked to wait
	news  bool      // guarded by mu: since line was called last
}

// begin records a tool; it never blocks.
func (s *steps) begin(tool string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used, s.news = append(s.used, tool), true
}

// wait records until when a model's vendor asked to wait; it never blocks.
func (s *steps) wait(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until, s.news = until, true
}

// changed reports whether there is something new since line was called last.
func (s *steps) changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news
}

// shownSteps is the maximum number of tools that line names; it names the last ones.
const shownSteps = 12

// waitsUntil returns until when the turn waits for a model; zero if it does not.
func (s *steps) waitsUntil(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until.After(now) {
		return s.until
	}
	return time.Time{}
}

// line lists the tools in their order. A tool that was used several times in a row is listed once, with the number.
func (s *steps) line() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news = false
	var shown []string
	for i, n := 0, 0; i < len(s.used); i += n {
		for n = 1; i+n < len(s.used) && s.used[i+n] == s.used[i]; {
			n++
		}
		text := s.used[i]
		if n > 1 {
			text += " ×" + strconv.Itoa(n)
		}
		shown = append(shown, text)
	}
	if more := len(shown) - shownSteps; more > 0 {
		shown = append([]string{"…"}, shown[more:]...)
	}
	return strings.Join(shown, " · ")
}
