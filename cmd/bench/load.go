package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"gatehouse/cmd/bench/internal/discord"
	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/report"
	"gatehouse/cmd/bench/internal/slack"
)

// collectLess is how much garbage this process collects during a run: less than usual, since its processor time is the
// bot's.
const collectLess = 800

// loadBench is a bench that sends events to the bots that its name stands for.
func loadBench(name string) bench {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		o, err := parse(name, args, stderr)
		if err != nil {
			return usageError{err}
		}
		dir, leave, err := begin(stderr)
		if err != nil {
			return err
		}
		defer leave()
		bots, err := o.bots(ctx, name, dir)
		if err != nil {
			return err
		}
		var curves report.Curves
		var problems []error
		for _, rate := range o.rates {
			rows, err := o.measure(ctx, o.at(rate), bots, dir, stderr)
			if rows == nil {
				return err
			}
			problems = append(problems, err)
			if err := o.print(stdout, rate, rows); err != nil {
				return err
			}
			if o.before.check {
				problems = append(problems, judge(paired(rows)))
			}
			curves.Add(rate, rows, "end_to_end_p50_ms", "end_to_end_p99_ms")
		}
		if o.svg != "" {
			problems = append(problems,
				os.WriteFile(o.svg, curves.SVG("events a second", "ms from an event to its reply: p50, and p99 dashed"),
					0o600))
		}
		return errors.Join(problems...)
	}
}

// begin prepares this process for a bench, which has a folder until leave is called.
func begin(stderr io.Writer) (dir string, leave func(), err error) {
	warnIfBusy(stderr)
	if dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return "", nil, err
	}
	before := debug.SetGCPercent(collectLess)
	return dir, func() {
		debug.SetGCPercent(before)
		_ = os.RemoveAll(dir)
	}, nil
}

// build builds gatehouse, unless a program was given.
func (o *options) build(ctx context.Context, dir string) (err error) {
	if o.gatehouse == "" {
		o.gatehouse, err = buildGatehouse(ctx, dir)
	}
	return err
}

// warnIfBusy tells if others use this machine, where the system says so.
func warnIfBusy(stderr io.Writer) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return
	}
	var average float64
	if _, err := fmt.Sscan(string(text), &average); err == nil && average > 1 {
		fmt.Fprintf(stderr, "bench: something else keeps this machine busy (load average %.1f): the figures are of "+
			"little use, and ratios need many --runs\n", average)
	}
}

// bots are those that a bench measures; gatehouse is the last one, since it is compared with the others.
func (o *options) bots(ctx context.Context, name, dir string) (all []bot, err error) {
	if o.before.program != "" {
		all = append(all, o.gatehouseBot("before", o.before.program))
	} else if name == "floor" || name == "compare" {
		b, err := floorBot(o.delay)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	if name == "peer" || o.command != "" {
		b, err := o.peerBot()
		if err != nil {
			return nil, usageError{err}
		}
		all = append(all, b)
	}
	if name != "floor" && name != "peer" {
		if err := o.build(ctx, dir); err != nil {
			return nil, err
		}
		all = append(all, o.gatehouseBot("gatehouse", o.gatehouse))
	}
	return all, nil
}

// measure measures the bots in turn. If a count is wrong, there are rows and an error; if something can't be measured,
// there is only an error.
func (o *options) measure(
	ctx context.Context, p load.Plan, bots []bot, dir string, stderr io.Writer,
) ([]report.Row, error) {
	rows := make([]report.Row, len(bots))
	var problems []error
	add := func(run, n int, result load.Result) {
		if result.Problem != "" {
			problems = append(problems, fmt.Errorf("%s, run %d: %s", bots[n].name, run+1, result.Problem))
		}
		rows[n].Name = bots[n].name
		rows[n].Add(figures(p, result))
		if o.runs > 1 {
			fmt.Fprintf(stderr, "run %d of %d: %s: %.0f replies/s\n", run+1, o.runs, bots[n].name,
				rows[n].Values["replies_per_s"][run])
		}
	}
	for i := range o.runs {
		if o.before.program != "" {
			order := slices.Clone(bots)
			if i%2 > 0 { // who is started first has an advantage of some percent over Discord
				slices.Reverse(order)
			}
			results, err := o.besides(ctx, p, order, dir)
			if err != nil {
				return nil, err
			}
			if i%2 > 0 {
				slices.Reverse(results)
			}
			for n, result := range results {
				add(i, n, result)
			}
			continue
		}
		for n, b := range bots {
			result, err := o.once(ctx, p, b, dir)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.name, err)
			}
			add(i, n, result)
		}
	}
	return rows, errors.Join(problems...)
}

// once measures a bot once.
func (o *options) once(ctx context.Context, p load.Plan, b bot, dir string) (result load.Result, err error) {
	if dir, err = os.MkdirTemp(dir, "run-"); err != nil {
		return load.Result{}, err
	}
	defer os.RemoveAll(dir)
	program, cleanup, err := b.prepare(ctx, dir)
	if err != nil {
		return load.Result{}, err
	}
	defer func() { err = errors.Join(err, cleanup()) }()
	if b.name != "gatehouse" {
		p.Profile = ""
	}
	return load.Run(ctx, p, program, o.open(p, program), dir)
}

// besides measures bots that run at the same time and get their events by turns.
func (o *options) besides(ctx context.Context, p load.Plan, bots []bot, dir string) (results []load.Result, err error) {
	sides := make([]load.Side, len(bots))
	for i, b := range bots {
		if sides[i].Dir, err = os.MkdirTemp(dir, "run-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(sides[i].Dir)
		program, cleanup, err := b.prepare(ctx, sides[i].Dir)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, cleanup()) }()
		sides[i].Bot, sides[i].Open = program, o.open(p, program)
	}
	return load.Alternate(ctx, p, sides)
}

// open opens the platform of a program.
func (o *options) open(p load.Plan, program load.Bot) load.Open {
	return func(book *ledger.Ledger) (load.Platform, error) {
		var urls []string
		for _, i := range program.Instances {
			urls = append(urls, i.URL)
		}
		switch {
		case o.discord && o.interactions:
			return discord.Start(book, p, urls...)
		case o.discord:
			return discord.Start(book, p)
		case o.socket:
			return slack.Start(book, p)
		}
		return slack.Start(book, p, urls...)
	}
}

// print prints a table, or JSON.
func (o *options) print(out io.Writer, rate float64, rows []report.Row) error {
	if o.json {
		what := map[string]any{"rate": rate, "mode": o.plan.Mode}
		if o.before.program != "" {
			what["paired"] = paired(rows)
		}
		return report.JSON(out, what, columns, rows)
	}
	if len(o.rates) > 1 {
		fmt.Fprintf(out, "%g events a second:\n", rate)
	}
	err := report.Table(out, columns, rows)
	if o.before.program != "" {
		printPairs(out, paired(rows))
	}
	return err
}
