package dispatch

import (
	"context"
	"sync"

	"gatehouse/core"
)

// ledger is the executor's, bound to one claim. It also holds stop off while a mutating tool runs: cut, set by holdLease, ends the
// turn's context once nothing mutating is under way.
type ledger struct {
	store   Store
	claim   core.Claim
	persist func(context.Context, func(context.Context) error) error
	cut     context.CancelCauseFunc

	mu      sync.Mutex
	busy    bool // an intent is committed and its result is not
	stopped bool
}

// core is the ledger as the executor knows it.
func (l *ledger) core() core.Ledger {
	return core.Ledger{Approval: l.store.LoadApproval, Begin: l.begin, Finish: l.finish}
}

// begin commits the intent, unless somebody said stop before.
func (l *ledger) begin(ctx context.Context, i core.Intent) (core.IntentRecord, error) {
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

// finish commits the result; a result that is lost makes the outcome unknown, so a busy store is tried again.
func (l *ledger) finish(ctx context.Context, id core.ApprovalID, r core.ToolResult) error {
	defer l.idle()
	return l.persist(ctx, func(ctx context.Context) error { return l.store.FinishIntent(ctx, l.claim, id, r) })
}

func (l *ledger) idle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = false
	if l.stopped {
		l.cut(errStopped)
	}
}

// stop ends the turn now, or when the running tool's result is stored.
func (l *ledger) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	if !l.busy {
		l.cut(errStopped)
	}
}
