package load

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/process"
)

// quiet is how long is waited for replies that should not come.
const quiet = 300 * time.Millisecond

// Run starts a platform and a bot, sends the events, waits for the replies and ends the bot. dir is a folder for its
// log. An error means that nothing was measured; replies that are lost or doubled are in the result.
func Run(ctx context.Context, p Plan, b Bot, open Open, dir string) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Within)
	defer cancel()
	book := ledger.New(p.Warm + p.Events + p.Beside)
	platform, err := open(book)
	if err != nil {
		return Result{}, err
	}
	defer platform.Close()
	r := &run{
		plan: p, bot: b, book: book, platform: platform, dir: dir, running: make([]*process.Process, len(b.Instances)),
	}
	defer r.kill()
	return r.measure(ctx)
}

// run is a run while it lasts.
type run struct {
	plan     Plan
	bot      Bot
	book     *ledger.Ledger
	platform Platform
	dir      string             // for the logs
	running  []*process.Process // by instance; nil: not started yet
	before   process.Usage      // of a process that was killed
}

func (r *run) measure(ctx context.Context) (Result, error) {
	result := Result{Sent: r.plan.Warm + r.plan.Events}
	for i := range r.bot.Instances {
		began := time.Now()
		if err := r.start(ctx, i); err != nil {
			return Result{}, err
		}
		if i == 0 {
			result.Start = time.Since(began)
		}
	}
	if err := r.warm(ctx); err != nil {
		return Result{}, fmt.Errorf("warming up: %w", err)
	}
	stopProfile, err := r.profile()
	if err != nil {
		return Result{}, err
	}
	defer stopProfile()
	begin, err := r.usage()
	if err != nil {
		return Result{}, err
	}
	r.book.Begin(r.plan.Warm, r.plan.Warm+r.plan.Events)
	if err := r.events(ctx); err != nil {
		return Result{}, err
	}
	if result.Watch, err = r.watch(ctx, r.plan.Watch); err != nil {
		return Result{}, err
	}
	if err := r.beside(ctx); err != nil {
		return Result{}, fmt.Errorf("beside the others: %w", err)
	}
	missing := r.replies(ctx)
	end, err := r.usage()
	if err != nil {
		return Result{}, err
	}
	stopProfile()
	if missing == nil {
		missing = r.settle(ctx)
	}
	if missing == nil {
		if result.Idle, err = r.watch(ctx, r.plan.Idle); err != nil {
			return Result{}, err
		}
	}
	for _, p := range r.running {
		p.End(syscall.SIGTERM)
	}
	result.Summary, result.Tally = r.book.Summary(), r.platform.Tally()
	result.Beside = r.book.Between(result.Sent, result.Sent+r.plan.Beside)
	used := end.Since(begin.Usage)
	result.CPU, result.Peak, result.Written, result.Switches = used.CPU, used.Peak, used.Written, used.Switches
	result.Server, result.Driver, result.Stored = end.server-begin.server, end.driver-begin.driver,
		end.stored-begin.stored
	result.Problem = problem(result, missing)
	return result, nil
}

// problem tells what is wrong with the counts.
func problem(r Result, missing error) string {
	var all []error
	if r.Lost > 0 || r.Doubled > 0 {
		all = append(all,
			fmt.Errorf("of %d events %d have no reply, and %d have more than one", r.Events, r.Lost, r.Doubled))
	}
	if b := r.Beside; b.Lost > 0 || b.Doubled > 0 {
		all = append(all,
			fmt.Errorf("of %d events beside them %d have no reply, and %d have more than one", b.Events, b.Lost,
				b.Doubled))
	}
	if r.Strays > 0 {
		all = append(all, fmt.Errorf("%d posts are no reply to an event in its thread, such as %q", r.Strays, r.Stray))
	}
	if err := errors.Join(append(all, missing)...); err != nil {
		return err.Error()
	}
	return ""
}

// warm sends the events that do not count, and waits for the replies.
func (r *run) warm(ctx context.Context) error {
	if r.plan.Warm == 0 {
		return nil
	}
	r.book.Begin(0, r.plan.Warm)
	if err := r.send(ctx, 0, r.plan.Warm, func(int) {}); err != nil {
		return err
	}
	return r.replies(ctx)
}

// events sends the events that count. In the mode Kill, the bot is killed when half of them are acknowledged.
func (r *run) events(ctx context.Context) error {
	first, end := r.plan.Warm, r.plan.Warm+r.plan.Events
	if r.plan.Mode != Kill {
		return r.send(ctx, first, end, func(int) {})
	}
	restarted := make(chan error, 1)
	err := r.platform.Send(ctx, first, end, func(n int) {
		if n == (r.plan.Events+1)/2 {
			restarted <- r.restart(ctx)
		}
	})
	if err != nil {
		return err
	}
	return <-restarted
}

// besidePause is how long after one event the next one is sent that asks for an answer without delay.
const besidePause = 100 * time.Millisecond

// beside sends the events that ask for an answer without delay.
func (r *run) beside(ctx context.Context) error {
	first := r.plan.Warm + r.plan.Events
	for n := first; n < first+r.plan.Beside; n++ {
		if err := r.send(ctx, n, n+1, func(int) {}); err != nil {
			return err
		}
		if err := pause(ctx, besidePause); err != nil {
			return err
		}
	}
	return nil
}

// send sends events. It fails if an instance ends meanwhile.
func (r *run) send(ctx context.Context, first, end int, sent func(n int)) error {
	sending, stop := r.watched(ctx)
	defer stop()
	if err := r.platform.Send(sending, first, end, sent); err != nil {
		return errors.Join(err, context.Cause(sending))
	}
	return nil
}

// replies waits for the reply to each event, as long as some come.
func (r *run) replies(ctx context.Context) error {
	waiting, stop := r.watched(ctx)
	defer stop()
	check := time.NewTicker(time.Second)
	defer check.Stop()
	open, since := r.book.Open(), time.Now()
	for {
		select {
		case <-r.book.Done():
			return nil
		case <-waiting.Done():
			return fmt.Errorf("%d events have no reply: %w", r.book.Open(), context.Cause(waiting))
		case <-check.C:
		}
		if now := r.book.Open(); now < open {
			open, since = now, time.Now()
		} else if time.Since(since) > r.plan.Patience {
			return fmt.Errorf("%d events have no reply, and for %s none has come", now, r.plan.Patience)
		}
	}
}

// settle waits until nothing is left that could be posted twice.
func (r *run) settle(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s still has something to post: %w", r.bot.Name, ctx.Err())
		case <-time.After(quiet):
		}
		if r.bot.Idle == nil {
			return nil
		}
		if idle, err := r.bot.Idle(); err != nil || idle {
			return err
		}
	}
}
