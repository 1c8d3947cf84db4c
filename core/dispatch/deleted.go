package dispatch

import (
	"context"

	"gatehouse/core"
)

// wasDeleted is why a turn ended whose message was deleted.
const wasDeleted = "the message was deleted"

// deleted ends the paused turn of a message that was deleted. The store has cancelled what it waited for. Nothing is
// posted, but that the author alone is told what a call has done that had begun.
func (t *turn) deleted(ctx context.Context) (*core.Finish, error) {
	f := &core.Finish{End: core.End{Kind: core.EndApplied, Cause: "the message's turn was ended"}}
	paused, err := t.endingTurn(ctx, t.claim.Event.Invocation, "")
	if err != nil || paused == nil {
		return f, err
	}
	why := core.Wrap(core.ApprovalCanceled, errDeleted, "Cancelled because its message was deleted.")
	abandoned, done, err := t.abandon(ctx, paused, why, true)
	if err != nil {
		return nil, err
	}
	abandoned.Cancel, abandoned.Reason = true, wasDeleted
	f.Abandoned, f.Posts = []core.Abandon{abandoned}, done
	return f, nil
}
