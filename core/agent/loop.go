package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/mask"
	"gatehouse/core/question"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// Version is the version of the graphs. It changes when turns that an older version paused can't be resumed.
const Version = "1"

// Model answers a conversation with an assistant message, which may request tool calls. The latest message of history
// is the last. memory is what the model's last answer in this turn asked to keep; it is empty, or null, if there was
// none. It is stored while the turn is paused.
//
// A Model whose calls are not a vendor's native ones has a method Normalizer() (mode, id string): its action mode, and
// what makes calls of its actions, for the evidence.
type Model interface {
	Next(ctx context.Context, history core.History, memory json.RawMessage) (Answer, error)
}

// Policy decides about calls.
type Policy interface {
	// Rule allows a call, refuses it, or says who approves it.
	Rule(turn core.Turn, call core.Call) core.Rule
	// Asks is the rule for a call that asks people: its approvers are the people who may answer, or it denies.
	Asks(turn core.Turn, call core.Call, asking tool.Asking) core.Rule
}

// Loop holds the parts of the loop graph.
type Loop struct {
	Name     string
	Model    Model
	Executor *tool.Executor
	Policy   Policy
	NewID    func() string

	// Release identifies what the model does, such as the digest of its script. A turn that was paused under another
	// one can't be resumed. "" = any can.
	Release string

	Limits   Limits // of one turn; what is zero is the default of DefaultLimits
	ModelRef string // provider and model, for the evidence; "" = Name
	// how the model is shown the conversation, for the evidence: its settings, and digests of its prompt
	View   string
	Tracer graph.Tracer // makes spans of its turns; nil: none
}

// pendingCall is the call that the turn is paused for: it changes something, or it asks people.
type pendingCall struct {
	Call     core.ToolCall   `json:"call"`
	Approval core.ApprovalID `json:"approval"`
	Bound    core.Call       `json:"bound"`
	Rule     core.Rule       `json:"rule"`
	Asked    core.Asked      `json:"asked,omitzero"`
	Use      *core.Use       `json:"use,omitempty"`
	Version  string          `json:"version,omitempty"` // the tool's; "" also where an earlier build asked
	Again    bool            `json:"again,omitempty"`   // the second request: the rules changed after the first
	Reread   bool            `json:"reread,omitempty"`  // or gatehouse reads the tool's description differently

	Question *question.Question `json:"question,omitempty"` // of a call that asks people
	Kept     string             `json:"kept,omitempty"`     // tool.Answer.Of
	// the begun call whose tool asks this question: with the answer it goes on
	Under *pendingCall `json:"under,omitempty"`
}

// The fields of a turn that are not part of the session.
var (
	calls    = graph.Field("calls", graph.Replace[[]core.ToolCall]()) // still to run, in the model's order
	pending  = graph.Field("pending_call", graph.Replace[*pendingCall]())
	decision = graph.Field("decision", graph.Replace[*core.DecisionPayload]()) // arrives with the signal
	used     = graph.Field("used", graph.Replace[usage]())
	// how many calls of the model's last answer people were asked for
	asks    = graph.Field("asks", graph.Replace[int]())
	request = graph.Field("request", graph.Replace[string]()) // the beginning of the message that began the turn
	memory  = graph.Field("memory", graph.Replace[json.RawMessage]())
)

