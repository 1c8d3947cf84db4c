package dispatch

import (
	"context"
	"sync"

	"gatehouse/core"
)

// ledger stores the executor's intents and results, fenced by one claim. It also delays a stop while a mutating tool
// runs: it calls cut to end the turn's context once no mutating tool runs.
type ledger struct {
	store   Store
	claim   core.Claim
	persist func(context.Context, func(context.Context) error) error
	cut     context.CancelCauseFunc
	told    context.Context // ends by a stop at once, also while a tool runs
	tell    context.CancelFunc

	mu      sync.Mutex
	busy    bool // an intent is committed, and its result is not
	stopped bool
	refused core.ToolResult // why the approved call was not begun
	doubt   bool            // the outcome of a call is unknown
}

var _ core.Ledger = (*ledger)(nil)

// Approval loads an approval.
func (l *ledger) Approval(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	return l.store.LoadApproval(ctx, id)
}

// Recorded loads an approval, and fails where the audit log records another one.
func (l *ledger) Recorded(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	return l.store.RecordedApproval(ctx, id)
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
	if l.stopped {
		l.mu.Unlock()
		return core.IntentRecord{}, errStopped
	}
	l.busy = true
	l.mu.Unlock()
	rec, err := l.store.BeginIntent(ctx, l.claim, i)
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
	err := l.persist(ctx, func(ctx context.Context) error { return l.store.FinishIntent(ctx, l.claim, id, r) })
	if err != nil {
		return err
	}
	if asked, err := l.store.StopRequested(ctx, l.claim); err == nil && asked {
		l.stop()
	}
	return nil
}

// Keep commits how far a begun call is. One that pauses runs no more, so a stop can end the turn.
func (l *ledger) Keep(ctx context.Context, id core.ApprovalID, progress string, pauses bool) error {
	if pauses {
		defer l.idle()
	}
	return l.persist(ctx, func(ctx context.Context) error { return l.store.KeepIntent(ctx, l.claim, id, progress) })
}

func (l *ledger) idle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = false
	if l.stopped {
		l.cut(errStopped)
	}
}

// stop ends the turn now, or once the running tool's result is stored.
func (l *ledger) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.tell()
	if !l.busy {
		l.cut(errStopped)
	}
}
