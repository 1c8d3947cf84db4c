package console

import (
	"context"
	"time"
)

// spinner turns before the prompt while the bot works. It can't stick: every post ends it, and so does the store once it has
// said twice that the conversation is quiet.
type spinner struct {
	c     *Console
	clock *time.Ticker
	count int
	quiet int
}

// tick gives the clock's channel; nil, which never fires, while nothing turns.
func (s *spinner) tick() <-chan time.Time {
	if s.clock == nil {
		return nil
	}
	return s.clock.C
}

// turn starts or stops the clock as the console's working state says.
func (s *spinner) turn() {
	s.c.mu.Lock()
	on := s.c.working
	s.c.mu.Unlock()
	switch {
	case on && s.clock == nil:
		s.clock, s.count, s.quiet = time.NewTicker(frameTime), 0, 0
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

// next draws the next frame.
func (s *spinner) next(ctx context.Context) {
	s.count++
	if s.count%askQuiet == 0 {
		if quiet, err := s.c.opt.Quiet(ctx); err == nil && quiet {
			s.quiet++
		} else {
			s.quiet = 0
		}
		if s.quiet >= quietLooks {
			s.c.setWorking(false)
			return
		}
	}
	all := []rune(frames)
	s.c.redraw(string(all[s.count%len(all)]))
}
