package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"gatehouse/approvals/policy"
	"gatehouse/core"
)

// stopSignals are the signals that tell gatehouse to stop.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// untilSignal returns a context that ends with the first signal to stop. From then on these signals have their usual effect: the second
// one ends the process at once, with 128 plus the signal's number as the shell's exit code.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, stopSignals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// reloadOnHangup makes the process survive the end of the terminal that it was started from, and reads the policy's file again on each
// SIGHUP. The environment is not read again. changed is called after the policy has changed.
func reloadOnHangup(ctx context.Context, current *policy.Current, log *slog.Logger, changed func()) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // for good: a hang-up while it drains is not deadly either
	go func() {
		for {
			select {
			case <-hangup:
				if reload(current, log) {
					changed()
				}
			case <-ctx.Done():
				return
			}
		}
	}()
}

// reload reads the policy's file again, and reports whether that policy is now in force.
func reload(current *policy.Current, log *slog.Logger) bool {
	if current.Path() == "" {
		log.Info("SIGHUP is ignored, because there is no policy file to read again; to use changed settings, start gatehouse again")
		return false
	}
	err := current.Reload()
	if err == nil {
		log.Info("the policy was read again", "file", current.Path())
		return true
	}
	var faults policy.Faults
	_ = errors.As(err, &faults) // it is of that type
	for _, fault := range faults {
		log.Error("the policy is invalid: "+fault.String(), "category", core.CategoryOf(err))
	}
	log.Error("the old policy stays in force; correct the file, then send SIGHUP again", "file", current.Path(), "category", core.CategoryOf(err))
	return false
}
