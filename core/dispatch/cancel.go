package dispatch

import (
	"context"
	"fmt"
	"strings"

	"gatehouse/core"
)

// cancel cancels an approval of the conversation that the person may withdraw. which is "all", the beginning of an id,
// or "": the only one. If there are several, it lists them.
func (t *turn) cancel(ctx context.Context, which string) (string, error) {
	open, err := t.openCalls(ctx)
	if err != nil {
		return "", err
	}
	who, err := t.withGroups(ctx, t.claim.Event.Actor, open...)
	if err != nil {
		return "", err
	}
	var may, chosen []core.Approval
	for _, a := range open {
		if !a.MayWithdraw(who) {
			continue
		}
		may = append(may, a)
		if which == "all" || strings.HasPrefix(string(a.ID), which) {
			chosen = append(chosen, a)
		}
	}
	switch {
	case len(may) == 0:
		return "There is no open approval that you can cancel.", nil
	case len(chosen) == 0:
		return fmt.Sprintf("No approval that you can cancel begins with %s.\n%s", which, list(may)), nil
	case len(chosen) > 1 && which != "all":
		return "Several requests wait for an approval.\n" + list(chosen), nil
	}
	ids := make([]core.ApprovalID, len(chosen))
	for i, a := range chosen {
		ids[i] = a.ID
	}
	n, err := t.Approvals.Cancel(ctx, ids, who)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Approvals cancelled: %d.", n), nil
}

// list lists approvals with ids that are long enough to tell them apart, and says how to cancel one.
func list(all []core.Approval) string {
	length := distinct(all)
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "• %s: %s (asked by %s)\n", a.ID[:min(length, len(a.ID))], a.Call.Summary, a.Requester.Called())
	}
	return b.String() + "Write !cancel and the id of one of them, or !cancel all."
}

// shortest is the shortest beginning of an id that is shown.
const shortest = 8

// distinct returns how much of the approvals' ids tells them apart.
func distinct(all []core.Approval) int {
	for length := shortest; ; length++ {
		seen, longer := map[core.ApprovalID]bool{}, false
		for _, a := range all {
			seen[a.ID[:min(length, len(a.ID))]] = true
			longer = longer || len(a.ID) > length
		}
		if len(seen) == len(all) || !longer {
			return length
		}
	}
}
