package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"gatehouse/approvals/policy"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core/tool"
)

// policyWatch logs what is probably not meant in the policy in force: at the start, and when the policy or the tools
// have changed since, each warning once.
type policyWatch struct {
	current *policy.Current
	tools   *tool.Registry
	servers *mcpServers
	log     *slog.Logger

	last *policy.Policy
	seen string // the tools, and the servers that have not told theirs
	told map[string]bool
}

func newPolicyWatch(cfg settings.Config, servers *mcpServers, log *slog.Logger) *policyWatch {
	tools := newTools(cfg, nil).With(servers)
	return &policyWatch{current: cfg.Policy, tools: tools, servers: servers, log: log}
}

// run looks until ctx ends.
func (w *policyWatch) run(ctx context.Context) {
	if w.current.Path() == "" {
		return
	}
	again := time.NewTicker(fileLook)
	defer again.Stop()
	for ctx.Err() == nil {
		w.look()
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
}

// look logs the warnings that are new.
func (w *policyWatch) look() {
	tools := w.tools.Tools()
	var seen, away []string
	for _, t := range tools {
		seen = append(seen, t.Name, string(t.CallRisk()), t.Version, string(t.Schema))
	}
	for server, up := range w.servers.Up() {
		if !up && !slices.ContainsFunc(tools, func(t tool.Tool) bool { return strings.HasPrefix(t.Name, server+".") }) {
			away = append(away, server)
		}
	}
	slices.Sort(away)
	p, now := w.current.Policy(), strings.Join(append(seen, away...), "\n")
	if p == w.last && now == w.seen {
		return
	}
	if p != w.last {
		w.told = map[string]bool{}
	}
	w.last, w.seen = p, now
	for _, warning := range p.Warnings(cli.PolicyTools(tools), away) {
		if text := warning.String(); !w.told[text] {
			w.told[text] = true
			w.log.Warn("approval policy: " + text)
		}
	}
}
