// Command bench measures how fast gatehouse is, as ratios of one run, and compares it with other bots:
//
//	go run ./cmd/bench compare --before /tmp/gatehouse-before --check
//
// starts two programs at the same time, each with a database and a fake Slack of its own, sends them 100 events each by
// turns, so whatever else slows the machine down hits both alike, and prints the ratios now/before of the replies/s and
// of the processor time. README.md lists the other benches and what was measured.
//
// The driver and the fakes share the processors with the bot: internal/wire keeps them cheap, and the table shows what
// they took. Times begin when an event is sent, or, at a steady rate, when it was due if no sender was free. Replies
// are counted by a mark in the text of each event, which the bot has to repeat in the event's thread.
//
// TestEndurance, with the build tag soak, sends events by Slack and Discord at the same time to one gatehouse, for half
// an hour or as TEST_ENDURANCE says, while everything goes wrong that --mode offers, and looks at its memory and its
// database, too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"gatehouse/cmd/bench/internal/floor"
)

// bench is a bench: it takes its flags, and writes what it measured to stdout. An error of the type usageError is one
// of the flags.
type bench func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// benches are the benches by name.
var benches = map[string]bench{
	"slack":     loadBench("slack"),
	"floor":     loadBench("floor"),
	"peer":      loadBench("peer"),
	"compare":   loadBench("compare"),
	"discord":   loadBench("discord"),
	"many":      benchMany,
	"retention": benchRetention,
}

// usageError is an error of the arguments.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	names := strings.Join(slices.Sorted(maps.Keys(benches)), ", ")
	if len(args) == 0 {
		fmt.Fprintf(stderr, "usage: bench NAME [flags]\nbenches: %s\n", names)
		return 2
	}
	do, known := benches[args[0]]
	if args[0] == floorCommand {
		do, known = func(ctx context.Context, _ []string, _, stderr io.Writer) error {
			return floor.Run(ctx, stderr)
		}, true
	}
	if !known {
		fmt.Fprintf(stderr, "bench: there is no bench %q; there are: %s\n", args[0], names)
		return 2
	}
	err := do(ctx, args[1:], stdout, stderr)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "bench: %s: %v\n", args[0], err)
		return 2
	}
	fmt.Fprintf(stderr, "bench: %s: %v\n", args[0], err)
	return 1
}
