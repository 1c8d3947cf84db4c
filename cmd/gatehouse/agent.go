package main

import (
	"log/slog"
	"sync"
	"time"

	"gatehouse/adapters/tools"
	"gatehouse/approvals"
	"gatehouse/approvals/policy"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/graph"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// newAgent compiles the configured agent. It has the built-in tools and those of more. tracer, health and log may be
// nil.
func newAgent(
	cfg settings.Config, store *storage.Store, tracer graph.Tracer, health *modelHealth, log *slog.Logger,
	more ...tool.Source,
) (*graph.Graph, error) {
	if cfg.Agent == "echo" {
		return agent.Echo(cfg.EchoDelay, tracer)
	}
	tools := newTools(cfg, store).With(more...)
	loop := agent.Loop{
		Name:     "demo",
		Model:    newModel(),
		ModelRef: "gatehouse/demo",
		Executor: &tool.Executor{Tools: tools, Log: log},
		Policy:   newLoggedPolicy(cfg.Policy, log),
		NewID:    cli.NewID,
		Tracer:   tracer,
	}
	switch {
	case cfg.Agent == "llm":
		model, err := newProviderModel(cfg, store, tools, tracer, health, log)
		if err != nil {
			return nil, err
		}
		loop.Name, loop.Model, loop.ModelRef = "llm", model, modelRef(cfg.Model)
		loop.Limits.Tokens = cfg.Model.Turn
		if loop.View, err = viewRef(cfg); err != nil {
			return nil, err
		}
	case cfg.Script != nil:
		script, err := newScript(cfg, store, tools, tracer, health, log)
		if err != nil {
			return nil, err
		}
		warnOfScript(*cfg.Script, log)
		loop.Name, loop.Release = "script", cfg.Script.Digest
		loop.Model, loop.ModelRef, loop.Limits = script, "gatehouse/script", agent.ScriptLimits
	}
	return loop.Graph()
}

// loggedPolicy is the policy in force. It logs the first failure of each rule's condition.
type loggedPolicy struct {
	current *policy.Current
	log     *slog.Logger // nil: nothing is logged
	logged  *sync.Map    // the rules whose failure was logged
}

func newLoggedPolicy(current *policy.Current, log *slog.Logger) loggedPolicy {
	return loggedPolicy{current, log, new(sync.Map)}
}

// Rule is the policy for a call.
func (p loggedPolicy) Rule(turn core.Turn, call core.Call) core.Rule {
	d := p.current.Policy().Decide(turn, call)
	for _, f := range d.Failed {
		if _, known := p.logged.LoadOrStore(f.Rule, true); !known && p.log != nil {
			p.log.Warn("a condition of the approval policy failed; it allows nothing, and a rule that asks or "+
				"denies holds", "rule", f.Rule, "tool", call.Tool, "err", mask.Text(f.Err.Error()))
		}
	}
	return d.Rule
}

// Asks is the policy for a call that asks people.
func (p loggedPolicy) Asks(turn core.Turn, call core.Call, asking tool.Asking) core.Rule {
	return p.current.Asks(turn, call, asking.Of, asking.Expires, false)
}

// newTools are the tools that are built in, and those of GATEHOUSE_TOOLS. There is http.fetch where hosts are listed. A
// variable, so that tests can have others.
var newTools = func(cfg settings.Config, store *storage.Store) *tool.Registry {
	all := []tool.Tool{
		tool.Calc(), tool.Clock(time.Now), tool.NoteAdd(store.AddNote), tool.NoteList(store.Notes), tool.AskPeople(),
	}
	if !cfg.Hosts.None() {
		all = append(all, tools.Fetch(cfg.Hosts))
	}
	return tool.NewRegistry(all...).With(cfg.Tools)
}

// editing lets approvers change the arguments of calls of these tools and those of more.
func editing(cfg settings.Config, store *storage.Store, more ...tool.Source) approvals.Editing {
	return approvals.Editing{Tools: newTools(cfg, store).With(more...), Policy: cfg.Policy}
}

// newModel makes the agent's model. A variable, so that tests can use one that requests several tools at once.
var newModel = func() agent.Model { return agent.Demo{} }
