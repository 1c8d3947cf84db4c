// Command bench measures how long parts of gatehouse take:
//
//	go run ./cmd/bench NAME
//
// Each bench prints a table, and ratios that can be compared between machines. A new bench is a function and a line in benches.
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// benches are the benches by name. Each writes what it measured.
var benches = map[string]func(ctx context.Context, out io.Writer) error{
	"hrf": benchHRF,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	names := strings.Join(slices.Sorted(maps.Keys(benches)), ", ")
	if len(args) != 1 {
		fmt.Fprintf(stderr, "usage: bench NAME\nbenches: %s\n", names)
		return 2
	}
	bench, known := benches[args[0]]
	if !known {
		fmt.Fprintf(stderr, "bench: there is no bench %q; there are: %s\n", args[0], names)
		return 2
	}
	if err := bench(ctx, stdout); err != nil {
		fmt.Fprintf(stderr, "bench: %s: %v\n", args[0], err)
		return 1
	}
	return 0
}
