package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// evidence is the record of what a turn has done so far, while it runs and while it is paused. It holds ids, names and
// digests; the only text in it is the masked message of a failed call.
type evidence struct {
	Rows     typestate.Evidence `json:"rows"`
	Mutating []core.Call        `json:"mutating,omitempty"` // the calls for which an approval was requested so far
	View     string             `json:"view"`               // a digest over what the turn has added to the conversation

	// Ordered is set once calls of one answer ran at the same time: their results are in the order of the calls.
	Ordered *bool                 `json:"ordered,omitempty"`
	Cut     *typestate.Truncation `json:"cut,omitempty"` // of results that were cut; nil: none was
}

var evidenceField = graph.Field("evidence", graph.Replace[*evidence]())

// The protocols of this loop. The call spec holds their digests: if you change its meaning, change its version.
const (
	renders = "gatehouse.render.v2: a tool's text goes, whole or cut at its limit, into the tool message that " +
		"answers its call"
	queues        = "gatehouse.queue.v1: one event a turn"
	views         = "gatehouse.view.v1: the conversation up to the call of the model"
	decomposition = "gatehouse.decomposition.v2: calls that only read may overlap, others run alone, no agent but " +
		"this one"

	inbound  = "inbound"
	injected = "tool_response"
)

// demoCalls is the normalizer of the demo's commands, the only one that makes calls from free text.
const demoCalls = "gatehouse.demo.commands.v1"

// start begins a turn's evidence: what the turn is bound to, and what it is linked with. It also returns the beginning
// of the message that began the turn.
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
	mode, normalizer := "json", "gatehouse.loop.native-calls.v1" // a vendor's calls, each an action object
	if m, ok := l.Model.(interface{ Normalizer() (mode, id string) }); ok {
		mode, normalizer = m.Normalizer()
	}
	spec := typestate.CallSpec{
		CallID: string(ids.Invocation), ModelRef: cmp.Or(l.ModelRef, l.Name), ActionMode: mode,
		NormalizerID:         normalizer,
		MutationPolicyDigest: l.policyDigest(turn, nil), GovernancePolicyDigest: l.governanceDigest(),
		ToolRenderProtocolDigest: typestate.Digest(renders), ReminderQueuePolicyDigest: typestate.Digest(queues),
		StateViewPolicyDigest:     typestate.Digest(views + "\n" + l.View),
		DecompositionPolicyDigest: typestate.Digest(decomposition),
	}
	e.Rows = typestate.Evidence{
		CallSpec: spec,
		ReminderQueue: []typestate.Queue{{
			QueueID: inbound, ReducedDigest: typestate.Digest(fmt.Sprint("event ", turn.Event)),
			PolicyDigest: spec.ReminderQueuePolicyDigest,
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
		fmt.Fprintf(&allowed, "%q %t %q %t %s %q\n", t.Name, t.Mutating, t.Risk, t.Idempotent, t.SchemaDigest(),
			t.Description)
	}
	return typestate.Digest(allowed.String())
}

// policyDigest is the digest of the current mutation policy: over the rules that match the turn's mutating calls today,
// and the risks and the schemas that their tools have today. Rules that match no call of the turn do not count.
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
			c.Risk, c.Annotations, all[i].Schema = t.CallRisk(), t.Annotations, t.SchemaDigest()
		}
		all[i].Tool, all[i].Risk, all[i].Rule = c.Tool, c.Risk, l.Policy.Rule(turn, c)
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
func (e *evidence) setView(length int) {
	thread := cmp.Or(strings.Join(e.Rows.SessionRefs, " "), "thread")
	e.Rows.StateViews = []typestate.StateView{{
		ViewID: thread, ViewDigest: typestate.Digest(fmt.Sprint(length, "\n", e.View)),
		PolicyDigest: e.Rows.CallSpec.StateViewPolicyDigest,
		SourceRefs:   []string{fmt.Sprintf("%s#0-%d", thread, length)},
	}}
}

