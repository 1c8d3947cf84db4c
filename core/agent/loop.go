package agent

import (
	"context"
	"fmt"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// Version is the graphs' version. It changes when a paused turn of an older one can't go on.
const Version = "1"

// maxRounds is how often one turn may ask its model: a model that calls tools without end is stopped here.
const maxRounds = 32

// Model answers a conversation: an assistant message, with tool calls or without. history is what was said, the latest last.
type Model interface {
	Next(ctx context.Context, history core.History) (Answer, error)
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

	ModelRef string              // provider and model, for the evidence; "" = Name
	Mask     func(string) string // hides what looks like a secret in the evidence; nil: sentences of failures are left out of it
	Tracer   graph.Tracer        // makes spans of its turns; nil: none
}

// pendingCall is the mutating call that the turn is paused for.
type pendingCall struct {
	Call     core.ToolCall   `json:"call"`
	Approval core.ApprovalID `json:"approval"`
	Bound    core.Call       `json:"bound"`
	Rule     core.Rule       `json:"rule"`
	Again    bool            `json:"again,omitempty"` // for the second time: the rules changed after the first
}

// The scratch fields of a turn. None is in the session.
var (
	calls    = graph.Field("calls", graph.Replace[[]core.ToolCall]()) // still to run, in the model's order
	pending  = graph.Field("pending_call", graph.Replace[*pendingCall]())
	decision = graph.Field("decision", graph.Replace[*core.DecisionPayload]()) // comes with the signal
	rounds   = graph.Field("rounds", graph.Replace[int]())
)

// Graph compiles the loop.
func (l Loop) Graph() (*graph.Graph, error) {
	return graph.New(l.Name, Version).
		SchemaVersion(Version).
		Fields(graph.Messages, calls, pending, decision, rounds, evidenceField).
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
		Route("tools", next).
		Edge("ask", "gate").
		Edge("gate", "act").
		Route("act", next).
		Trace(l.Tracer).
		Compile()
}

// next goes on with the call that was set aside, with the next one, or back to the model when all are answered.
func next(s graph.State) (string, error) {
	a := pending.Get(s)
	switch {
	case a != nil && a.Rule.Verdict == core.VerdictAllow:
		return "gate", nil
	case a != nil:
		return "ask", nil
	case len(calls.Get(s)) > 0:
		return "tools", nil
	}
	return "model", nil
}

func (l Loop) model(ctx context.Context, s graph.State) (graph.Update, error) {
	if rounds.Get(s) >= maxRounds {
		return nil, core.Errorf(core.ProviderInvalidResponse, "The agent called tools %d times without coming to an answer.", maxRounds)
	}
	e, history := evidenceField.Get(s), graph.Messages.Get(s)
	if e == nil && rounds.Get(s) == 0 {
		var err error
		if e, err = l.start(ctx, s); err != nil {
			return nil, err
		}
	}
	answer, err := l.Model.Next(ctx, history)
	if err != nil {
		return nil, err
	}
	if e != nil {
		e.setView(e.Rows.SessionRefs, history.Len())
	}
	reply := answer.Message
	reply.Role = core.Assistant
	if answer.Message = reply; !answer.Stop.complete() {
		return nil, l.discardAnswer(ctx, e, answer)
	}
	if err := reply.Validate(); err != nil {
		return nil, core.Wrap(core.ProviderInvalidResponse, err, "The model's answer was malformed.")
	}
	if e != nil {
		turn, _ := core.TurnFrom(ctx)
		e.addRequests(reply, l.Executor.Tools, turn.Actor.ID, l.mask)
		if len(reply.ToolCalls) == 0 {
			l.close(ctx, e.Rows)
		}
	}
	return graph.Update{graph.Messages.Add(reply), calls.Set(reply.ToolCalls), rounds.Set(rounds.Get(s) + 1), evidenceField.Set(e)}, nil
}

// tools takes the first call that is left: runs it, refuses it, or sets it aside to be asked for.
func (l Loop) tools(ctx context.Context, s graph.State) (graph.Update, error) {
	call := calls.Get(s)[0]
	t, err := l.Executor.Tools.Find(call)
	if err != nil {
		return l.answer(s, call, tool.Failed(err)), nil
	}
	if !t.Mutating {
		step(ctx, call.Name)
		result, err := l.Executor.Read(ctx, t, call)
		if err != nil {
			return nil, err
		}
		return l.answer(s, call, result), nil
	}
	bound, err := bind(t, call)
	if err != nil {
		return l.answer(s, call, tool.Failed(err)), nil
	}
	return l.checkPolicy(ctx, s, call, bound, false)
}

// step tells those who wait which tool begins.
func step(ctx context.Context, tool string) {
	if turn, _ := core.TurnFrom(ctx); turn.Step != nil {
		turn.Step(tool)
	}
}

// bind fixes what an approval will be bound to.
func bind(t tool.Tool, call core.ToolCall) (core.Call, error) {
	digest, err := tool.Digest(call.Name, call.Arguments)
	if err != nil {
		return core.Call{}, err
	}
	return core.Call{Tool: call.Name, CallID: call.ID, Arguments: call.Arguments, Digest: digest, Summary: core.MaskText(t.Summarize(call.Arguments)), Risk: t.Risk}, nil
}

// answer appends a call's result and takes the call off the list.
func (l Loop) answer(s graph.State, call core.ToolCall, r core.ToolResult) graph.Update {
	row, e := tool.Row(call.ID, r), evidenceField.Get(s)
	if e != nil {
		e.addResult(row, r, typestate.Consumed, l.failureMessage(call.Arguments, r))
		e.linkApproval(pending.Get(s))
	}
	return graph.Update{graph.Messages.Add(row), calls.Set(calls.Get(s)[1:]), pending.Set(nil), decision.Set(nil), evidenceField.Set(e)}
}

// act is the first node after the resume. What it did is saved before anything else can fail. Where the rules changed after the
// approval was asked for, nothing was done: the call is asked for once more, under the rules of today; a second change refuses it.
func (l Loop) act(ctx context.Context, s graph.State) (graph.Update, error) {
	a, d := pending.Get(s), decision.Get(s)
	if a == nil || d == nil || d.Approval != a.Approval {
		return nil, core.Errorf(core.SuspensionRecordInvalid, "The decision is not for what this conversation waits for.")
	}
	step(ctx, a.Call.Name)
	e, before := evidenceField.Get(s), tool.Prefix{}
	if e != nil {
		turn, _ := core.TurnFrom(ctx)
		before = tool.Prefix{Evidence: e.prefix(), Policy: l.policyDigest(turn, e.Mutating)}
	}
	result, err := l.Executor.Act(ctx, a.Call, a.Approval, before)
	if err != nil {
		return nil, err
	}
	if result.Category == core.ApprovalStale && !a.Again {
		return l.checkPolicy(ctx, s, a.Call, a.Bound, true)
	}
	update := l.answer(s, a.Call, result)
	if err := graph.SaveSession(ctx, update); err != nil {
		return nil, fmt.Errorf("saving what was done: %w", err)
	}
	return update, nil
}
