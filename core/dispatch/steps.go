package dispatch

import (
	"strconv"
	"strings"
	"sync"
)

// steps are the tools that a turn has used so far.
type steps struct {
	news wake
	mu   sync.Mutex
	used []string
	more int // of the last one: how often it came again at once
}

func newSteps() *steps { return &steps{news: newWake()} }

// begin notes a tool; it never blocks.
func (s *steps) begin(tool string) {
	s.mu.Lock()
	if n := len(s.used); n > 0 && s.used[n-1] == tool {
		s.more++
	} else {
		s.flush()
		s.used = append(s.used, tool)
	}
	s.mu.Unlock()
	s.news.nudge()
}

// flush writes the repeats of the last tool down. The caller holds mu.
func (s *steps) flush() {
	if s.more > 0 {
		s.used[len(s.used)-1] += repeats(s.more)
	}
	s.more = 0
}

func repeats(more int) string { return " ×" + strconv.Itoa(more+1) }

// shownSteps is how many tools a line names; of more, the last ones.
const shownSteps = 12

// line names them in their order.
func (s *steps) line() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := max(0, len(s.used)-shownSteps)
	text := strings.Join(s.used[from:], " · ")
	if s.more > 0 {
		text += repeats(s.more)
	}
	if from > 0 {
		text = "… · " + text
	}
	return text
}
