package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
)

// enough is how long something is repeated before its median counts.
const enough = time.Second

// median runs something until the time is up, at least three times, and returns the median of the processor time that it took. Unlike time on
// the clock, that is about the same on a busy machine. Garbage is collected between the runs only, because what that costs follows from
// the size of the whole heap.
func median(ctx context.Context, what func() error) (time.Duration, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var took []time.Duration
	for begin := time.Now(); len(took) < 3 || time.Since(begin) < enough; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		runtime.GC()
		start, err := processorTime()
		if err != nil {
			return 0, err
		}
		if err := what(); err != nil {
			return 0, err
		}
		end, err := processorTime()
		if err != nil {
			return 0, err
		}
		took = append(took, end-start)
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// processorTime is how long this process has used processors.
func processorTime() (time.Duration, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
}
