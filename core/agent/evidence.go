package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// evidence is the record of what a turn has done so far, while it runs and while it is paused. It holds ids, names and digests; the only
// text in it is the masked message of a failed call.
type evidence struct {
	Rows     typestate.Evidence `json:"rows"`
	Mutating []core.Call        `json:"mutating,omitempty"` // the calls for which an approval was requested so far
	View     string             `json:"view"`               // a digest over what the turn has added to the conversation
}

var evidenceField = graph.Field("evidence", graph.Replace[*evidence]())

// The protocols of this loop. The call spec holds their digests: if you change its meaning, change its version. The action mode is
// json: each native call is an action object, and the calls run as a chain, however many an answer holds.
const (
	mode, pattern = "json", "chain"
	normalizer    = "gatehouse.loop.native-calls.v1"
	renders       = "gatehouse.render.v1: a tool's text goes whole, as it is, into the tool message that answers its call"
	queues        = "gatehouse.queue.v1: one event a turn"
	views         = "gatehouse.view.v1: the conversation up to the call of the model"
	decomposition = "gatehouse.decomposition.v1: one call after the other, no agent but this one"

	inbound  = "inbound"
	injected = "tool_response"
)

// start begins a turn's evidence: what the turn is bound to, and what it is linked with. It also returns the beginning of the message that began
// the turn.
func (l Loop) start(ctx context.Context, s graph.State) (e *evidence, asked string, err error) {
	ids, _ := graph.InvocationFrom(ctx)
	turn, _ := core.TurnFrom(ctx)
	said, err := graph.Messages.Get(s).Tail(ctx, 1) // the message that began the turn; it is in memory
	if err != nil {
		return nil, "", err
	}
	e = &evidence{}
	e.addToView(said...)
	for _, m := range said {
		asked = beginning(mask.Text(m.Content.Own()), maxKept)
	}
	model := l.ModelRef
	if model == "" {
		model = l.Name
	}
	spec := typestate.CallSpec{
		CallID: string(ids.Invocation), ModelRef: model, ActionMode: mode, ExecutionPattern: pattern, NormalizerID: normalizer,
		MutationPolicyDigest: l.policyDigest(turn, nil), GovernancePolicyDigest: l.governanceDigest(),
		ToolRenderProtocolDigest: typestate.Digest(renders), ReminderQueuePolicyDigest: typestate.Digest(queues),
		StateViewPolicyDigest: typestate.Digest(views + "\n" + l.View), DecompositionPolicyDigest: typestate.Digest(decomposition),
	}
	e.Rows = typestate.Evidence{
		CallSpec: spec,
		ReminderQueue: []typestate.Queue{{
			QueueID: inbound, ReducedDigest: typestate.Digest(fmt.Sprint("event ", turn.Event)), PolicyDigest: spec.ReminderQueuePolicyDigest,
		}},
	}
	if ids.Session != "" {
		e.Rows.SessionRefs = []string{"session://" + string(ids.Session)}
	}
	if ids.Invocation != "" {
		e.Rows.TrajectoryRefs = []string{"invocation://" + string(ids.Invocation)}
	}
	return e, asked, nil
}

// governanceDigest is the digest of the tools that the agent may call.
func (l Loop) governanceDigest() string {
	var allowed strings.Builder
	for _, t := range l.Executor.Tools.Tools() {
		fmt.Fprintf(&allowed, "%q %t %q %t %s %q\n", t.Name, t.Mutating, t.Risk, t.Idempotent, t.SchemaDigest(), t.Description)
	}
	return typestate.Digest(allowed.String())
}

// policyDigest is the digest of the current mutation policy: over the rules that match the turn's mutating calls today, and the risks and the
// schemas that their tools have today. Rules that match no call of the turn do not count.
func (l Loop) policyDigest(turn core.Turn, calls []core.Call) string {
	type covered struct {
		Tool   string    `json:"tool"`
		Schema string    `json:"schema"` // "" = the tool no longer exists
		Risk   core.Risk `json:"risk"`
		Rule   core.Rule `json:"rule"`
	}
	all := make([]covered, len(calls))
	for i, c := range calls {
		t, ok := l.Executor.Tools.Get(c.Tool)
		if ok {
			c.Risk, all[i].Schema = t.CallRisk(), t.SchemaDigest()
		}
		all[i].Tool, all[i].Risk, all[i].Rule = c.Tool, c.Risk, l.Policy(turn, c)
	}
	text, _ := json.Marshal(all) // texts, numbers and flags: can't fail
	return typestate.Digest(string(text))
}

