// Package slackload measures a Slack bot that answers mentions in their threads: a fake Slack, and a driver that sends signed events by HTTP.
//
// Both are made to cost little, since they share the processors with the bot (internal/wire). What they cost is measured too.
package slackload

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"syscall"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/process"
)

// Mode is what is wrong in a run.
type Mode string

// The modes.
const (
	Plain      Mode = "plain"
	Duplicates Mode = "duplicates" // every event is sent twice
	Limited    Mode = "429s"       // Slack refuses one of so many posts with 429
	Slow       Mode = "slow"       // the agent takes its time
	Kill       Mode = "kill"       // the bot is killed in the middle, and started again
)

// Modes are all modes.
var Modes = []Mode{Plain, Duplicates, Limited, Slow, Kill}

// Plan is what a run does.
type Plan struct {
	Events  int
	Warm    int // events before them, which do not count
	Senders int
	Threads int
	Rate    float64 // events a second; 0: as fast as they are acknowledged
	Mode    Mode
	Within  time.Duration // how long the run may take
}

// Bot is a program that is measured.
type Bot struct {
	Name    string
	Program []string
	Env     []string // besides Slack's
	URL     string   // where it takes events
	Ready   string   // the URL that answers 200 when it is ready; "": it is ready when it accepts connections
	Stored  func() (int64, error)
	Idle    func() (bool, error) // whether nothing is left to be posted; nil: unknown
}

// Result is what a run measured.
type Result struct {
	ledger.Summary
	CPU     time.Duration // of the bot
	Driver  time.Duration // of this process: the driver and the fake
	Peak    int64         // bytes of memory that the bot had at most
	Written int64         // bytes that the bot wrote to disks
	Stored  int64         // bytes by which its database grew
	Resent  int           // events that were sent again, because they were not acknowledged
	Strays  int           // posts that are no reply, or in the wrong place
	Calls   map[string]int
	Problem string // what is wrong with the counts, "" if nothing is
}

// quiet is how long is waited for replies that should not come.
const quiet = 300 * time.Millisecond

// Run starts a bot, sends it the events, waits for the replies and ends it. dir is a folder for its log. An error means that nothing was
// measured; replies that are lost or doubled are in the result.
func Run(ctx context.Context, p Plan, b Bot, dir string) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Within)
	defer cancel()
	book := ledger.New(p.Warm + p.Events)
	w := world{began: time.Now().Add(-time.Minute), threads: p.Threads, people: p.Senders}
	slack, err := startFake(book, w, p.Mode)
	if err != nil {
		return Result{}, err
	}
	defer slack.server.Close()
	to, err := url.Parse(b.URL)
	if err != nil {
		return Result{}, err
	}
	secrets := newSecrets()
	r := &run{plan: p, bot: b, book: book, slack: slack, log: filepath.Join(dir, "log"), env: append([]string{
		"SLACK_BOT_TOKEN=" + secrets.BotToken, "SLACK_SIGNING_SECRET=" + secrets.Signing, "SLACK_API_URL=http://" + slack.server.Address() + "/api/",
		"PORT=" + to.Port(),
	}, b.Env...)}
	r.sender = &sender{ledger: book, world: w, secret: secrets.Signing, to: to, senders: p.Senders, copies: 1, rate: p.Rate}
	if p.Mode == Duplicates {
		r.sender.copies = 2
	}
	result, err := r.measure(ctx)
	if err != nil && r.process != nil {
		r.process.Kill()
		err = fmt.Errorf("%w\nThe end of what %s printed:\n%s", err, b.Name, r.process.Tail())
	}
	return result, err
}

// run is a run while it lasts.
type run struct {
	plan    Plan
	bot     Bot
	book    *ledger.Ledger
	slack   *fake
	sender  *sender
	env     []string
	log     string
	process *process.Process
	before  process.Usage // of processes that were killed
}

func (r *run) measure(ctx context.Context) (Result, error) {
	if err := r.start(ctx); err != nil {
		return Result{}, err
	}
	if r.plan.Warm > 0 {
		r.book.Begin(0, r.plan.Warm)
		if err := r.sender.send(ctx, 0, r.plan.Warm, func(int) {}); err != nil {
			return Result{}, err
		}
		if err := r.replies(ctx); err != nil {
			return Result{}, fmt.Errorf("warming up: %w", err)
		}
	}
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
	if missing == nil {
		missing = r.settle(ctx)
	}
	if err := r.process.Stop(); err != nil {
		return Result{}, err
	}
	result := Result{
		Summary: r.book.Summary(), CPU: end.CPU - begin.CPU, Driver: end.driver - begin.driver, Peak: end.Peak, Written: end.Written - begin.Written,
		Stored: end.stored - begin.stored, Resent: int(r.sender.resent.Load()),
	}
	var samples []string
	result.Calls, result.Strays, samples = r.slack.tally()
	result.Problem = problem(result, samples, missing)
	return result, nil
}

// problem tells what is wrong with the counts.
func problem(r Result, samples []string, missing error) string {
	var all []error
	if r.Lost > 0 || r.Doubled > 0 {
		all = append(all, fmt.Errorf("of %d events %d have no reply, and %d have more than one", r.Events, r.Lost, r.Doubled))
	}
	if r.Strays > 0 {
		all = append(all, fmt.Errorf("%d posts are no reply to an event in its thread, such as %q", r.Strays, samples))
	}
	if err := errors.Join(append(all, missing)...); err != nil {
		return err.Error()
	}
	return ""
}

// start starts the bot, and waits until it is ready.
func (r *run) start(ctx context.Context) (err error) {
	if r.process, err = process.Start(r.bot.Program, r.env, r.log); err != nil {
		return err
	}
	for {
		if r.ready(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", r.bot.Name, ctx.Err())
		case <-r.process.Done():
			return fmt.Errorf("%s has ended", r.bot.Name)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (r *run) ready(ctx context.Context) bool {
	address := r.bot.Ready
	if address == "" {
		address = r.bot.URL
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
	return r.bot.Ready == "" || response.StatusCode == http.StatusOK
}

// events sends the events that count. In the mode Kill, the bot is killed when half of them are acknowledged.
func (r *run) events(ctx context.Context) error {
	restarted := make(chan error, 1)
	sent := func(int) {}
	if r.plan.Mode == Kill {
		sent = func(n int) {
			if n == (r.plan.Events+1)/2 {
				restarted <- r.restart(ctx)
			}
		}
	} else {
		restarted <- nil
	}
	err := r.sender.send(ctx, r.plan.Warm, r.plan.Warm+r.plan.Events, sent)
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
