package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"gatehouse/cmd/bench/internal/report"
	"gatehouse/cmd/bench/internal/sizes"
)

// sizesBench is a bench that measures a check at several sizes.
func sizesBench(name string, check sizes.Check) bench {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		l := local{runs: 3}
		if err := l.parse(name, args, stderr, func(*flag.FlagSet) {}); err != nil {
			return usageError{err}
		}
		rows := make([]report.Row, len(check.Sizes))
		for range l.runs {
			if err := check.Measure(ctx, rows); err != nil {
				return err
			}
		}
		return l.print(stdout, fmt.Sprintf("%s:", name), map[string]any{"check": name}, sizes.Columns, rows)
	}
}
