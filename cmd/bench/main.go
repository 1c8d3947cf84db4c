// Command bench measures how fast gatehouse is, and compares it with other bots:
//
//	go run ./cmd/bench NAME [flags]
//
// The benches:
//
//	slack    a real gatehouse serve with the echo agent, SQLite on disk and a fake Slack, which sends it signed mentions by HTTP
//	floor    the same with the floor bot in gatehouse's place, the least that a bot in Go can do: it verifies, acknowledges and posts,
//	         and stores nothing
//	peer     the same with another bot, which --command starts
//	compare  floor, peer (if --command is given) and gatehouse in turn, --runs times, with medians, spreads and ratios
//	hrf      the check of HRF envelopes, at three sizes
//
// The first four print replies/s, the processor time for an event, the largest memory, times to the acknowledgement and to the reply, bytes
// written to disk and bytes stored, and how many replies were lost or doubled; if there are any, the exit code is 1. The driver and the fake
// share the processors with the bot, so the processor time that they take for an event is in the table. bench NAME -h lists the flags.
//
// Each bench prints ratios that can be compared between machines; figures of one machine can be compared if they are of one run. A new bench
// is a function and a line in benches.
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
)

// bench is a bench: it takes its flags, and writes what it measured to stdout. An error of the type usageError is one of the flags.
type bench func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// benches are the benches by name.
var benches = map[string]bench{
	"slack":   loadBench("slack"),
	"floor":   loadBench("floor"),
	"peer":    loadBench("peer"),
	"compare": loadBench("compare"),
	"discord": loadBench("discord"),
	"hrf":     withoutFlags(benchHRF),
}

// usageError is an error of the arguments.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// withoutFlags is a bench that takes no flags.
func withoutFlags(do func(ctx context.Context, out io.Writer) error) bench {
	return func(ctx context.Context, args []string, stdout, _ io.Writer) error {
		if len(args) > 0 {
			return usageError{fmt.Errorf("unexpected argument %q", args[0])}
		}
		return do(ctx, stdout)
	}
}

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
		do, known = floorProgram, true
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
