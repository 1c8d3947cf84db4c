package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
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

// ignoreHangup makes the process survive the end of the terminal that it was started from, and logs each SIGHUP: daemons often read
// their settings again on it, gatehouse does not.
func ignoreHangup(ctx context.Context, log *slog.Logger) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // for good: a hang-up while it drains is not deadly either
	go func() {
		for {
			select {
			case <-hangup:
				log.Info("SIGHUP is ignored; to use changed settings, start gatehouse again")
			case <-ctx.Done():
				return
			}
		}
	}()
}
