// Package reload reads the files of the configuration again on SIGHUP: tokens, keys and models, the policy, the tools,
// and the MCP servers.
//
//	hangups := reload.Listen()   // from now on a hang-up does not end the process
//	...
//	reload.Reload{Settings: source, Process: process, …}.Run(ctx, hangups, cfg)
//
// Everything is read and checked as at the start, and the agent is built, before anything is replaced: a file with a
// fault changes nothing at all. Then each part is replaced at once, for what begins from then on: a turn that runs goes
// on with the models that it began with; the rules and the tools are those of now at each call, as ever. The
// environment of a process never changes, so what else changed is in files that are used at the start alone; it is
// named.
package reload

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"gatehouse/adapters/access"
	"gatehouse/adapters/mcp"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
)

// Reload is how the parts of a process are replaced.
type Reload struct {
	Settings settings.Source
	Process  Process
	Log      *slog.Logger
}

// Process is the process whose parts are replaced.
type Process interface {
	// NextAgent builds the agent that asks other models; use has the turns that begin from then on take it.
	NextAgent(cfg settings.Config) (use func(), err error)
	// UseTokens lets in the people with these, and nobody else.
	UseTokens(tokens []access.Token)
	// UseServers makes these the MCP servers.
	UseServers(cfg mcp.Config)
	// Changed is told what is in force after it was replaced.
	Changed(cfg settings.Config)
}

// Listen has hang-ups sent to a channel, also while the process drains, in place of ending it. One is kept until
// somebody reads it.
func Listen() <-chan os.Signal {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}

// Run reads the files again at each hang-up, until ctx ends.
func (r Reload) Run(ctx context.Context, hangups <-chan os.Signal, cfg settings.Config) {
	for {
		select {
		case <-hangups:
			cfg = r.once(cfg)
		case <-ctx.Done():
			return
		}
	}
}

// once reads the files again and returns what is in force then.
func (r Reload) once(cfg settings.Config) settings.Config {
	next, _, faults := r.Settings.Read()
	if len(cfg.Tokens) > 0 && len(next.Tokens) == 0 && len(faults) == 0 {
		faults = append(faults, "GATEHOUSE_TOKENS: no token is left, which would let in everybody at this machine; "+
			"to do that, start gatehouse again")
	}
	changes, use := settings.Changes{}, func() {}
	merged := cfg
	if len(faults) == 0 {
		changes, merged = cfg.ChangesTo(next), cfg.Reloaded(next)
		if changes.Models {
			var err error
			if use, err = r.Process.NextAgent(merged); err != nil {
				faults = append(faults, "GATEHOUSE_MODEL: "+core.MessageOf(err))
			}
		}
	}
	if len(faults) > 0 {
		r.Log.Error("the configuration was read again and is invalid, so nothing was changed; correct it, then send "+
			"SIGHUP again:\n"+strings.Join(faults, "\n"), "category", core.Invalid)
		return cfg
	}
	if changes.Tokens { // before all that may take a while
		r.Process.UseTokens(next.Tokens)
	}
	use()
	cfg.Policy.Use(next.Policy)
	cfg.Tools.Use(next.Tools)
	if cfg.MCPFile != "" {
		r.Process.UseServers(next.MCP)
	}
	r.tell(merged, changes)
	r.Process.Changed(merged)
	return merged
}

// tell logs what was read again.
func (r Reload) tell(cfg settings.Config, changes settings.Changes) {
	var all []string
	for _, file := range []struct{ what, path string }{
		{"policy", cfg.PolicyFile}, {"tools", cfg.ToolsFile}, {"MCP servers", cfg.MCPFile},
	} {
		if file.path != "" {
			all = append(all, file.what+" ("+file.path+")")
		}
	}
	if changes.Models {
		all = append(all, "models and their keys")
	}
	if changes.Tokens {
		all = append(all, "tokens")
	}
	if len(all) == 0 {
		all = []string{"nothing that can change without a restart has changed"}
	}
	text := "the configuration was read again: " + strings.Join(all, ", ")
	if len(changes.Unused) > 0 {
		r.Log.Warn(text+"; what changed of "+strings.Join(changes.Unused, ", ")+" needs a restart",
			"restart", changes.Unused)
		return
	}
	r.Log.Info(text)
}
