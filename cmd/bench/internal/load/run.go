package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/process"
)

// quiet is how long is waited for replies that should not come.
const quiet = 300 * time.Millisecond

// Run starts a platform and a bot, sends the events, waits for the replies and ends the bot. dir is a folder for its log. An error means that
// nothing was measured; replies that are lost or doubled are in the result.
func Run(ctx context.Context, p Plan, b Bot, open Open, dir string) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Within)
	defer cancel()
	book := ledger.New(p.Warm + p.Events)
	platform, err := open(book)
	if err != nil {
		return Result{}, err
	}
	defer platform.Close()
	r := &run{plan: p, bot: b, book: book, platform: platform, log: filepath.Join(dir, "log")}
	result, err := r.measure(ctx)
	if err != nil && r.process != nil {
		r.process.Kill()
		err = fmt.Errorf("%w\nThe end of what %s printed:\n%s", err, b.Name, r.process.Tail())
	}
	return result, err
}

// run is a run while it lasts.
type run struct {
	plan     Plan
	bot      Bot
	book     *ledger.Ledger
	platform Platform
	log      string
	process  *process.Process
	before   process.Usage // of a process that was killed
}

func (r *run) measure(ctx context.Context) (Result, error) {
	if err := r.start(ctx); err != nil {
		return Result{}, err
	}
	if err := r.warm(ctx); err != nil {
		return Result{}, fmt.Errorf("warming up: %w", err)
	}
	begin, err := r.usage()
	if err != nil {
		return Result{}, err
	}
	profiled, err := r.profile()
	if err != nil {
		return Result{}, err
	}
	defer profiled()
	r.book.Begin(r.plan.Warm, r.plan.Warm+r.plan.Events)
	if err := r.events(ctx); err != nil {
		return Result{}, err
	}
	missing := r.replies(ctx)
	profiled()
	end, err := r.usage()
	if err != nil {
		return Result{}, err
	}
	if missing == nil {
		missing = r.settle(ctx)
	}
	r.process.End(syscall.SIGTERM)
	result := Result{
		Summary: r.book.Summary(), Tally: r.platform.Tally(), Sent: r.plan.Warm + r.plan.Events, CPU: end.CPU - begin.CPU, Driver: end.driver - begin.driver,
		Peak: end.Peak, Written: end.Written - begin.Written, Stored: end.stored - begin.stored,
	}
	result.Problem = problem(result, missing)
	return result, nil
}

// problem tells what is wrong with the counts.
func problem(r Result, missing error) string {
	var all []error
	if r.Lost > 0 || r.Doubled > 0 {
		all = append(all, fmt.Errorf("of %d events %d have no reply, and %d have more than one", r.Events, r.Lost, r.Doubled))
	}
	if r.Strays > 0 {
		all = append(all, fmt.Errorf("%d posts are no reply to an event in its thread, such as %q", r.Strays, r.Stray))
	}
	if err := errors.Join(append(all, missing)...); err != nil {
		return err.Error()
	}
	return ""
}

// start starts the bot, and waits until it is ready.
func (r *run) start(ctx context.Context) (err error) {
	if r.process, err = process.Start(r.bot.Program, append(r.platform.Env(), r.bot.Env...), r.log); err != nil {
		return err
	}
	for !r.ready(ctx) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", r.bot.Name, ctx.Err())
		case <-r.process.Done():
			return fmt.Errorf("%s has ended", r.bot.Name)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

func (r *run) ready(ctx context.Context) bool {
	address := r.bot.Ready
	if address == "" {
		address = r.bot.URL
	}
	if address == "" {
		return r.platform.Ready()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return (r.bot.Ready == "" || response.StatusCode == http.StatusOK) && r.platform.Ready()
}

// warm sends the events that do not count, and waits for the replies.
func (r *run) warm(ctx context.Context) error {
	if r.plan.Warm == 0 {
		return nil
	}
	r.book.Begin(0, r.plan.Warm)
	if err := r.platform.Send(ctx, 0, r.plan.Warm, func(int) {}); err != nil {
		return err
	}
	return r.replies(ctx)
}

// events sends the events that count. In the mode Kill, the bot is killed when half of them are acknowledged.
func (r *run) events(ctx context.Context) error {
	restarted := make(chan error, 1)
	half := -1
	if r.plan.Mode == Kill {
		half = (r.plan.Events + 1) / 2
	} else {
		restarted <- nil
	}
	err := r.platform.Send(ctx, r.plan.Warm, r.plan.Warm+r.plan.Events, func(n int) {
		if n == half {
			restarted <- r.restart(ctx)
		}
	})
	if err != nil {
		return err
	}
	return <-restarted
}

func (r *run) restart(ctx context.Context) error {
	used, err := r.process.Usage()
	if err != nil {
		return err
	}
	r.process.Kill()
	r.before.CPU += used.CPU
	r.before.Written += used.Written
	r.before.Peak = max(r.before.Peak, used.Peak)
	return r.start(ctx)
}

// replies waits for the reply to each event.
func (r *run) replies(ctx context.Context) error {
	select {
	case <-r.book.Done():
		return nil
	case <-r.process.Done():
		return fmt.Errorf("%s has ended", r.bot.Name)
	case <-ctx.Done():
		return fmt.Errorf("%d events have no reply: %w", r.book.Open(), ctx.Err())
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

// profile starts perf, if the plan has a file for it; stop ends it, and may be called several times.
func (r *run) profile() (stop func(), err error) {
	if r.plan.Profile == "" {
		return func() {}, nil
	}
	pid := strconv.Itoa(r.process.PID())
	perf, err := process.Start([]string{"perf", "record", "-q", "-F", "499", "-g", "-p", pid, "-o", r.plan.Profile}, nil, r.log)
	if err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	return sync.OnceFunc(func() { perf.End(syscall.SIGINT) }), nil
}

// usage is what was used until a moment.
type usage struct {
	process.Usage
	driver time.Duration
	stored int64
}

func (r *run) usage() (u usage, err error) {
	if u.Usage, err = r.process.Usage(); err != nil {
		return usage{}, err
	}
	u.CPU += r.before.CPU
	u.Written += r.before.Written
	u.Peak = max(u.Peak, r.before.Peak)
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return usage{}, err
	}
	u.driver = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	if r.bot.Stored != nil {
		u.stored, err = r.bot.Stored()
	}
	return u, err
}
