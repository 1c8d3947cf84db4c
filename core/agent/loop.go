package agent

import (
	"context"
	"fmt"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
)

// Version is the graphs' version. It changes when a paused turn of an older one can't go on.
const Version = "1"

// maxRounds is how often one turn may ask its model: a model that calls tools without end is stopped here.
const maxRounds = 32

// Model answers a conversation: an assistant message, with tool calls or without. history is what was said, the latest last.
type Model interface {
	Next(ctx context.Context, history core.History) (core.Message, error)
}

// Policy says what becomes of a mutating call.
type Policy interface {
	Rule(turn core.Turn, call core.Call) core.Rule
}

// Loop is what the loop graph is made of.
type Loop struct {
	Name     string
	Model    Model
	Executor *tool.Executor
	Policy   Policy
	NewID    func() string
}

// asked is the mutating call that the turn is paused for.
type asked struct {
	Call     core.ToolCall   `json:"call"`
	Approval core.ApprovalID `json:"approval"`
	Bound    core.Call       `json:"bound"`
	Rule     core.Rule       `json:"rule"`
}

// The scratch fields of a turn. None is in the session.
var (
	calls    = graph.Field("calls", graph.Replace[[]core.ToolCall]()) // still to run, in the model's order
	current  = graph.Field("asked", graph.Replace[*asked]())
	decision = graph.Field("decision", graph.Replace[*core.DecisionPayload]()) // comes with the signal
	rounds   = graph.Field("rounds", graph.Replace[int]())
)

// Graph compiles the loop.
func (l Loop) Graph() (*graph.Graph, error) {
	return graph.New(l.Name, Version).
		SchemaVersion(Version).
		Fields(graph.Messages, calls, current, decision, rounds).
		Session("messages").
		Entry("model").
		Node("model", l.model).
		Node("tools", l.tools).
		Node("ask", l.ask).
		Node("gate", l.gate).
		Node("act", l.act).
		Route("model", func(s graph.State) (string, error) {
			if len(calls.Get(s)) == 0 {
				return graph.END, nil
			}
			return "tools", nil
		}).
		Route("tools", func(s graph.State) (string, error) {
			switch a := current.Get(s); {
			case a == nil:
				return next(s), nil
			case a.Rule.Verdict == core.VerdictAllow:
				return "gate", nil
			}
			return "ask", nil
		}).
		Edge("ask", "gate").
		Edge("gate", "act").
		Route("act", func(s graph.State) (string, error) { return next(s), nil }).
		Compile()
}

// next goes on with the next call, or back to the model when all are answered.
func next(s graph.State) string {
	if len(calls.Get(s)) > 0 {
		return "tools"
	}
	return "model"
}

func (l Loop) model(ctx context.Context, s graph.State) (graph.Update, error) {
	if rounds.Get(s) >= maxRounds {
		return nil, core.Errorf(core.ProviderInvalidResponse, "The agent called tools %d times without coming to an answer.", maxRounds)
	}
	reply, err := l.Model.Next(ctx, graph.Messages.Get(s))
	if err != nil {
		return nil, err
	}
	reply.Role = core.Assistant
	if err := reply.Validate(); err != nil {
		return nil, core.Wrap(core.ProviderInvalidResponse, err, "The model's answer was malformed.")
	}
	return graph.Update{graph.Messages.Add(reply), calls.Set(reply.ToolCalls), rounds.Set(rounds.Get(s) + 1)}, nil
}

// tools takes the first call that is left: runs it, refuses it, or sets it aside to be asked for.
func (l Loop) tools(ctx context.Context, s graph.State) (graph.Update, error) {
	call := calls.Get(s)[0]
	t, err := l.Executor.Tools.Find(call)
	if err != nil {
		return answer(s, call, tool.Failed(err)), nil
	}
	if !t.Mutating {
		result, err := l.Executor.Read(ctx, t, call)
		if err != nil {
			return nil, err
		}
		return answer(s, call, result), nil
	}
	bound, err := bind(t, call)
	if err != nil {
		return answer(s, call, tool.Failed(err)), nil
	}
	turn, _ := core.TurnFrom(ctx)
	rule := l.Policy.Rule(turn, bound)
	switch rule.Verdict {
	case core.VerdictAllow, core.VerdictAsk:
		return graph.Update{current.Set(&asked{Call: call, Approval: core.ApprovalID(l.NewID()), Bound: bound, Rule: rule})}, nil
	}
	return answer(s, call, tool.Failed(core.Errorf(core.PolicyDenied, "%s", rule.Why))), nil
}

// bind fixes what an approval will be bound to.
func bind(t tool.Tool, call core.ToolCall) (core.Call, error) {
	digest, err := tool.Digest(call.Name, call.Arguments)
	if err != nil {
		return core.Call{}, err
	}
	return core.Call{Tool: call.Name, CallID: call.ID, Arguments: call.Arguments, Digest: digest, Summary: core.MaskText(t.Summarize(call.Arguments))}, nil
}

// answer appends a call's result and takes the call off the list.
func answer(s graph.State, call core.ToolCall, r core.ToolResult) graph.Update {
	return graph.Update{
		graph.Messages.Add(tool.Row(call.ID, r)),
		calls.Set(calls.Get(s)[1:]),
		current.Set(nil),
		decision.Set(nil),
	}
}

// ask says what the turn waits for: the pending message of harness-chat §8.1.
func (l Loop) ask(_ context.Context, s graph.State) (graph.Update, error) {
	a := current.Get(s)
	text := "I need an approval first: " + a.Bound.Summary
	return graph.Update{graph.Messages.Add(core.Message{Role: core.Assistant, Content: core.Text(text)})}, nil
}

// gate suspends. The approval's id is the signal's.
func (l Loop) gate(ctx context.Context, s graph.State) (graph.Update, error) {
	a := current.Get(s)
	return nil, graph.Suspend(ctx, core.Descriptor{
		SignalID: core.SignalID(a.Approval),
		Metadata: map[string]any{"call": a.Bound, "rule": a.Rule},
	})
}

// act is the first node after the resume. What it did is saved before anything else can fail.
func (l Loop) act(ctx context.Context, s graph.State) (graph.Update, error) {
	a, d := current.Get(s), decision.Get(s)
	if a == nil || d == nil || d.Approval != a.Approval {
		return nil, core.Errorf(core.SuspensionRecordInvalid, "The decision is not for what this conversation waits for.")
	}
	result, err := l.Executor.Act(ctx, a.Call, a.Approval)
	if err != nil {
		return nil, err
	}
	update := answer(s, a.Call, result)
	if err := graph.SaveSession(ctx, update); err != nil {
		return nil, fmt.Errorf("saving what was done: %w", err)
	}
	return update, nil
}
