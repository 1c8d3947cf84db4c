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
	c     *Console
	clock *time.Ticker // stopped while nothing is drawn
	count int
	idle  int
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
	s.c.redraw(string(all[s.count%len(all)]) + " " + s.c.says())
}

// says is what the bot does and for how long, in at most half of the terminal's width.
func (c *Console) says() string {
	c.mu.Lock()
	now := c.doing
	c.mu.Unlock()
	text := c.texts.TerminalWorks
	if now.what != "" {
		all := strings.Split(oneLine(now.what), " · ")
		text = wording.Fill(c.texts.TerminalRuns, "{tool}", all[len(all)-1])
	}
	seconds := int(time.Since(now.since).Seconds())
	took := fmt.Sprintf(" %d s", seconds%60)
	if minutes := seconds / 60; minutes > 0 {
		took = fmt.Sprintf(" %d min", minutes) + took
	}
	return shortened(text, c.look().width/2-len(took)) + took
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
