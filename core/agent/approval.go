package agent

import (
	"context"
	"encoding/json"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// checkPolicy applies the policy to a mutating call: the call becomes pending or is refused. again: the approval is
// requested a second time because the rules changed; the call is among the evidence's mutating calls already.
func (l Loop) checkPolicy(
	ctx context.Context, s graph.State, call core.ToolCall, bound core.Call, again bool,
) (graph.Update, error) {
	turn, _ := core.TurnFrom(ctx)
	rule, use, err := l.rule(ctx, turn, bound, again)
	if err != nil {
		return nil, err
	}
	if rule.Verdict != core.VerdictAllow && rule.Verdict != core.VerdictAsk {
		return l.answer(s, tool.Failed(core.Errorf(core.PolicyDenied, "%s", rule.Why))), nil
	}
	e := evidenceField.Get(s)
	if e == nil { // the turn began in a build without evidence
		return l.answer(s, tool.Failed(core.Errorf(core.NotAllowed, "There is no record of the earlier steps of this "+
			"turn, so nothing was done. Please ask again."))), nil
	}
	bound.Bound = core.Binding{}
	if again {
		e.linkApproval(pending.Get(s))
	} else {
		e.Mutating = append(e.Mutating, bound)
	}
	e.Rows.CallSpec.MutationPolicyDigest = l.policyDigest(turn, e.Mutating)
	schema, version := "", ""
	if t, ok := l.Executor.Tools.Get(bound.Tool); ok {
		schema, version = t.SchemaDigest(), t.Version
	}
	if bound.Bound, err = e.prefix(e.Rows.CallSpec.MutationPolicyDigest).Ask(schema); err != nil {
		return l.answer(s, tool.Failed(err)), nil
	}
	next := &pendingCall{
		Call: call, Approval: core.ApprovalID(l.NewID()), Bound: bound, Rule: rule, Use: use, Version: version,
		Again: again,
	}
	if before := pending.Get(s); again && version != "" && (before.Version == version || before.Version == "") {
		next.Reread = before.Bound.Bound.Schema != schema
	}
	asked := asks.Get(s)
	if rule.Verdict == core.VerdictAsk {
		if !again || pending.Get(s).Rule.Verdict != core.VerdictAsk {
			asked++
		}
		if next.Asked, err = l.asked(ctx, turn, s, bound, asked); err == nil && again {
			next.Asked.Dropped, err = dropped(ctx, turn, pending.Get(s))
		}
		if err != nil {
			return nil, err
		}
	}
	return graph.Update{evidenceField.Set(e), pending.Set(next), decision.Set(nil), asks.Set(asked)}, nil
}

// ask adds the pending message of harness-chat §8.1, which states what the turn waits for.
func (l Loop) ask(_ context.Context, s graph.State) (graph.Update, error) {
	a := pending.Get(s)
	text := "I need an approval first: " + a.Bound.Summary
	if a.Question != nil {
		text = "I need an answer first: " + a.Question.Text
	}
	if a.Again {
		text = "The rules for this have changed, so I need an approval again: " + a.Bound.Summary
	}
	if a.Reread {
		text = "The description of " + a.Bound.Tool + " is read differently now, so I need an approval again: " +
			a.Bound.Summary
	}
	if who := a.Asked.Dropped; who != "" {
		text += "\n" + who + " had changed the arguments. That change is dropped."
	}
	m := core.Message{Role: core.Assistant, Content: core.Text(text)}
	update := graph.Update{graph.Messages.Add(m)}
	if e := evidenceField.Get(s); e != nil {
		e.addToView(m)
		e.handOver(a)
		update = append(update, evidenceField.Set(e))
	}
	return update, nil
}

// gate suspends the turn. The signal's id is the approval's. The evidence at the suspension is open: the pending call
// has no result.
func (l Loop) gate(ctx context.Context, s graph.State) (graph.Update, error) {
	a := pending.Get(s)
	if e := evidenceField.Get(s); e != nil {
		rows := e.Rows
		rows.ProtocolState = typestate.ProtocolState{StopReason: "pause_turn", ContinuationAllowed: true}
		l.reportEvidence(ctx, e.judged(rows))
	}
	return nil, graph.Suspend(ctx, core.Descriptor{
		SignalID: core.SignalID(a.Approval),
		Approval: &core.ApprovalRequest{
			Call: a.Bound, Rule: a.Rule, Asked: a.Asked, Use: a.Use, Announced: !a.Again, Question: a.Question,
		},
	})
}

// close judges the evidence of the whole turn at its end. Evidence that is not closed is a bug, of ours or of a tool
// that cut its result wrongly: it is logged, and the turn completes.
func (l Loop) close(ctx context.Context, e *evidence) {
	in := e.judged(e.Rows)
	l.reportEvidence(ctx, in)
	report, err := typestate.JoinCheck(in)
	if err == nil && !report.JoinClosed {
		err = core.Errorf(core.Internal, "%v", report.FailureClasses)
	}
	if err != nil {
		l.Executor.Logger().ErrorContext(ctx, "the evidence of a turn is not closed", "category", core.CategoryOf(err),
			"err", err)
	}
}

// reportEvidence gives the evidence to the turn, which stores it. It adds which tools the turn was bound to and which
// there are now; the governance profile is not claimed, so a difference is no fault.
func (l Loop) reportEvidence(ctx context.Context, in typestate.Input) {
	turn, _ := core.TurnFrom(ctx)
	if turn.Progress == nil {
		return
	}
	in.Governance = &typestate.Governance{Provenance: &typestate.Provenance{
		PackageRef:     "gatehouse.tools.v1",
		ExpectedDigest: in.Evidence.CallSpec.GovernancePolicyDigest,
		BoundDigest:    l.governanceDigest(),
	}}
	if text, err := json.Marshal(in); err == nil { // digests and ids: can't fail
		turn.Progress.Evidence(text)
	}
}
