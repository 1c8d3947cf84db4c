package agent

import (
	"context"
	"fmt"
	"slices"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
)

// rule returns the policy's rule for a call. One that asks, and remembers approvals, allows a call that was approved lately. A call that is
// requested a second time is always asked.
func (l Loop) rule(ctx context.Context, turn core.Turn, call core.Call, again bool) (core.Rule, error) {
	rule := l.Policy(turn, call)
	if rule.Verdict != core.VerdictAsk || rule.Remember <= 0 || again || turn.Remembered == nil {
		return rule, nil
	}
	before, ok, err := turn.Remembered(ctx, call, rule)
	if err != nil || !ok {
		return rule, err
	}
	rule.Verdict, rule.Why = core.VerdictAllow, fmt.Sprintf("The same call was approved here at %s (approval %s), which is remembered for %s.",
		before.DecidedAt.UTC().Format("2006-01-02 15:04 MST"), before.ID, rule.Remember)
	return rule, nil
}

// asked describes what the first call without a result was requested for, and its place among the calls of the model's answer that need an
// approval.
func (l Loop) asked(turn core.Turn, s graph.State) core.Asked {
	a := core.Asked{Message: request.Get(s)}
	open := calls.Get(s)
	for i, call := range answered.Get(s) {
		t, err := l.Executor.Tools.Find(call)
		if err != nil {
			continue
		}
		bound, err := tool.Bind(t, call)
		if err != nil || l.Policy(turn, bound).Verdict != core.VerdictAsk {
			continue
		}
		a.Of++
		if i == len(answered.Get(s))-len(open) {
			a.Place = a.Of
		}
	}
	if a.Of < 2 || a.Place == 0 {
		a.Place, a.Of = 0, 0
	}
	return a
}

// maxRequest is how many characters of a message a card quotes.
const maxRequest = 300

// beginning returns the beginning of a message.
func beginning(text string) string {
	r := []rune(text)
	if len(r) > maxRequest {
		r = append(slices.Clone(r[:maxRequest-1]), '…')
	}
	return string(r)
}
