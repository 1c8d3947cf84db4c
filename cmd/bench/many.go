package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/report"
)

// manyColumns are what is measured of turns that wait at the same time.
var manyColumns = []report.Column{
	{Key: "took_s", Title: "from the first event to the last reply, s", Format: "%.2f"},
	{Key: "late_p50_ms", Title: "answered after the agent's delay, p50 ms", Format: "%.0f"},
	{Key: "late_p99_ms", Title: "answered after the agent's delay, p99 ms", Format: "%.0f"},
	{Key: "peak_rss_mb", Title: "RSS at most, MB", Format: "%.0f"},
	{Key: "waiting_cpu_ms_per_s", Title: "CPU while they wait, ms/s", Format: "%.1f"},
	{Key: "short_p50_ms", Title: "a short turn beside them, p50 ms", Format: "%.2f"},
	{Key: "short_p99_ms", Title: "a short turn beside them, p99 ms", Format: "%.2f"},
	{Key: "lost", Title: "events without a reply", Format: "%.0f"},
	{Key: "doubled", Title: "events with several replies", Format: "%.0f"},
}

// manySpare is how many turns more than those that wait may run.
const manySpare = 500

// benchMany measures gatehouse with many turns that wait for the agent at the same time, beside one that has only one.
func benchMany(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var turns int
	o := &options{plan: load.Plan{Senders: 64, Mode: load.Slow}}
	f := flag.NewFlagSet("bench many", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.runs, "runs", 1, "how often everything is measured, in turn")
	f.BoolVar(&o.json, "json", false, "write JSON in place of a table")
	f.IntVar(&turns, "turns", 2000, "how many turns wait at the same time")
	f.DurationVar(&o.delay, "delay", 30*time.Second,
		"how long the agent waits before it answers: long enough to accept all messages and take all short turns")
	f.DurationVar(&o.plan.Watch, "watch", 20*time.Second, "how long their cost is measured, once all are accepted")
	f.IntVar(&o.plan.Beside, "short", 50, "how many short turns there are beside them, one each 100ms")
	f.StringVar(&o.gatehouse, "gatehouse", "",
		"the program `PATH` of gatehouse; not given: it is built from the working directory")
	err := f.Parse(args)
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if err == nil && o.runs < 1 {
		err = errors.New("--runs is 1 or more")
	}
	if err == nil && (turns < 1 || o.plan.Beside < 0 || o.plan.Watch < 0 || o.delay <= 0) {
		err = errors.New("--turns and --delay are more than 0, and --short and --watch are not negative")
	}
	if err != nil {
		return usageError{err}
	}
	dir, leave, err := begin(stderr)
	if err != nil {
		return err
	}
	defer leave()
	if err := o.build(ctx, dir); err != nil {
		return err
	}
	o.env = []string{fmt.Sprintf("GATEHOUSE_WORKERS=%d", turns+manySpare)}
	rows := make([]report.Row, 2)
	for range o.runs {
		for i, n := range []int{1, turns} {
			if err := o.wait(ctx, n, dir, &rows[i]); err != nil {
				return err
			}
		}
	}
	if o.json {
		return report.JSON(stdout, map[string]any{"delay_s": o.delay.Seconds()}, manyColumns, rows)
	}
	fmt.Fprintf(stdout, "turns that wait %s at the same time:\n", o.delay)
	return report.Table(stdout, manyColumns, rows)
}

// wait adds to a row what a number of turns cost that wait at the same time.
func (o *options) wait(ctx context.Context, turns int, dir string, row *report.Row) error {
	p := o.plan
	p.Events, p.Threads = turns, turns+p.Beside
	p.Patience = o.delay + time.Minute
	p.Within = 2*o.delay + 2*time.Minute
	r, err := o.once(ctx, p, o.gatehouseBot("gatehouse", o.gatehouse), dir)
	if err != nil {
		return err
	}
	if r.Problem != "" {
		return fmt.Errorf("%d turns: %s", turns, r.Problem)
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	figures := map[string]float64{
		"took_s": r.Took.Seconds(), "peak_rss_mb": float64(r.Peak) / (1 << 20), "lost": float64(r.Lost),
		"doubled":     float64(r.Doubled),
		"late_p50_ms": ms(report.Percentile(r.EndToEnd, 0.5) - o.delay),
		"late_p99_ms": ms(report.Percentile(r.EndToEnd, 0.99) - o.delay),
	}
	if p.Watch > 0 {
		figures["waiting_cpu_ms_per_s"] = ms(r.Watch) / p.Watch.Seconds()
	}
	if p.Beside > 0 {
		figures["short_p50_ms"], figures["short_p99_ms"] = ms(report.Percentile(r.Beside.EndToEnd, 0.5)),
			ms(report.Percentile(r.Beside.EndToEnd, 0.99))
	}
	row.Name = fmt.Sprintf("%d at once", turns)
	row.Add(figures)
	return nil
}
