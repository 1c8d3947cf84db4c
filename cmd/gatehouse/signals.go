package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// stopSignals are the signals that tell gatehouse to stop.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// untilSignal returns a context that ends with the first signal to stop. Before it ends, these signals have their usual
// effect again: the second one ends the process at once, with 128 plus the signal's number as the shell's exit code.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, stopSignals...)
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
		}
		signal.Stop(signals)
		cancel()
	}()
	return ctx, cancel
}

// reloadOnHangup makes the process survive the end of the terminal that it was started from, and reads the files of the
// policy and the tools again on each SIGHUP. The environment is not read again. changed is called after the policy has
// changed.
func reloadOnHangup(ctx context.Context, cfg settings.Config, log *slog.Logger, changed func()) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // for good: a hang-up while it drains is not deadly either
	go func() {
		for {
			select {
			case <-hangup:
				if cfg.Policy.Path() == "" && cfg.Tools.Path() == "" && cfg.MCPFile == "" {
					log.Info("SIGHUP is ignored, because there is no policy file, no file of tools and no mcp.json " +
						"to read again; to use changed settings, start gatehouse again")
				}
				if reload("policy", cfg.Policy.Path(), cfg.Policy.Reload, log) {
					changed()
				}
				if reload("file of tools", cfg.Tools.Path(), cfg.Tools.Reload, log) {
					warnOfTools(cfg, log)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
}

// warnOfTools logs what may be wrong with the programs of the tools.
func warnOfTools(cfg settings.Config, log *slog.Logger) {
	for _, warning := range cfg.Tools.Warnings() {
		log.Warn("file of tools: " + warning.String())
	}
}

// reload reads a file again, if there is one, and reports whether what it says is now in force. file is "" if none is
// configured.
func reload(what, file string, read func() error, log *slog.Logger) bool {
	if file == "" {
		return false
	}
	err := read()
	if err == nil {
		log.Info("the "+what+" was read again", "file", file)
		return true
	}
	var faults strictyaml.Faults
	_ = errors.As(err, &faults) // it is of that type
	for _, fault := range faults {
		log.Error("the "+what+" is invalid: "+fault.String(), "category", core.CategoryOf(err))
	}
	log.Error("the old "+what+" stays in force; correct the file, then send SIGHUP again", "file", file,
		"category", core.CategoryOf(err))
	return false
}
