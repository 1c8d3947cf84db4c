package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
)

// rule returns the policy's rule for a call. One that asks, and remembers approvals, allows a call that was approved
// lately and is to be remembered: then use says which approval allows it. A call that is requested a second time is
// always asked.
func (l Loop) rule(
	ctx context.Context, turn core.Turn, call core.Call, again bool,
) (rule core.Rule, use *core.Use, err error) {
	rule = l.Policy.Rule(turn, call)
	if rule.Memory(call.Risk) == (core.Memory{}) || again || turn.Ledger == nil {
		return rule, nil, nil
	}
	if t, ok := l.Executor.Tools.Get(call.Tool); ok {
		call.Bound.Schema = t.SchemaDigest()
	}
	if use, err = turn.Ledger.Remembered(ctx, call, rule); err != nil || use == nil {
		return rule, nil, err
	}
	rule.Verdict = core.VerdictAllow
	rule.Why = fmt.Sprintf("An approval of the same call is remembered here until %s (approval %s, use %d of %d).",
		use.Until.UTC().Format("2006-01-02 15:04 MST"), use.Of, use.N, use.Uses)
	return rule, use, nil
}

// asked describes what the first call without a result was requested for, and its place among the calls of the model's
// answer that people are asked for: those before, and those after it that will be asked for as things are.
func (l Loop) asked(ctx context.Context, turn core.Turn, s graph.State, call core.Call, place int) (core.Asked, error) {
	// a secret that is cut is not known as one any more
	a := core.Asked{Message: beginning(call.Mask(request.Get(s)), maxRequest), Place: place, Of: place}
	for _, other := range calls.Get(s)[1:] {
		bound, err := l.Executor.Tools.Bind(other)
		if err != nil {
			continue
		}
		rule, _, err := l.rule(ctx, turn, bound, false)
		if err != nil {
			return a, err
		}
		if rule.Verdict == core.VerdictAsk {
			a.Of++
		}
	}
	if a.Of < 2 {
		a.Place, a.Of = 0, 0
	}
	return a, nil
}

// How many characters of a message a turn keeps, with secrets masked, and how many of them a card quotes.
const (
	maxKept    = 4000
	maxRequest = 300
)

// beginning returns the beginning of a text, at most so many characters.
func beginning(text string, most int) string {
	r := []rune(text)
	if len(r) > most {
		r = append(slices.Clone(r[:most-1]), '…')
	}
	return string(r)
}

// refuseChanged refuses a call that has not begun, whose arguments an approver has changed, and for which today's
// policy has another rule than for the model's own. For that one the gate compares today's rule with the approval's.
func (l Loop) refuseChanged(turn core.Turn, p *pendingCall, a core.Approval) (result core.ToolResult, refused bool) {
	if a.Requested == "" || a.Begun || a.State != core.Approved ||
		l.Policy.Rule(turn, p.Bound).Same(l.Policy.Rule(turn, a.Call)) {
		return result, false
	}
	result = tool.Failed(core.Errorf(core.PolicyDenied, "The rules changed after the arguments were changed and "+
		"approved, so nothing was done."))
	if turn.Ledger != nil {
		turn.Ledger.Refuse(p.Approval, result)
	}
	return result, true
}

// dropped is who had changed the arguments of a call that is requested a second time, as the model asked for it; "" =
// nobody had.
func dropped(ctx context.Context, turn core.Turn, p *pendingCall) (string, error) {
	a, err := stored(ctx, turn, p)
	if err != nil || a.Requested == "" {
		return "", err
	}
	return mask.EscapeLine(cmp.Or(a.Editor().Name, "An approver")), nil
}

// stored loads the approval of a call; one that does not exist is empty.
func stored(ctx context.Context, turn core.Turn, p *pendingCall) (core.Approval, error) {
	if turn.Ledger == nil {
		return core.Approval{}, nil
	}
	a, err := turn.Ledger.Approval(ctx, p.Approval)
	if err != nil && core.CategoryOf(err) != core.NotFound {
		return a, fmt.Errorf("loading the approval %s: %w", p.Approval, err)
	}
	return a, nil
}
