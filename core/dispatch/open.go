package dispatch

import (
	"context"
	"iter"

	"gatehouse/core"
)

// openPage is how many approvals are held at a time: the arguments of each may be as large as a message.
const openPage = 20

// mostShown is how many open approvals the status shows.
const mostShown = 20

// open are the conversation's open approvals, the latest first. An error ends them.
func (t *turn) open(ctx context.Context) iter.Seq2[core.Approval, error] {
	return func(yield func(core.Approval, error) bool) {
		f := core.ApprovalFilter{
			States: []core.ApprovalState{core.Open}, Conversation: t.claim.Event.Conversation, Limit: openPage,
		}
		for {
			page, err := t.Store.ListApprovals(ctx, f)
			if err != nil {
				yield(core.Approval{}, err)
				return
			}
			for _, a := range page {
				if !yield(a, nil) {
					return
				}
				f.Before = a.ID
			}
			if len(page) < openPage {
				return
			}
		}
	}
}

// openCalls are the conversation's open approvals, the latest first, without the arguments of their calls.
func (t *turn) openCalls(ctx context.Context) (all []core.Approval, err error) {
	for a, err := range t.open(ctx) {
		if err != nil {
			return nil, err
		}
		a.Call.Arguments = nil
		all = append(all, a)
	}
	return all, nil
}
