package agent

import (
	"context"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
)

// saveRound saves a finished round, the model's answer and all results of its calls, before the model is asked again:
// the next attempt of the turn begins after it (core.Turn.Saved). A model with a memory runs again from its beginning:
// what it remembers is not in the conversation.
func saveRound(ctx context.Context, s graph.State) error {
	if used.Get(s).Rounds == 0 || len(memory.Get(s)) > 0 {
		return nil
	}
	_, err := saved(ctx, nil)
	return err
}

// savedNext are the messages that an earlier attempt saved and this one has not added yet.
func savedNext(ctx context.Context, s graph.State) []core.Message {
	turn, _ := core.TurnFrom(ctx)
	return turn.Saved[min(len(graph.Messages.Get(s).Added()), len(turn.Saved)):]
}

// savedResults are the results that an earlier attempt saved of the first open calls.
func savedResults(ctx context.Context, s graph.State) (results []core.ToolResult) {
	open := calls.Get(s)
	for i, row := range savedNext(ctx, s) {
		if i == len(open) || row.ToolCallID != open[i].ID {
			break
		}
		content := row.Content.String()
		failure, _ := tool.FailureOf(content)
		result := core.ToolResult{Content: content, Category: failure.Category}
		if row.Kept != nil {
			result.Images = row.Kept.Images
		}
		results = append(results, result)
	}
	return results
}
