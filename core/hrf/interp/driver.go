package interp

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// Tools calls a tool and gives its result, anything that is JSON.
type Tools func(ctx context.Context, recipient string, args map[string]any) (any, error)

// Model answers messages with a text.
type Model func(ctx context.Context, messages []Line) (string, error)

// Outcome is what a run came to. After an error it holds what there was until then.
type Outcome struct {
	Text       string
	Vars       map[string]any
	ToolCalls  []CallTool // in their order
	ModelCalls int
	Trace      []Event
}

// Run runs a program to its end. The error is an *hrf.Error, or that of the context if it has ended.
func Run(ctx context.Context, p *Program, input map[string]any, tools Tools, model Model) (Outcome, error) {
	var calls []CallTool
	shown := map[int][]Line{} // by the index of the event that asks
	s, result := p.Start(input), Result{}
	for {
		next, effect, err := p.Next(ctx, s, result)
		if err != nil {
			return outcome(s, calls, shown), err
		}
		s = next
		switch e := effect.(type) {
		case CallTool:
			calls = append(calls, e)
			result = resultOf(tools(ctx, e.Recipient, maps.Clone(e.Args)))
		case AskModel:
			shown[len(s.Trace)-1] = e.Messages
			result = resultOf(model(ctx, e.Messages))
		case Failed:
			return outcome(s, calls, shown), e.Err
		case Done:
			return outcome(s, calls, shown), nil
		}
	}
}

func resultOf[T any](value T, err error) Result {
	if err != nil {
		return Result{Err: cmp.Or(err.Error(), "no reason given")}
	}
	return Result{Value: value}
}

func outcome(s State, calls []CallTool, shown map[int][]Line) Outcome {
	trace := slices.Clone(s.Trace)
	for i, messages := range shown {
		trace[i].Messages = messages
	}
	return Outcome{Text: s.Text, Vars: s.Vars, ToolCalls: calls, ModelCalls: s.Used.ModelCalls, Trace: trace}
}
