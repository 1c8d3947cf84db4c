package dispatch

import (
	"context"
	"sync"

	"gatehouse/core"
)

// ledger stores the executor's intents and results, fenced by the turn's claim. It also delays a stop while a mutating
// tool runs: it ends the turn's context once no mutating tool runs.
type ledger struct {
	turn *turn
	told context.Context // ends by a stop at once, also while a tool runs
	tell context.CancelFunc

	mu      sync.Mutex
	busy    bool            // an intent is committed, and its result is not
	stopped error           // why the turn is to end; nil: it goes on
	refused core.ToolResult // why the approved call was not begun
	doubt   bool            // the outcome of a call is unknown
}

var _ core.Ledger = (*ledger)(nil)

// Approval loads an approval.
func (l *ledger) Approval(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	return l.turn.Store.LoadApproval(ctx, id)
}

// Recorded loads an approval, and fails where the audit log records another one.
func (l *ledger) Recorded(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	return l.turn.Store.RecordedApproval(ctx, id)
}

// Remembered returns the next use of an approval of the same call in this conversation that its own rule and today's
// remember: the rules are the same, as is the tool's schema, its call has begun, and those who approved it could
// approve it for this requester today. nil: there is none.
func (l *ledger) Remembered(ctx context.Context, call core.Call, rule core.Rule) (*core.Use, error) {
	info, _ := core.TurnFrom(ctx)
	found, err := l.turn.Store.ListApprovals(ctx, core.ApprovalFilter{
		States: []core.ApprovalState{core.Approved}, Conversation: l.turn.claim.Event.Conversation,
		Limit: core.MaxRemembered,
	})
	if err != nil {
		return nil, err
	}
	uses := map[core.ApprovalID]int{} // each was made after its approval, which is further down
	for _, a := range found {
		if a.Use != nil {
			uses[a.Use.Of]++
			continue
		}
		next := a.NextUse(uses[a.ID], l.turn.Now())
		if next == nil || !a.Remembers(call, rule, info.Actor) {
			continue
		}
		_, intent, err := l.turn.Store.Recorded(ctx, a.ID)
		switch core.CategoryOf(err) {
		case "":
		case core.ApprovalMismatch, core.Unsupported, core.NotFound:
			continue
		default:
			return nil, err
		}
		if intent != nil && !intent.BegunAt.IsZero() {
			return next, nil
		}
	}
	return nil, nil
}

// inDoubt reports whether the outcome of a call is unknown.
func (l *ledger) inDoubt() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doubt
}

// Refuse notes why the resumed call is not begun; the turn's Finish stores it.
func (l *ledger) Refuse(_ core.ApprovalID, r core.ToolResult) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = r
}

// notRun is what was noted, or else r.
func (l *ledger) notRun(r core.ToolResult) core.ToolResult {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused.IsZero() {
		return r
	}
	return l.refused
}

// Begin commits the intent, unless a stop was requested before.
func (l *ledger) Begin(ctx context.Context, i core.Intent) (core.IntentRecord, error) {
	l.mu.Lock()
	if err := l.stopped; err != nil {
		l.mu.Unlock()
		return core.IntentRecord{}, err
	}
	l.busy = true
	l.mu.Unlock()
	rec, err := l.turn.Store.BeginIntent(ctx, l.turn.claim, i)
	if err != nil || rec.Result != nil {
		l.idle()
	}
	return rec, err
}

// Finish commits the result. A lost result would make the outcome unknown, so a busy store is tried again. A stop
// that was said meanwhile ends the turn now: who said it was told that nothing else follows.
func (l *ledger) Finish(ctx context.Context, id core.ApprovalID, r core.ToolResult) error {
	defer l.idle()
	l.mu.Lock()
	l.doubt = r.Category == core.OutcomeUnknown
	l.mu.Unlock()
	err := l.turn.persist(ctx, func(ctx context.Context) error {
		return l.turn.Store.FinishIntent(ctx, l.turn.claim, id, r)
	})
	if err != nil {
		return err
	}
	if why := l.turn.stopAsked(ctx); why != nil {
		l.stop(why)
	}
	return nil
}

// Keep commits how far a begun call is. One that pauses runs no more, so a stop can end the turn.
func (l *ledger) Keep(ctx context.Context, id core.ApprovalID, progress string, pauses bool) error {
	if pauses {
		defer l.idle()
	}
	return l.turn.persist(ctx, func(ctx context.Context) error {
		return l.turn.Store.KeepIntent(ctx, l.turn.claim, id, progress)
	})
}

func (l *ledger) idle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = false
	if l.stopped != nil {
		l.turn.cut(l.stopped)
	}
}

// stop ends the turn now, or once the running tool's result is stored.
func (l *ledger) stop(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = why
	l.tell()
	if !l.busy {
		l.turn.cut(why)
	}
}
