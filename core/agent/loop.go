package agent

import (
	"context"
	"fmt"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// Version is the version of the graphs. It changes when turns that an older version paused can't be resumed.
const Version = "1"

// maxRounds is how often one turn may ask its model; it stops a model that requests tools without end.
const maxRounds = 32

// Model answers a conversation with an assistant message, which may request tool calls. The latest message of history is the last.
type Model interface {
	Next(ctx context.Context, history core.History) (Answer, error)
}

// Policy decides whether a call is allowed, refused, or needs an approval.
type Policy func(turn core.Turn, call core.Call) core.Rule

// Loop holds the parts of the loop graph.
type Loop struct {
	Name     string
	Model    Model
	Executor *tool.Executor
	Policy   Policy
	NewID    func() string

	ModelRef string              // provider and model, for the evidence; "" = Name
	Mask     func(string) string // hides what looks like a secret in the evidence; nil: messages of failures are left out
	Tracer   graph.Tracer        // makes spans of its turns; nil: none
}

// pendingCall is the mutating call that the turn is paused for.
type pendingCall struct {
	Call     core.ToolCall   `json:"call"`
	Approval core.ApprovalID `json:"approval"`
	Bound    core.Call       `json:"bound"`
	Rule     core.Rule       `json:"rule"`
	Asked    core.Asked      `json:"asked,omitzero"`
	Again    bool            `json:"again,omitempty"` // the second request: the rules changed after the first
}

// The fields of a turn that are not part of the session.
var (
	calls    = graph.Field("calls", graph.Replace[[]core.ToolCall]()) // still to run, in the model's order
	pending  = graph.Field("pending_call", graph.Replace[*pendingCall]())
	decision = graph.Field("decision", graph.Replace[*core.DecisionPayload]()) // arrives with the signal
	rounds   = graph.Field("rounds", graph.Replace[int]())
	answered = graph.Field("answer_calls", graph.Replace[[]core.ToolCall]()) // all calls of the model's last answer
	request  = graph.Field("request", graph.Replace[string]())               // the beginning of the message that began the turn
)

// Graph compiles the loop.
func (l Loop) Graph() (*graph.Graph, error) {
	return graph.New(l.Name, Version).
		SchemaVersion(Version).
		Fields(graph.Messages, calls, pending, decision, rounds, answered, request, evidenceField).
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

// next continues with the pending call or the next one, or goes back to the model if every call has a result.
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
		return nil, core.Errorf(core.ProviderInvalidResponse, "The agent called tools %d times without giving an answer.", maxRounds)
	}
	e, history := evidenceField.Get(s), graph.Messages.Get(s)
	asked := request.Get(s)
	if e == nil && rounds.Get(s) == 0 {
		var err error
		if e, asked, err = l.start(ctx, s); err != nil {
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
		return nil, core.Wrap(core.ProviderInvalidResponse, err, "The model's answer is malformed.")
	}
	if e != nil {
		turn, _ := core.TurnFrom(ctx)
		e.addRequests(reply, l.Executor.Tools, turn.Actor.ID, l.mask)
		if len(reply.ToolCalls) == 0 {
			l.close(ctx, e.Rows)
		}
	}
	return graph.Update{graph.Messages.Add(reply), calls.Set(reply.ToolCalls), answered.Set(reply.ToolCalls), rounds.Set(rounds.Get(s) + 1), request.Set(asked), evidenceField.Set(e)}, nil
}

// tools processes the first call without a result: it runs the call, refuses it, or makes it pending.
func (l Loop) tools(ctx context.Context, s graph.State) (graph.Update, error) {
	call := calls.Get(s)[0]
	t, err := l.Executor.Tools.Find(call)
	if err != nil {
		return l.answer(s, call, tool.Failed(err)), nil
	}
	bound, err := tool.Bind(t, call)
	if err != nil {
		return l.answer(s, call, tool.Failed(err)), nil
	}
	if turn, _ := core.TurnFrom(ctx); !t.Mutating && l.Policy(turn, bound).Verdict == core.VerdictAllow {
		step(ctx, call.Name)
		ids, _ := graph.InvocationFrom(ctx)
		place := len(answered.Get(s)) - len(calls.Get(s))
		result, err := l.Executor.Read(ctx, t, call, tool.ReadKey(ids.Invocation, rounds.Get(s), place, call))
		if err != nil {
			return nil, err
		}
		return l.answer(s, call, result), nil
	}
	return l.checkPolicy(ctx, s, call, bound, false)
}

// step reports that a tool starts.
func step(ctx context.Context, tool string) {
	if turn, _ := core.TurnFrom(ctx); turn.Step != nil {
		turn.Step(tool)
	}
}

// answer appends a call's result and removes the call from the list.
func (l Loop) answer(s graph.State, call core.ToolCall, r core.ToolResult) graph.Update {
	row, e := tool.Row(call.ID, r), evidenceField.Get(s)
	if e != nil {
		e.addResult(row, r, typestate.Consumed, l.failureMessage(call, r))
		e.linkApproval(pending.Get(s))
	}
	return graph.Update{graph.Messages.Add(row), calls.Set(calls.Get(s)[1:]), pending.Set(nil), decision.Set(nil), evidenceField.Set(e)}
}

// act is the first node after the resume. It saves the result before anything else can fail. If the rules changed after the approval
// was requested, the call does not run: approval is requested once more under the new rules. A second change refuses the call.
func (l Loop) act(ctx context.Context, s graph.State) (graph.Update, error) {
	a, d := pending.Get(s), decision.Get(s)
	if a == nil || d == nil || d.Approval != a.Approval {
		return nil, core.Errorf(core.SuspensionRecordInvalid, "The decision is for another approval than the one this turn waits for.")
	}
	step(ctx, a.Call.Name)
	e, before := evidenceField.Get(s), tool.Prefix{}
	if e != nil {
		turn, _ := core.TurnFrom(ctx)
		before = tool.Prefix{Evidence: e.prefix(), Policy: l.policyDigest(turn, e.Mutating)}
	}
	result, refused, err := l.refuseChanged(ctx, a)
	if err == nil && !refused {
		result, err = l.Executor.Act(ctx, a.Call, a.Approval, before)
	}
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
