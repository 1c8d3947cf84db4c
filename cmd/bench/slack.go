package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"gatehouse/cmd/bench/internal/report"
	"gatehouse/cmd/bench/internal/slackload"
)

// slackOptions are the flags of the benches that send Slack's events.
type slackOptions struct {
	plan      slackload.Plan
	runs      int
	mode      string
	delay     time.Duration
	gatehouse string
	database  string
	command   string
	url       string
	json      bool
}

// slackFlags are the flags of a bench; the plan has their defaults.
func slackFlags(name string, out io.Writer) (*flag.FlagSet, *slackOptions) {
	o := &slackOptions{}
	f := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	f.SetOutput(out)
	f.IntVar(&o.plan.Events, "events", 3000, "how many events are sent")
	f.IntVar(&o.plan.Warm, "warm", 200, "how many are sent before them, and do not count")
	f.IntVar(&o.plan.Senders, "senders", 16, "how many connections send them, each one after the other; also how many people")
	f.IntVar(&o.plan.Threads, "threads", 50, "how many threads they are in")
	f.Float64Var(&o.plan.Rate, "rate", 0, "how many are sent a second; 0: as fast as they are acknowledged")
	f.DurationVar(&o.plan.Within, "within", 10*time.Minute, "how long a run may take")
	f.StringVar(&o.mode, "mode", string(slackload.Plain), fmt.Sprintf("what is wrong in a run: one of %v", slackload.Modes))
	f.DurationVar(&o.delay, "delay", 0, "how long the echo agent waits before it answers; in the mode slow 100ms if not given")
	f.IntVar(&o.runs, "runs", 1, "how often each bot is measured, in turn")
	f.StringVar(&o.gatehouse, "gatehouse", "", "the program `PATH` of gatehouse; not given: it is built from the working directory")
	f.StringVar(&o.database, "database", "", "the `URL` of a Postgres server, on which a database is made for each run; not given: SQLite on disk")
	f.BoolVar(&o.json, "json", false, "write JSON in place of a table")
	return f, o
}

// slackBench is a bench that measures bots which are chosen by its name.
func slackBench(name string) bench {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		flags, o := slackFlags(name, stderr)
		if name == "peer" || name == "compare" {
			flags.StringVar(&o.command, "command", "", "the shell `COMMAND` that starts the other bot; SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET, SLACK_API_URL and PORT are in its environment")
			flags.StringVar(&o.url, "url", "", "where the other bot takes events, such as http://127.0.0.1:PORT/slack/events; a free port is put in for PORT")
		}
		if err := flags.Parse(args); err != nil {
			return usageError{err}
		}
		if flags.NArg() > 0 {
			return usageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
		}
		if err := o.check(); err != nil {
			return usageError{err}
		}
		dir, err := os.MkdirTemp("", "bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		bots, err := o.bots(ctx, name, dir)
		if err != nil {
			return err
		}
		return o.measure(ctx, bots, dir, stdout, stderr)
	}
}

// check completes the options, and tells what is wrong with them.
func (o *slackOptions) check() error {
	o.plan.Mode = slackload.Mode(o.mode)
	switch {
	case !slices.Contains(slackload.Modes, o.plan.Mode):
		return fmt.Errorf("--mode: there is no mode %q; there are %v", o.mode, slackload.Modes)
	case o.plan.Events < 1 || o.plan.Senders < 1 || o.plan.Threads < 1 || o.runs < 1:
		return errors.New("--events, --senders, --threads and --runs are 1 or more")
	case o.plan.Warm < 0 || o.plan.Rate < 0 || o.delay < 0:
		return errors.New("--warm, --rate and --delay are not negative")
	}
	if o.plan.Mode == slackload.Slow && o.delay == 0 {
		o.delay = 100 * time.Millisecond
	}
	return nil
}

