package main

import (
	"log/slog"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// newAgent compiles the configured agent. tracer and log may be nil.
func newAgent(cfg settings.Config, store *storage.Store, tracer graph.Tracer, log *slog.Logger) (*graph.Graph, error) {
	if cfg.Agent == "echo" {
		return agent.Echo(cfg.EchoDelay, tracer)
	}
	tools := tool.NewRegistry(tool.Calc(), tool.Clock(time.Now), tool.NoteAdd(store.AddNote), tool.NoteList(store.Notes))
	return agent.Loop{
		Name: "demo", Model: newModel(), Executor: &tool.Executor{Tools: tools, Log: log}, Policy: cfg.Policy.Rule, NewID: cli.NewID,
		ModelRef: "gatehouse/demo", Mask: core.MaskText, Tracer: tracer,
	}.Graph()
}

// newModel makes the agent's model. A variable, so that tests can use one that requests several tools at once.
var newModel = func() agent.Model { return agent.Demo{} }