// addRequests adds the model's answer: a request for each call, with an id that is unique in the turn. The ids
// and tool names that the model wrote are masked.
func (e *evidence) addRequests(reply core.Message, tools *tool.Registry, caller string) {
	e.addToView(reply)
	taken := map[string]int{} // by id: how many calls came with it
	for _, r := range e.Rows.ToolRequests {
		taken[r.ToolCallID]++
	}
	for _, c := range reply.ToolCalls {
		row := typestate.ToolRequest{
			ToolCallID: unique(taken, mask.Text(c.ID)), ToolName: mask.Text(strings.ToValidUTF8(c.Name, "\ufffd")),
			CallerID: caller,
		}
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

// unique gives the model's id, or one made from it if it is blank or was used before in this turn: local models reuse
// ids.
func unique(taken map[string]int, id string) string {
	base := cmp.Or(strings.TrimSpace(strings.ToValidUTF8(id, "\ufffd")), "call") // as it will be stored
	for id = base; taken[id] > 0; {
		taken[base]++
		id = fmt.Sprint(base, "#", taken[base])
	}
	taken[id]++
	return id
}

// addResult adds the result of the first request that has none: results are added in the order of the requests. row is
// the result as the conversation and the model get it; failure is the message of a failed call.
func (e *evidence) addResult(row core.Message, r core.ToolResult, disposition, failure string) {
	e.addToView(row)
	at := len(e.Rows.ToolResults)
	if at >= len(e.Rows.ToolRequests) {
		return // there is no request of it: what is open stays open
	}
	id, digest := e.Rows.ToolRequests[at].ToolCallID, typestate.Digest(r.Content)
	if r.Whole != "" {
		digest = r.Whole
		e.Cut = &typestate.Truncation{Required: true, Valid: !r.Miscut && (e.Cut == nil || e.Cut.Valid)}
	}
	result := typestate.ToolResult{ToolCallID: id, Status: typestate.OK, ResultDigest: digest}
	if r.Category != "" {
		result.Status, result.ErrorCode, result.ErrorMessage = typestate.Failed, string(r.Category), failure
		result.Retryable = new(core.BucketOf(r.Category) == core.RetryableTransient)
	}
	e.Rows.ToolResults = append(e.Rows.ToolResults, result)
	e.Rows.ToolUse = append(e.Rows.ToolUse,
		typestate.ToolUse{ToolCallID: id, Disposition: disposition, ResultDigest: digest})
	e.Rows.ToolRender = append(e.Rows.ToolRender, typestate.ToolRender{
		ToolCallID: id, OperatorPayloadDigest: digest, ReminderRenderDigest: typestate.Digest(row.Content.String()),
		InjectionPoint: injected,
		PolicyDigest:   e.Rows.CallSpec.ToolRenderProtocolDigest,
	})
}

// linkApproval links the turn to the approval of a call, and so to its entries in the audit log.
func (e *evidence) linkApproval(a *pendingCall) {
	if e != nil && a != nil {
		e.linkApproval(a.Under)
		e.Rows.TrajectoryRefs = append(e.Rows.TrajectoryRefs, "approval://"+string(a.Approval))
	}
}

// overlapped records that calls of one answer ran at the same time, and whether their results are in their order.
func (e *evidence) overlapped(open []core.ToolCall, rows []core.Message) {
	ordered := e.Ordered == nil || *e.Ordered
	for i, row := range rows {
		ordered = ordered && row.ToolCallID == open[i].ID
	}
	e.Ordered = &ordered
}

// handOver records what goes to the people who decide a call or answer it, and how the turn goes on.
func (e *evidence) handOver(p *pendingCall) {
	id := string(p.Approval)
	e.Rows.Handoff = &typestate.Handoff{
		Target:               cmp.Or(strings.Join(p.Rule.Approvers, " "), "nobody"),
		RequiredArtifactRefs: []string{"card://" + id, "call://" + p.Bound.Digest},
		ReturnPathRef:        "signal://" + id,
	}
}

// judged is what a gate judges: rows with the pattern of their calls, and the facts about them. A turn that an earlier
// build began keeps the pattern of its stored spec, unless its calls overlap from now on.
func (e *evidence) judged(rows typestate.Evidence) typestate.Input {
	in := typestate.Input{Evidence: rows, Truncation: e.Cut}
	switch pattern := &in.Evidence.CallSpec.ExecutionPattern; {
	case e.Ordered != nil:
		*pattern = "parallel"
		in.Protocol = &typestate.Protocol{ParallelTransportOrderValid: e.Ordered}
		in.Decomposition = &typestate.Decomposition{Admissible: new(true)} // only calls that read may overlap
	case *pattern != "":
	case len(rows.ToolRequests) == 1:
		*pattern = "single"
	default:
		*pattern = "chain"
	}
	if rows.Handoff != nil {
		in.Handoff = &typestate.HandoffRules{RequireReturnPath: true}
	}
	return in
}

// prefix is what the turn did before the call that is to run now, without that call and those after it. policy is the
// digest of today's mutation policy.
func (e *evidence) prefix(policy string) tool.Prefix {
	if e == nil {
		return tool.Prefix{}
	}
	rows := e.Rows
	rows.ToolRequests = rows.ToolRequests[:min(len(rows.ToolResults), len(rows.ToolRequests))]
	rows.Handoff = nil // it is of that call, or of one that has ended
	return tool.Prefix{Input: e.judged(rows), Policy: policy, Adapters: []string{demoCalls}}
}
