package mcp

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"

	"gatehouse/core/tool"
)

// Pins keeps the digests of definitions, in the store that all processes share. Get gives "" for what was never put. Without functions
// there is no store.
type Pins struct {
	Get func(ctx context.Context, name string) (string, error)
	Put func(ctx context.Context, name, value string) error
}

// Options are the parts of Servers.
type Options struct {
	Config  Config
	Pins    Pins     // none: no tool only reads, but those that the configuration confirms
	Environ []string // as os.Environ gives it; nil: that of the process
	Version string   // of gatehouse, for the servers
	Log     *slog.Logger

	times times
}

// Servers are the MCP servers of a configuration.
type Servers struct {
	all []*server
	log *slog.Logger
}

// New makes the servers; Run starts them.
func New(o Options) *Servers {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.times == (times{}) {
		o.times = usual
	}
	for _, warning := range o.Config.Warnings {
		o.Log.Warn("mcp.json: " + warning)
	}
	all := &Servers{log: o.Log}
	for _, entry := range o.Config.Servers {
		all.all = append(all.all, newServer(entry, o))
	}
	return all
}

// Run keeps the servers running until ctx ends, then ends them; it returns when nothing of them is left. It never fails: a server that
// can't be started is a warning in the log, and an error of the calls of its tools.
func (s *Servers) Run(ctx context.Context) error {
	var running sync.WaitGroup
	for _, one := range s.all {
		running.Go(func() { one.run(ctx) })
	}
	running.Wait()
	return nil
}

// Ready waits until each server runs or could not be started once, or ctx ends.
func (s *Servers) Ready(ctx context.Context) {
	for _, one := range s.all {
		select {
		case <-one.tried:
		case <-ctx.Done():
			return
		}
	}
}

// Source gives the servers' tools to a registry.
func (s *Servers) Source() tool.Source { return tool.Source{Tools: s.Tools, Missing: s.Missing} }

// Tools gives the tools of all servers; those of a server that is away, too.
func (s *Servers) Tools() []tool.Tool {
	var all []tool.Tool
	for _, one := range s.all {
		all = append(all, one.Tools()...)
	}
	return all
}

// Missing says which server is away, if a tool's name is one of its own.
func (s *Servers) Missing(name string) error {
	for _, one := range s.all {
		if !strings.HasPrefix(name, one.Name+".") {
			continue
		}
		one.mu.Lock()
		away := one.session == nil
		one.mu.Unlock()
		if away {
			return one.notRunning()
		}
	}
	return nil
}
