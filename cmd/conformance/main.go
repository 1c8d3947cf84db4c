package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	asJSON := flags.Bool("json", false, "print JSON, a line each")
	strict := flags.Bool("strict", false, "an invariant that nothing checks is a failure")
	product := flags.Bool("product", false,
		"run the cases through dispatch, approvals and SQLite, as far as they have a counterpart there")
	flags.Usage = func() { fmt.Fprintln(stderr, "usage: conformance [--json] [--strict] [--product] DIR|FILE…") }
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return 2
	}
	files, err := collect(flags.Args())
	if err != nil {
		fmt.Fprintln(stderr, "conformance:", err)
		return 2
	}
	out := &report{w: stdout, json: *asJSON, strict: *strict}
	for _, f := range files {
		for _, v := range runFile(ctx, f, *product) {
			out.add(v)
		}
	}
	out.summary()
	if out.failed > 0 {
		return 1
	}
	return 0
}
