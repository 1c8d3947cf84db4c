package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"gatehouse/adapters/access"
	"gatehouse/cmd/gatehouse/internal/reload"
	"gatehouse/cmd/gatehouse/internal/settings"
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

// reload replaces the parts of the gateway when their files are read again, until ctx ends. gate is nil without HTTP.
func (g *gateway) reload(
	ctx context.Context, source settings.Source, hangups <-chan os.Signal, gate *access.Gate,
	changed func(settings.Config),
) {
	r := reload.Reload{
		Settings: source,
		Agent:    g.nextAgent,
		Servers:  g.servers.use,
		Changed:  changed,
		Log:      g.log,
	}
	if gate != nil {
		r.Tokens = gate.Use
	}
	r.Run(ctx, hangups, g.cfg)
}

// nextAgent builds the agent of another configuration. use has the turns that begin from then on run it.
func (g *gateway) nextAgent(cfg settings.Config) (use func(), err error) {
	agent, err := newAgent(cfg, g.store, g.tracer, g.models, g.log, g.servers)
	if err != nil {
		return nil, err
	}
	return func() {
		g.harness.Use(agent)
		g.models.keep(cfg.Model)
	}, nil
}

// warnOfTools logs what may be wrong with the programs of the tools.
func warnOfTools(cfg settings.Config, log *slog.Logger) {
	for _, warning := range cfg.Tools.Warnings() {
		log.Warn("file of tools: " + warning.String())
	}
}
