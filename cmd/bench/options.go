package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/cmd/bench/internal/load"
)

// options are the flags of the benches that send events to bots.
type options struct {
	plan         load.Plan
	runs         int
	replicas     int
	delay        time.Duration
	socket       bool
	discord      bool // not a flag: the platform is Discord
	interactions bool
	gatehouse    string
	database     string
	command      string
	url          string
	rates        []float64 // the plan's rate, or those of a sweep
	sweep        time.Duration
	svg          string
	json         bool
	before       before
	env          []string // not a flag: further variables of gatehouse
}

// defaultRates are those of a sweep without --rates.
const defaultRates = "25,50,100,200,400,800"

// parse reads the flags of a bench. An error is one of usage.
func parse(name string, args []string, stderr io.Writer) (*options, error) {
	o := &options{discord: name == "discord"}
	f := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.plan.Events, "events", 3000, "how many events are sent")
	f.IntVar(&o.plan.Warm, "warm", 200, "how many are sent before them, and do not count")
	f.IntVar(&o.plan.Threads, "threads", 50, "how many conversations they are in")
	f.Float64Var(&o.plan.Rate, "rate", 0, "how many are sent a second; 0: as fast as they are taken")
	f.DurationVar(&o.plan.Within, "within", 10*time.Minute, "how long a run may take")
	f.DurationVar(&o.plan.Patience, "patience", 2*time.Minute,
		"after how long without any reply those that are missing count as lost")
	f.DurationVar(&o.delay, "delay", 0,
		"how long the agent waits before it answers; in the mode slow 100ms if not given")
	f.StringVar(&o.plan.Profile, "profile", "", "the `FILE` to which perf writes where gatehouse spends its time")
	f.DurationVar(&o.plan.Idle, "idle", 0, "for how long each bot is measured without events, after them")
	f.IntVar(&o.runs, "runs", 1, "how often each bot is measured, in turn")
	f.StringVar(&o.svg, "svg", "", "the `FILE` for a plot of latencies at several rates, see --rates")
	f.BoolVar(&o.json, "json", false, "write JSON in place of tables")
	mode := f.String("mode", string(load.Plain), fmt.Sprintf("what is wrong in a run: one of %v", load.Modes))
	rates := f.String("rates", "",
		"several rates separated by commas, each for the time of --sweep; with --svg "+defaultRates+" if not given")
	f.DurationVar(&o.sweep, "sweep", 10*time.Second, "for how long each of several rates is sent")
	if o.discord {
		f.IntVar(&o.plan.Senders, "senders", 16,
			"how many people send them; with --interactions also how many connections")
		f.BoolVar(&o.interactions, "interactions", false,
			"send slash commands by HTTP in place of mentions by the gateway")
	} else {
		f.IntVar(&o.plan.Senders, "senders", 16,
			"how many connections send them, each one after the other; also how many people")
	}
	if name == "slack" || name == "peer" {
		f.BoolVar(&o.socket, "socket", false, "send them by Socket Mode in place of HTTP")
	}
	if name != "floor" && name != "peer" {
		f.StringVar(&o.gatehouse, "gatehouse", "",
			"the program `PATH` of gatehouse; not given: it is built from the working directory")
		f.StringVar(&o.database, "database", "",
			"the `URL` of a Postgres server, on which a database is made for each run; not given: SQLite on disk")
	}
	if name == "slack" || name == "compare" {
		f.IntVar(&o.replicas, "replicas", 1, "how many processes of gatehouse share the database; on SQLite 1")
	}
	if name == "compare" {
		o.before.flags(f, &o.runs, &o.discord)
	}
	if name != "floor" && name != "slack" {
		f.StringVar(&o.command, "command", "",
			"the shell `COMMAND` that starts the other bot; its environment has "+peerVariables)
		f.StringVar(&o.url, "url", "",
			"where the other bot takes events by HTTP, such as http://127.0.0.1:PORT/slack/events; a free port is "+
				"put in for PORT")
	}
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	o.plan.Mode = load.Mode(*mode)
	return o, errors.Join(o.check(), o.setRates(*rates), o.before.complete(f, o))
}

// peerVariables are the variables of another bot's environment.
const peerVariables = "SLACK_BOT_TOKEN, SLACK_API_URL, SLACK_SIGNING_SECRET and PORT, or SLACK_APP_TOKEN; on Discord " +
	"DISCORD_BOT_TOKEN and DISCORD_API_URL"

// check completes the options, and tells what is wrong with them.
func (o *options) check() error {
	if o.plan.Mode == load.Slow && o.delay == 0 {
		o.delay = 100 * time.Millisecond
	}
	switch {
	case !slices.Contains(load.Modes, o.plan.Mode):
		return fmt.Errorf("--mode: there is no mode %q; there are %v", o.plan.Mode, load.Modes)
	case o.plan.Events < 1 || o.plan.Senders < 1 || o.plan.Threads < 1 || o.runs < 1:
		return errors.New("--events, --senders, --threads and --runs are 1 or more")
	case o.replicas < 0 || o.replicas > 1 && o.database == "":
		return errors.New("--replicas: several processes need --database")
	case o.plan.Warm < 0 || o.plan.Rate < 0 || o.delay < 0 || o.plan.Idle < 0:
		return errors.New("--warm, --rate, --delay and --idle are not negative")
	}
	return nil
}

// setRates sets the rates of a sweep, or the one of the plan.
func (o *options) setRates(list string) error {
	if list == "" && o.svg != "" {
		list = defaultRates
	}
	if list == "" {
		o.rates = []float64{o.plan.Rate}
		return nil
	}
	if o.plan.Rate > 0 {
		return errors.New("--rate is for one rate, --rates and --svg are for several; give one of them")
	}
	for word := range strings.SplitSeq(list, ",") {
		rate, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || rate <= 0 {
			return fmt.Errorf("--rates: %q is not a rate", word)
		}
		o.rates = append(o.rates, rate)
	}
	return nil
}

// at is the plan for a rate.
func (o *options) at(rate float64) load.Plan {
	p := o.plan
	p.Rate = rate
	if len(o.rates) > 1 {
		p.Events = max(1, int(rate*o.sweep.Seconds()))
	}
	return p
}
