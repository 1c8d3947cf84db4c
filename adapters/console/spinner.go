package console

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rivo/uniseg"

	"gatehouse/adapters/wording"
)

const (
	frameTime  = 120 * time.Millisecond
	frames     = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	idleEvery  = 16 // frames between two checks whether the conversation is idle
	idleChecks = 2  // idle reports in a row that end the spinner
)

// doing is what the spinner says that the bot does.
type doing struct {
	what  string    // the tools that it has used so far; "": none
	since time.Time // when the turn, or the last of them, began
}

// spinner is drawn before the prompt while the bot works. It always ends: every post ends it, and so do two reports of
// Options.Work in a row that the conversation is idle.
type spinner struct {
	c       *Console
	clock   *time.Ticker // stopped while nothing is drawn
	count   int
	idle    int
	writing writing
}

// update starts or stops the clock according to the console's working state.
func (s *spinner) update() {
	s.c.mu.Lock()
	on := s.c.working
	s.c.mu.Unlock()
	if on {
		s.count, s.idle = 0, 0
		s.clock.Reset(frameTime)
		return
	}
	s.clock.Stop()
	s.c.redraw("")
}

// advance draws the next frame.
func (s *spinner) advance(ctx context.Context) {
	s.count++
	if s.count%idleEvery == 0 {
		s.idle++
		if idle, err := s.c.opt.Work.Idle(ctx); err != nil || !idle {
			s.idle = 0
		}
		if s.idle >= idleChecks {
			s.c.setWorking(false)
			return
		}
	}
	all := []rune(frames)
	s.c.redraw(string(all[s.count%len(all)]) + " " + s.says())
}

// says is what the bot does and for how long, or the end of what it writes, in at most half of the terminal's width. Of
// a turn that another process runs, only the tools are known that its steps tell.
func (s *spinner) says() string {
	s.c.mu.Lock()
	now := s.c.doing
	s.c.mu.Unlock()
	t, width := s.c.texts, s.c.look().width/2
	text, since := t.TerminalWorks, now.since
	state, here := s.c.opt.Live.State(s.c.conversation)
	s.writing.takes(state.Writing)
	switch wait := time.Until(state.RetryAt); {
	case here && wait > 0:
		text = wording.Fill(t.TerminalRetries, "{time}", span(wait+time.Second))
		return shortened(text, width)
	case here && state.Tool != "":
		text, since = wording.Fill(t.TerminalRuns, "{tool}", oneLine(state.Tool)), state.Since
	case here:
		if tail := s.writing.tail(width); tail != "" {
			return tail
		}
	case now.what != "":
		all := strings.Split(oneLine(now.what), " · ")
		text = wording.Fill(t.TerminalRuns, "{tool}", all[len(all)-1])
	}
	took := " " + span(time.Since(since))
	return shortened(text, width-len(took)) + took
}

// span is a time in whole seconds.
func span(d time.Duration) string {
	seconds := int(d.Seconds())
	if seconds < 60 {
		return fmt.Sprintf("%d s", seconds)
	}
	return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
}

// shortened is a text in at most so many columns.
func shortened(text string, columns int) string {
	if uniseg.StringWidth(text) <= columns {
		return text
	}
	var b strings.Builder
	for _, c := range (line{{text: text}}).cells() {
		if columns -= c.width; columns < 1 {
			break
		}
		b.WriteString(c.text)
	}
	return b.String() + "…"
}
