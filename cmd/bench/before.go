package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/report"
)

// beforeRuns is how often an older program is compared if nothing is said.
const beforeRuns = 7

// discordEvents is how many events are sent by default where people are on Discord: there are some 46 replies a second.
const discordEvents = 400

// What an older program is held against, with --check.
const (
	leastReplies = 0.95
	mostCPU      = 1.05
)

// before are the flags of a comparison with an older program of gatehouse.
type before struct {
	program string
	check   bool
}

// flags adds them. runs gets another name, and another default if an older program is given.
func (b *before) flags(f *flag.FlagSet, runs *int, discord *bool) {
	const what = "the program `PATH` of an older gatehouse, which is compared with the present one in place of the " +
		"floor bot; people then ask for Markdown and for actions that somebody approves"
	f.StringVar(&b.program, "before", "", what)
	f.IntVar(runs, "rounds", 1, fmt.Sprintf("the same as --runs; with --before %d if neither is given", beforeRuns))
	f.BoolVar(discord, "discord", false, "with --before: people are on Discord, whose limit of posts both keep")
	worse := fmt.Sprintf("replies/s are below %.2f of before, or the CPU is above %.2f", leastReplies, mostCPU)
	f.BoolVar(&b.check, "check", false, "with --before: exit with 1 if "+worse)
}

// complete sets what the flags of a comparison with an older program mean for the others.
func (b *before) complete(f *flag.FlagSet, o *options) error {
	given := map[string]bool{}
	f.Visit(func(one *flag.Flag) { given[one.Name] = true })
	switch {
	case b.program == "" && b.check:
		return errors.New("--check: there is nothing to compare with; give --before")
	case b.program == "" && o.discord && f.Lookup("before") != nil:
		return errors.New("--discord: the floor bot is on Slack only; give --before")
	case b.program == "":
		return nil
	case o.command != "":
		return errors.New("--before and --command: give one of them")
	case o.plan.Mode != load.Plain || o.delay > 0 || o.plan.Idle > 0 || o.plan.Profile != "":
		return errors.New("--before compares plain runs: --mode, --delay, --idle and --profile do not go with it")
	}
	if info, err := os.Stat(b.program); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("--before: %s is no program; go build -o FILE ./cmd/gatehouse makes one", b.program)
	}
	if !given["runs"] && !given["rounds"] {
		o.runs = beforeRuns
	}
	if o.discord && !given["events"] {
		o.plan.Events, o.plan.Warm = discordEvents, discordEvents/10
	}
	o.plan.Mix = true
	return nil
}

// pairs are the ratios of a figure of the last row to that of the first, run by run.
type pairs struct {
	Median float64   `json:"median"`
	Least  float64   `json:"min"`
	Most   float64   `json:"max"`
	Values []float64 `json:"values"`
}

func pair(rows []report.Row, key string) (p pairs) {
	now, then := rows[len(rows)-1].Values[key], rows[0].Values[key]
	for i := range min(len(now), len(then)) {
		if then[i] > 0 {
			p.Values = append(p.Values, now[i]/then[i])
		}
	}
	if len(p.Values) > 0 {
		p.Median, p.Least, p.Most = report.Median(p.Values), slices.Min(p.Values), slices.Max(p.Values)
	}
	return p
}

// paired are the ratios that count, by the figures' keys.
func paired(rows []report.Row) map[string]pairs {
	all := map[string]pairs{}
	for _, key := range []string{"replies_per_s", "cpu_ms_per_event"} {
		all[key] = pair(rows, key)
	}
	return all
}

// printPairs writes the ratios of each round as their median, least and most.
func printPairs(out io.Writer, all map[string]pairs) {
	replies, cpu := all["replies_per_s"], all["cpu_ms_per_event"]
	fmt.Fprintf(out, "now/before, round by round: median (min to max) of %d\n", len(replies.Values))
	fmt.Fprintf(out, "  replies/s           %.3f (%.3f to %.3f)\n", replies.Median, replies.Least, replies.Most)
	fmt.Fprintf(out, "  CPU time per reply  %.3f (%.3f to %.3f)\n", cpu.Median, cpu.Least, cpu.Most)
}

// judge tells whether the present program is worse than it may be.
func judge(all map[string]pairs) error {
	var faults []error
	if replies := all["replies_per_s"].Median; replies < leastReplies {
		faults = append(faults, fmt.Errorf("replies/s are %.3f of before, less than %.2f", replies, leastReplies))
	}
	if cpu := all["cpu_ms_per_event"].Median; cpu > mostCPU {
		faults = append(faults, fmt.Errorf("the CPU time per reply is %.3f of before, more than %.2f", cpu, mostCPU))
	}
	return errors.Join(faults...)
}