// addToView adds messages to the view.
func (e *evidence) addToView(msgs ...core.Message) {
	for _, m := range msgs {
		text, err := json.Marshal(m)
		if err != nil {
			text = []byte(err.Error()) // a malformed message; it was refused earlier
		}
		e.View = typestate.Digest(e.View + "\n" + string(text))
	}
}

// setView records what the model was shown.
func (e *evidence) setView(session []string, length int) {
	thread := strings.Join(session, " ")
	if thread == "" {
		thread = "thread"
	}
	e.Rows.StateViews = []typestate.StateView{{
		ViewID: thread, ViewDigest: typestate.Digest(fmt.Sprint(length, "\n", e.View)), PolicyDigest: e.Rows.CallSpec.StateViewPolicyDigest,
		SourceRefs: []string{fmt.Sprintf("%s#0-%d", thread, length)},
	}}
}

// addRequests adds the model's answer: a request for each call, with an id that is unique in the turn. hide masks the ids and tool
// names that the model wrote.
func (e *evidence) addRequests(reply core.Message, tools *tool.Registry, caller string, hide func(string) string) {
	e.addToView(reply)
	for _, c := range reply.ToolCalls {
		row := typestate.ToolRequest{ToolCallID: e.unique(hide(c.ID)), ToolName: hide(strings.ToValidUTF8(c.Name, "\ufffd")), CallerID: caller}
		if strings.TrimSpace(row.ToolName) == "" {
			row.ToolName = "(none)"
		}
		if t, ok := tools.Get(c.Name); ok {
			row.SchemaDigest = t.SchemaDigest()
		}
		e.Rows.ToolRequests = append(e.Rows.ToolRequests, row)
	}
	e.Rows.ProtocolState = typestate.ProtocolState{StopReason: "end_turn"}
	if len(reply.ToolCalls) > 0 {
		e.Rows.ProtocolState = typestate.ProtocolState{StopReason: "tool_use", ContinuationAllowed: true}
	}
}

// unique gives the model's id, or one made from it if it is blank or was used before in this turn: local models reuse ids.
func (e *evidence) unique(id string) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(e.Rows.ToolRequests, func(r typestate.ToolRequest) bool { return r.ToolCallID == id })
	}
	id = strings.TrimSpace(strings.ToValidUTF8(id, "\ufffd")) // as it will be stored
	if id == "" {
		id = "call"
	}
	for n, base := 2, id; taken(id); n++ {
		id = fmt.Sprint(base, "#", n)
	}
	return id
}

// addResult adds the result of the first request that has none: results are added in the order of the requests. row is the
// result as the conversation and the model get it; failure is the message of a failed call.
func (e *evidence) addResult(row core.Message, r core.ToolResult, disposition, failure string) {
	e.addToView(row)
	at := len(e.Rows.ToolResults)
	if at >= len(e.Rows.ToolRequests) {
		return // there is no request of it: what is open stays open
	}
	id, digest := e.Rows.ToolRequests[at].ToolCallID, typestate.Digest(r.Content)
	result := typestate.ToolResult{ToolCallID: id, Status: typestate.OK, ResultDigest: digest}
	if r.Category != "" {
		result.Status, result.ErrorCode, result.ErrorMessage = typestate.Failed, string(r.Category), failure
		retryable := core.BucketOf(r.Category) == core.RetryableTransient
		result.Retryable = &retryable
	}
	e.Rows.ToolResults = append(e.Rows.ToolResults, result)
	e.Rows.ToolUse = append(e.Rows.ToolUse, typestate.ToolUse{ToolCallID: id, Disposition: disposition, ResultDigest: digest})
	e.Rows.ToolRender = append(e.Rows.ToolRender, typestate.ToolRender{
		ToolCallID: id, OperatorPayloadDigest: digest, ReminderRenderDigest: typestate.Digest(row.Content.String()), InjectionPoint: injected,
		PolicyDigest: e.Rows.CallSpec.ToolRenderProtocolDigest,
	})
}

// linkApproval links the turn to the approval of a call, and so to its entries in the audit log.
func (e *evidence) linkApproval(a *pendingCall) {
	if e != nil && a != nil {
		e.Rows.TrajectoryRefs = append(e.Rows.TrajectoryRefs, "approval://"+string(a.Approval))
	}
}

// prefix is what the turn did before the call that is to run now, without that call and those after it.
func (e *evidence) prefix() typestate.Evidence {
	if e == nil {
		return typestate.Evidence{}
	}
	rows := e.Rows
	rows.ToolRequests = rows.ToolRequests[:min(len(rows.ToolResults), len(rows.ToolRequests))]
	return rows
}