// bots are those that a bench measures; gatehouse is the last one, since the others are compared with it.
func (o *slackOptions) bots(ctx context.Context, name, dir string) (all []bot, err error) {
	if name == "floor" || name == "compare" {
		b, err := floorBot(o.delay)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	if name == "peer" || o.command != "" {
		b, err := peerBot(o.command, o.url)
		if err != nil {
			return nil, usageError{err}
		}
		all = append(all, b)
	}
	if name == "slack" || name == "compare" {
		if o.gatehouse == "" {
			if o.gatehouse, err = buildGatehouse(ctx, dir); err != nil {
				return nil, err
			}
		}
		all = append(all, gatehouseBot(o.gatehouse, o.database, o.delay))
	}
	return all, nil
}

// measure measures the bots in turn, and prints a table.
func (o *slackOptions) measure(ctx context.Context, bots []bot, dir string, stdout, stderr io.Writer) error {
	rows := make([]report.Row, len(bots))
	var problems []error
	for i := range o.runs {
		for n, b := range bots {
			result, err := o.once(ctx, b, dir)
			if err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
			if result.Problem != "" {
				problems = append(problems, fmt.Errorf("%s, run %d: %s", b.name, i+1, result.Problem))
			}
			rows[n].Name = b.name
			rows[n].Values = appended(rows[n].Values, figures(result))
			if o.runs > 1 {
				fmt.Fprintf(stderr, "run %d of %d: %s: %.0f replies/s\n", i+1, o.runs, b.name, rows[n].Values["replies_per_s"][i])
			}
		}
	}
	write := report.Table
	if o.json {
		write = report.JSON
	}
	if err := write(stdout, columns, rows); err != nil {
		return err
	}
	return errors.Join(problems...)
}

// once measures a bot once.
func (o *slackOptions) once(ctx context.Context, b bot, dir string) (result slackload.Result, err error) {
	if dir, err = os.MkdirTemp(dir, "run-"); err != nil {
		return slackload.Result{}, err
	}
	defer os.RemoveAll(dir)
	program, cleanup, err := b.prepare(ctx, dir)
	if err != nil {
		return slackload.Result{}, err
	}
	defer func() { err = errors.Join(err, cleanup()) }()
	return slackload.Run(ctx, o.plan, program, dir)
}

// columns are what is measured of a bot.
var columns = []report.Column{
	{Key: "replies_per_s", Title: "replies/s", Format: "%.0f"},
	{Key: "cpu_ms_per_event", Title: "CPU ms/event", Format: "%.3f"},
	{Key: "peak_rss_mb", Title: "RSS MB", Format: "%.0f"},
	{Key: "ack_p50_ms", Title: "ack p50 ms", Format: "%.2f"},
	{Key: "ack_p99_ms", Title: "p99", Format: "%.2f"},
	{Key: "end_to_end_p50_ms", Title: "reply p50 ms", Format: "%.2f"},
	{Key: "end_to_end_p99_ms", Title: "p99", Format: "%.2f"},
	{Key: "written_kb_per_event", Title: "written kB/event", Format: "%.1f"},
	{Key: "stored_kb_per_event", Title: "stored", Format: "%.2f"},
	{Key: "lost", Title: "lost", Format: "%.0f"},
	{Key: "doubled", Title: "doubled", Format: "%.0f"},
	{Key: "driver_cpu_ms_per_event", Title: "driver CPU ms/event", Format: "%.3f"},
}

// figures are the values of the columns.
func figures(r slackload.Result) map[string]float64 {
	events := float64(r.Events)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	all := map[string]float64{
		"cpu_ms_per_event": ms(r.CPU) / events, "driver_cpu_ms_per_event": ms(r.Driver) / events, "peak_rss_mb": float64(r.Peak) / (1 << 20),
		"ack_p50_ms": ms(report.Percentile(r.Ack, 0.5)), "ack_p99_ms": ms(report.Percentile(r.Ack, 0.99)),
		"end_to_end_p50_ms": ms(report.Percentile(r.EndToEnd, 0.5)), "end_to_end_p99_ms": ms(report.Percentile(r.EndToEnd, 0.99)),
		"written_kb_per_event": float64(r.Written) / 1000 / events, "stored_kb_per_event": float64(r.Stored) / 1000 / events,
		"lost": float64(r.Lost), "doubled": float64(r.Doubled),
	}
	if r.Took > 0 {
		all["replies_per_s"] = (events - float64(r.Lost)) / r.Took.Seconds()
	}
	return all
}

func appended(all map[string][]float64, more map[string]float64) map[string][]float64 {
	if all == nil {
		all = map[string][]float64{}
	}
	for key, value := range more {
		all[key] = append(all[key], value)
	}
	return all
}
