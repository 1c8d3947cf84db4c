package turns

import (
	"gatehouse/approvals/policy"
	"gatehouse/core/agent"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// Echo answers at once with what was said.
func Echo(*storage.Store) (*graph.Graph, error) { return agent.Echo(0, nil) }

// Asking asks people before it adds a note, as the demo agent does; see AsksFor.
func Asking(s *storage.Store) (*graph.Graph, error) {
	rule := policy.Defaults{Approvers: []string{"slack:U0BENCH0"}}.Rule
	return agent.Loop{
		Name: "demo", Model: agent.Demo{}, Executor: &tool.Executor{Tools: tool.NewRegistry(tool.NoteAdd(s.AddNote))},
		Policy: rule, NewID: newID,
	}.Graph()
}

// AsksFor is a text for which Asking posts a card, and waits.
const AsksFor = "note add milk"
