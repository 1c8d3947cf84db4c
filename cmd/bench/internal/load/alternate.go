package load

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/process"
)

// Side is one of several bots that are measured beside each other, with the platform and the folder for its log.
type Side struct {
	Bot  Bot
	Open Open
	Dir  string
}

// Slice is how many events each bot gets before it is the next one's turn.
const Slice = 100

// Alternate measures bots that run at the same time and get their events by turns, a slice each: what slows the
// machine down for a second or more hits all of them alike. What a bot uses counts in its own slices only. The
// results are in the order of the sides. What belongs to a whole run, such as the time to start, the idle time and
// the growth of the database, is not measured. An error means that nothing was measured.
func Alternate(ctx context.Context, p Plan, sides []Side) ([]Result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Within)
	defer cancel()
	all := make([]*slices, len(sides))
	for i, side := range sides {
		one, err := beginSlices(ctx, p, side)
		if one != nil {
			defer one.end()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", side.Bot.Name, err)
		}
		all[i] = one
	}
	for first, turn := p.Warm, 0; first < p.Warm+p.Events; first, turn = first+Slice, turn+1 {
		for i := range all {
			if turn%2 > 0 { // nobody is always the first one
				i = len(all) - 1 - i
			}
			if err := all[i].next(ctx, first, min(first+Slice, p.Warm+p.Events)); err != nil {
				return nil, fmt.Errorf("%s: %w", sides[i].Bot.Name, err)
			}
		}
	}
	results := make([]Result, len(all))
	for i, one := range all {
		results[i] = one.result(ctx)
	}
	return results, nil
}

// slices is a run that gets its events by slices.
type slices struct {
	*run
	took    time.Duration
	used    process.Usage
	driver  time.Duration
	missing error // why not every event has a reply
}

// beginSlices starts a bot and warms it up. What it returns has to be ended, also with an error.
func beginSlices(ctx context.Context, p Plan, side Side) (*slices, error) {
	book := ledger.New(p.Warm + p.Events)
	platform, err := side.Open(book)
	if err != nil {
		return nil, err
	}
	running := make([]*process.Process, len(side.Bot.Instances))
	s := &slices{run: &run{plan: p, bot: side.Bot, book: book, platform: platform, dir: side.Dir, running: running}}
	for i := range side.Bot.Instances {
		if err := s.start(ctx, i); err != nil {
			return s, err
		}
	}
	if err := s.warm(ctx); err != nil {
		return s, fmt.Errorf("warming up: %w", err)
	}
	return s, nil
}

func (s *slices) end() {
	s.kill()
	s.platform.Close()
}

// next sends a slice of the events, and waits for their replies.
func (s *slices) next(ctx context.Context, first, end int) error {
	if s.missing != nil {
		return nil // it counts as lost
	}
	begin, err := s.usage()
	if err != nil {
		return err
	}
	s.book.Begin(first, end)
	if err := s.send(ctx, first, end, func(int) {}); err != nil {
		return err
	}
	s.missing = s.replies(ctx)
	after, err := s.usage()
	if err != nil {
		return err
	}
	used := after.Since(begin.Usage)
	s.used, s.driver = s.used.Add(used), s.driver+after.driver-begin.driver
	s.used.Peak = used.Peak // that of the whole time
	s.took += s.book.Summary().Took
	return nil
}

// result waits until nothing is left that could be posted twice, and ends the bot.
func (s *slices) result(ctx context.Context) Result {
	if s.missing == nil {
		s.missing = s.settle(ctx)
	}
	for _, p := range s.running {
		p.End(syscall.SIGTERM)
	}
	r := Result{Sent: s.plan.Warm + s.plan.Events, Tally: s.platform.Tally(), Driver: s.driver}
	r.Summary = s.book.Between(s.plan.Warm, r.Sent)
	r.Took, r.CPU, r.Peak, r.Written, r.Switches = s.took, s.used.CPU, s.used.Peak, s.used.Written, s.used.Switches
	r.Problem = problem(r, s.missing)
	return r
}
