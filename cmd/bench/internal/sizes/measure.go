// Package sizes measures checks of texts at several sizes. The time for a byte is about the same at each if the check
// is linear.
package sizes

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"gatehouse/cmd/bench/internal/rate"
	"gatehouse/cmd/bench/internal/report"
)

// Check is a check of texts.
type Check struct {
	Unit  string // what a text has many of
	Sizes []int  // so many
	Text  func(n int) string
	Do    func(text []byte) error
}

// Columns are what is measured at a size.
var Columns = []report.Column{
	{Key: "bytes", Title: "bytes", Format: "%.0f"},
	{Key: "took_ms", Title: "processor time, ms", Format: "%.3f"},
	{Key: "ns_per_byte", Title: "ns/byte", Format: "%.1f"},
}

// Measure adds to the rows, one for each size, what is measured.
func (c Check) Measure(ctx context.Context, rows []report.Row) error {
	for i, n := range c.Sizes {
		text := []byte(c.Text(n))
		took, err := median(ctx, func() error { return c.Do(text) })
		if err != nil {
			return fmt.Errorf("%d %s: %w", n, c.Unit, err)
		}
		rows[i].Name = fmt.Sprintf("%d %s", n, c.Unit)
		rows[i].Add(map[string]float64{
			"bytes": float64(len(text)), "took_ms": took.Seconds() * 1000,
			"ns_per_byte": float64(took.Nanoseconds()) / float64(len(text)),
		})
	}
	return nil
}

// enough is how long something is repeated before its median counts.
const enough = time.Second

// median runs something until the time is up, at least three times, and returns the median of the processor time that
// it took. Unlike time on the clock, that is about the same on a busy machine. Garbage is collected between the runs
// only, because what that costs follows from the size of the whole heap.
func median(ctx context.Context, what func() error) (time.Duration, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var took []time.Duration
	for begin := time.Now(); len(took) < 3 || time.Since(begin) < enough; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		runtime.GC()
		start, err := rate.ProcessorTime()
		if err != nil {
			return 0, err
		}
		if err := what(); err != nil {
			return 0, err
		}
		end, err := rate.ProcessorTime()
		if err != nil {
			return 0, err
		}
		took = append(took, end-start)
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
