// Package rate measures how often a second something can be done, by several at the same time.
package rate

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Sample is what was measured of something that was done many times.
type Sample struct {
	Done      int
	Took      time.Duration
	CPU       time.Duration   // of this process meanwhile
	Latencies []time.Duration // sorted
}

// PerSecond is how often it was done in a second.
func (s Sample) PerSecond() float64 { return float64(s.Done) / s.Took.Seconds() }

// Sum is what was measured of all samples, one after the other.
func Sum(samples []Sample) (sum Sample) {
	for _, s := range samples {
		sum.Done += s.Done
		sum.Took += s.Took
		sum.CPU += s.CPU
		sum.Latencies = append(sum.Latencies, s.Latencies...)
	}
	slices.Sort(sum.Latencies)
	return sum
}

// During has each of several sessions do something for a time, again and again, and at least once.
func During(
	ctx context.Context, sessions int, length time.Duration, do func(ctx context.Context, session int) error,
) (Sample, error) {
	until := time.Now().Add(length)
	return run(ctx, sessions, func(session, done int) (int, bool) {
		return session, done == 0 || time.Now().Before(until)
	}, do)
}

// Each has several sessions do something for each of n things, each of them for the next one that is left.
func Each(ctx context.Context, sessions, n int, do func(ctx context.Context, i int) error) (Sample, error) {
	var taken atomic.Int64
	return run(ctx, sessions, func(int, int) (int, bool) {
		i := int(taken.Add(1)) - 1
		return i, i < n
	}, do)
}

// run has each session do something for what next gives it, until that is nothing. next gets the session, and how often
// it has done it. The first error ends all.
func run(
	ctx context.Context, sessions int, next func(session, done int) (int, bool),
	do func(ctx context.Context, i int) error,
) (Sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	took := make([][]time.Duration, sessions)
	used, err := ProcessorTime()
	if err != nil {
		return Sample{}, err
	}
	began := time.Now()
	var all sync.WaitGroup
	for session := range sessions {
		all.Go(func() {
			for {
				i, more := next(session, len(took[session]))
				if !more || ctx.Err() != nil {
					return
				}
				start := time.Now()
				if err := do(ctx, i); err != nil {
					cancel(err)
					return
				}
				took[session] = append(took[session], time.Since(start))
			}
		})
	}
	all.Wait()
	s := Sample{Took: time.Since(began)}
	if err := context.Cause(ctx); err != nil {
		return Sample{}, err
	}
	end, err := ProcessorTime()
	s.CPU = end - used
	s.Latencies = slices.Concat(took...)
	s.Done = len(s.Latencies)
	slices.Sort(s.Latencies)
	return s, err
}

// ProcessorTime is how long this process has used processors.
func ProcessorTime() (time.Duration, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
}
