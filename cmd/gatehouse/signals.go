package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"gatehouse/adapters/access"
	"gatehouse/adapters/mcp"
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

// reloading is a gateway whose parts are replaced when their files are read again.
type reloading struct {
	*gateway
	gate *access.Gate // nil: no HTTP
}

var _ reload.Process = reloading{}

// reload reads the files again at each hang-up, until ctx ends.
func (g *gateway) reload(ctx context.Context, source settings.Source, hangups <-chan os.Signal, gate *access.Gate) {
	reload.Reload{Settings: source, Process: reloading{g, gate}, Log: g.log}.Run(ctx, hangups, g.cfg)
}

// NextAgent builds the agent of another configuration.
func (r reloading) NextAgent(cfg settings.Config) (use func(), err error) {
	agent, err := newAgent(cfg, r.store, r.tracer, r.models, r.log, r.servers)
	if err != nil {
		return nil, err
	}
	return func() {
		r.models.keep(cfg.Model)
		r.harness.Use(agent)
	}, nil
}

// UseTokens lets in other people.
func (r reloading) UseTokens(tokens []access.Token) {
	if r.gate != nil {
		r.gate.Use(tokens)
	}
}

// UseServers replaces the MCP servers.
func (r reloading) UseServers(cfg mcp.Config) { r.servers.use(cfg) }

// Changed logs what is probably not meant.
func (r reloading) Changed(cfg settings.Config) {
	if r.gate != nil {
		warnOfApprovers(cfg, r.log)
	}
	warnOfTools(cfg, r.log)
}

// warnOfTools logs what may be wrong with the programs of the tools.
func warnOfTools(cfg settings.Config, log *slog.Logger) {
	for _, warning := range cfg.Tools.Warnings() {
		log.Warn("file of tools: " + warning.String())
	}
}
