package main

import (
	"log/slog"
	"slices"
	"strings"

	"gatehouse/adapters/mcp"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/graph"
	"gatehouse/core/hrf/interp"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// newScript makes the model that runs the configured script. What the script leaves to a model, the configured models
// answer. tracer and log may be nil. Error: invalid, if the script can never run, such as for a tool that does not
// exist and that no MCP server can bring.
//
// Decision (2026-11): the tools of MCP servers are not waited for. A script that calls one starts; if the tool is not
// there when a run begins, the run fails before its first step and says why.
func newScript(
	cfg settings.Config, store *storage.Store, tools *tool.Registry, tracer graph.Tracer, health *modelHealth,
	log *slog.Logger,
) (agent.Script, error) {
	m := agent.Script{Envelope: cfg.Script.Envelope, Tools: tools, Tokens: cfg.Model.Turn, Log: log}
	if len(cfg.Model.Chosen) > 0 {
		model, err := newProviderModel(cfg, store, tools, tracer, health, log)
		if err != nil {
			return m, err
		}
		m.Model = &model
	}
	fault := m.Check(func(name string) bool {
		server, _, _ := strings.Cut(name, ".")
		return slices.ContainsFunc(cfg.MCP.Servers, func(s mcp.Server) bool { return s.Name == server })
	})
	if fault != nil {
		details, _ := fault.Details.(interp.Details)
		hint := ""
		if details.Recipients != nil {
			hint = "; GATEHOUSE_TOOLS and GATEHOUSE_MCP_CONFIG add tools"
		}
		return m,
			core.Errorf(core.Invalid, "GATEHOUSE_AGENT: %s:%d:%d: %v%s", cfg.Script.Name, details.Line, details.Column,
				fault, hint)
	}
	return m, nil
}

// warnOfScript logs what may be a mistake in the script. log may be nil.
func warnOfScript(s settings.Script, log *slog.Logger) {
	for _, warning := range s.Warnings {
		if log != nil {
			log.Warn("the script of GATEHOUSE_AGENT may have a mistake", "at", warning)
		}
	}
}