// Graph compiles the loop.
func (l Loop) Graph() (*graph.Graph, error) {
	version := Version
	if l.Release != "" {
		version += "+" + l.Release
	}
	return graph.New(l.Name, version).
		SchemaVersion(Version).
		Fields(graph.Messages, calls, pending, decision, used, asks, request, memory, done, evidenceField).
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
	spent, limits := used.Get(s), l.Limits.orDefault()
	if err := limits.exceeded(spent); err != nil {
		return nil, err
	}
	e, history := evidenceField.Get(s), graph.Messages.Get(s)
	if turn, _ := core.TurnFrom(ctx); turn.Progress != nil {
		turn.Progress.Added(history.Added())
	}
	asked := request.Get(s)
	var err error
	if e == nil && spent.Rounds == 0 {
		if e, asked, err = l.start(ctx, s); err != nil {
			return nil, err
		}
	}
	var answer Answer
	if next := savedNext(ctx, s); len(next) > 0 {
		answer.Message = next[0]
	} else if err = saveRound(ctx, s); err == nil {
		core.DeltasFrom(ctx).Writes()
		spent.Time, err = limits.within(ctx, spent.Time, func(ctx context.Context) (err error) {
			answer, err = l.next(ctx, history, memory.Get(s), len(done.Get(s)) > 0)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	spent.Rounds, spent.Calls, spent.Tokens = spent.Rounds+1, spent.Calls+len(answer.ToolCalls),
		spent.Tokens+answer.Tokens
	if e != nil {
		e.setView(history.Len())
	}
	answer.Role = core.Assistant
	switch {
	case spent.Calls > limits.Calls:
		err := limits.tooManyCalls()
		l.discard(ctx, e, answer, err)
		return nil, err
	case !answer.complete():
		l.discard(ctx, e, answer, answer.fault())
	}
	kept, err := answer.used(done.Get(s))
	if err != nil {
		return nil, err
	}
	rows, err := kept.rows()
	if err != nil {
		return nil, err
	}
	reply := kept.Message
	core.DeltasFrom(ctx).Said(reply.Content.String())
	if e != nil && answer.complete() {
		turn, _ := core.TurnFrom(ctx)
		e.addRequests(reply, l.Executor.Tools, turn.Actor.ID)
		if len(reply.ToolCalls) == 0 {
			l.close(ctx, e)
		}
	}
	if answer.Epoch.Number == 0 {
		answer.Epoch = history.Epoch()
	}
	return graph.Update{
		graph.Messages.Add(rows...), graph.Messages.Show(answer.Epoch), calls.Set(reply.ToolCalls), asks.Set(0),
		used.Set(spent), request.Set(asked), memory.Set(answer.Memory), evidenceField.Set(e),
	}, nil
}

// tools processes the calls without a result, from the first one on: those that need no approval get their results, up
// to the first one that needs one; if that is the first of all, it is refused, or becomes pending.
func (l Loop) tools(ctx context.Context, s graph.State) (graph.Update, error) {
	if results := savedResults(ctx, s); len(results) > 0 {
		return l.answers(s, results, false), nil
	}
	results, overlapped, took, err := l.read(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(results) > 0 {
		spent := used.Get(s)
		spent.Time += took
		return append(l.answers(s, results, overlapped), used.Set(spent)), nil
	}
	call := calls.Get(s)[0]
	t, bound, err := l.find(call)
	if err != nil {
		refused, err := l.refusal(call, err)(ctx)
		return l.answer(s, refused), err
	}
	if t.Ask != nil {
		return l.askPeople(ctx, s, t, call, bound)
	}
	return l.checkPolicy(ctx, s, call, bound, false)
}

// find finds a call's tool and binds the call.
func (l Loop) find(call core.ToolCall) (t tool.Tool, bound core.Call, err error) {
	if t, err = l.Executor.Tools.Find(call); err == nil {
		bound, err = tool.Bind(t, call)
	}
	return t, bound, err
}

// traced makes a span of a call; id is the model's.
func (l Loop) traced(
	ctx context.Context, name, id string, do func(context.Context) (core.ToolResult, error),
) (core.ToolResult, error) {
	ctx, end := graph.StartSpan(ctx, l.Tracer, graph.Span{Kind: graph.SpanTool, Name: name})
	r, err := do(ctx)
	ended := graph.SpanEnd{Err: err, Attributes: map[string]any{"gen_ai.tool.call.id": mask.Text(id)}}
	switch {
	case errors.As(err, new(*tool.Paused)): // it asks people
		ended.Err, ended.Suspended = nil, &core.Descriptor{}
	case err == nil && r.Category != "":
		ended.Err = core.Errorf(r.Category, "") // what it says is a text of the conversation
	}
	end(ended)
	return r, err
}

// answer appends the result of the first call, and removes the call from the list.
func (l Loop) answer(s graph.State, r core.ToolResult) graph.Update {
	return l.answers(s, []core.ToolResult{r}, false)
}

// answers appends the results of the first calls, and removes these from the list. overlapped: some ran at the same
// time.
func (l Loop) answers(s graph.State, results []core.ToolResult, overlapped bool) graph.Update {
	open, e := calls.Get(s), evidenceField.Get(s)
	var rows []core.Message
	for i, r := range results {
		row := tool.Row(open[i].ID, r)
		if rows = append(rows, row); e != nil {
			e.addResult(row, r, typestate.Consumed, l.failureMessage(open[i], r))
		}
	}
	if e != nil && overlapped {
		e.overlapped(open, rows)
	}
	e.linkApproval(pending.Get(s))
	return graph.Update{
		graph.Messages.Add(rows...), calls.Set(open[len(results):]), pending.Set(nil), decision.Set(nil),
		evidenceField.Set(e),
	}
}

// act is the first node after the resume. It saves the result before anything else can fail. If the rules changed after
// the approval was requested, the call does not run: approval is requested once more under the new rules. A second
// change refuses the call.
func (l Loop) act(ctx context.Context, s graph.State) (graph.Update, error) {
	a, d := pending.Get(s), decision.Get(s)
	turn, _ := core.TurnFrom(ctx)
	if a == nil || d == nil || d.Approval != a.Approval {
		return nil, core.Errorf(core.SuspensionRecordInvalid, "The decision is for another approval than the one "+
			"this turn waits for.")
	}
	asked := a
	if a.Under != nil {
		a = a.Under
	}
	if results := savedResults(ctx, s); len(results) > 0 {
		u, r := l.answers(s, results, false), results[0]
		if a.Question == nil {
			u = append(u, did(s, a.Bound, r))
		}
		if a.Question == nil && r.Category != "" && turn.Ledger != nil {
			turn.Ledger.Refuse(a.Approval, r) // unless it was begun, which is stored
		}
		return u, nil
	}
	if a.Question != nil {
		return l.useAnswer(ctx, s, a)
	}
	core.DeltasFrom(ctx).Step(a.Call.Name)
	e, before := evidenceField.Get(s), tool.Prefix{}
	if e != nil {
		before = e.prefix(l.policyDigest(turn, e.Mutating))
	}
	approved, err := stored(ctx, turn, a)
	if err != nil {
		return nil, err
	}
	result, refused := l.refuseChanged(turn, a, approved)
	var next graph.Update
	if !refused {
		result, next, err = l.rounds(ctx, s, a, asked, before)
	}
	if err != nil || next != nil {
		return next, err
	}
	if result.Category == core.ApprovalStale && !a.Again {
		bound, err := l.Executor.Tools.Bind(a.Call) // the risk, the summary and the secrets are today's
		if err == nil {
			return l.checkPolicy(ctx, s, a.Call, bound, true)
		}
		result = tool.Failed(err)
	}
	ran := a.Bound
	if approved.Call.Summary != "" { // with the arguments that an approver gave it
		ran = approved.Call
	}
	return saved(ctx, append(l.answer(s, result), did(s, ran, result)))
}

// did adds what became of a decided call to what is said of the turn, if its model has nothing to say.
func did(s graph.State, ran core.Call, result core.ToolResult) graph.Change {
	return done.Set(append(slices.Clone(done.Get(s)), outcome(ran, result)))
}
