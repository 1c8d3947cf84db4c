package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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
	r := &run{plan: p, bot: b, book: book, platform: platform, dir: dir, running: make([]*process.Process, len(b.Instances))}
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
	missing := r.replies(ctx)
	end, err := r.usage()
	if err != nil {
		return Result{}, err
	}
	stopProfile()
	if missing == nil {
		missing = r.settle(ctx)
	}
	if result.Idle, err = r.idle(ctx); err != nil {
		return Result{}, err
	}
	for _, p := range r.running {
		p.End(syscall.SIGTERM)
	}
	result.Summary, result.Tally = r.book.Summary(), r.platform.Tally()
	used := end.Since(begin.Usage)
	result.CPU, result.Peak, result.Written, result.Switches = used.CPU, used.Peak, used.Written, used.Switches
	result.Server, result.Driver, result.Stored = end.server-begin.server, end.driver-begin.driver, end.stored-begin.stored
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

// start starts an instance, and waits until it is ready.
func (r *run) start(ctx context.Context, i int) error {
	instance := r.bot.Instances[i]
	p, err := process.Start(instance.Program, append(r.platform.Env(portOf(instance.URL)), instance.Env...), filepath.Join(r.dir, "log"+strconv.Itoa(i)))
	if err != nil {
		return err
	}
	r.running[i] = p
	for !r.ready(ctx, instance) {
		select {
		case <-ctx.Done():
			return r.told(p, fmt.Errorf("it is not ready: %w", ctx.Err()))
		case <-p.Done():
			return r.told(p, errEnded)
		case <-time.After(readyPause):
		}
	}
	return nil
}

// readyPause is how often is asked whether an instance is ready.
const readyPause = 2 * time.Millisecond

var errEnded = errors.New("it has ended")

// told adds to an error what the bot printed.
func (r *run) told(p *process.Process, err error) error {
	return fmt.Errorf("%w\nThe end of what %s printed:\n%s", err, r.bot.Name, p.Tail())
}

func portOf(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return at.Port()
}

func (r *run) ready(ctx context.Context, i Instance) bool {
	address := cmp.Or(i.Ready, i.URL)
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
	return (i.Ready == "" || response.StatusCode == http.StatusOK) && r.platform.Ready()
}

// kill ends all instances that still run.
func (r *run) kill() {
	for _, p := range r.running {
		if p != nil {
			p.Kill()
		}
	}
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

// restart kills the first instance and starts it again.
func (r *run) restart(ctx context.Context) error {
	used, err := r.running[0].Usage()
	if err != nil {
		return err
	}
	r.running[0].Kill()
	used.Peak = 0 // that of its successor counts
	r.before = r.before.Add(used)
	return r.start(ctx, 0)
}

// replies waits for the reply to each event.
func (r *run) replies(ctx context.Context) error {
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, p := range r.running {
		go func() {
			select {
			case <-p.Done():
				cancel(r.told(p, errEnded))
			case <-waiting.Done():
			}
		}()
	}
	select {
	case <-r.book.Done():
		return nil
	case <-waiting.Done():
		return fmt.Errorf("%d events have no reply: %w", r.book.Open(), context.Cause(waiting))
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
	pid := strconv.Itoa(r.running[0].PID())
	perf, err := process.Start([]string{"perf", "record", "-q", "-F", "499", "-g", "-p", pid, "-o", r.plan.Profile}, nil, filepath.Join(r.dir, "perf"))
	if err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	return sync.OnceFunc(func() { perf.End(syscall.SIGINT) }), nil
}

// idle measures the bot without events.
func (r *run) idle(ctx context.Context) (time.Duration, error) {
	if r.plan.Idle == 0 {
		return 0, nil
	}
	begin, err := r.usage()
	if err != nil {
		return 0, err
	}
	select {
	case <-time.After(r.plan.Idle):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	end, err := r.usage()
	return end.CPU - begin.CPU, err
}

// usage is what was used until a moment.
type usage struct {
	process.Usage
	server, driver time.Duration
	stored         int64
}

func (r *run) usage() (u usage, err error) {
	u.Usage = r.before
	for _, p := range r.running {
		used, err := p.Usage()
		if err != nil {
			return usage{}, r.told(p, err)
		}
		u.Usage = u.Add(used)
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return usage{}, err
	}
	u.driver = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	if r.bot.Stored != nil {
		if u.stored, err = r.bot.Stored(); err != nil {
			return usage{}, err
		}
	}
	if r.bot.Server != nil {
		u.server, err = r.bot.Server()
	}
	return u, err
}
