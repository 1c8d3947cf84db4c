package console

import (
	"context"
	"time"
)

// spinner is drawn before the prompt while the bot works. It can't stay for ever: every post ends it, and so do two reports of
// Options.Idle in a row that the conversation is idle.
type spinner struct {
	c     *Console
	clock *time.Ticker
	count int
	idle  int
}

// tick gives the clock's channel; nil, which never fires, while the spinner is off.
func (s *spinner) tick() <-chan time.Time {
	if s.clock == nil {
		return nil
	}
	return s.clock.C
}

// update starts or stops the clock according to the console's working state.
func (s *spinner) update() {
	s.c.mu.Lock()
	on := s.c.working
	s.c.mu.Unlock()
	switch {
	case on && s.clock == nil:
		s.clock, s.count, s.idle = time.NewTicker(frameTime), 0, 0
	case !on && s.clock != nil:
		s.stop()
		s.c.redraw("")
	}
}

func (s *spinner) stop() {
	if s.clock != nil {
		s.clock.Stop()
		s.clock = nil
	}
}

// advance draws the next frame.
func (s *spinner) advance(ctx context.Context) {
	s.count++
	if s.count%idleEvery == 0 {
		if idle, err := s.c.opt.Idle(ctx); err == nil && idle {
			s.idle++
		} else {
			s.idle = 0
		}
		if s.idle >= idleChecks {
			s.c.setWorking(false)
			return
		}
	}
	all := []rune(frames)
	s.c.redraw(string(all[s.count%len(all)]))
}
