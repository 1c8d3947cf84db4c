// Package schedule runs due tasks: it expires approvals and prunes ended data.
//
// A task is a row with a due time. Claiming it postpones it by a lease, so after a crash it is due again. Every handler may
// therefore see a task twice, and both are no-ops the second time. An approval's task is made with the approval and removed with
// its decision, in the same transactions; this package only runs it.
package schedule

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/core"
)

// Tasks is what falls due, as a store keeps it. Opening an approval with a deadline adds its task, leaving Open removes it.
type Tasks interface {
	// AddTask stores a task that is due after the wait, unless its key is known.
	AddTask(ctx context.Context, t core.Task, wait time.Duration) error
	// ClaimTasks gives tasks that are due and moves each on by the lease, so that a crash brings it back.
	ClaimTasks(ctx context.Context, limit int, lease time.Duration) ([]core.Task, error)
	// EndTask removes a task or, with a wait above zero, makes it due again after it.
	EndTask(ctx context.Context, key string, wait time.Duration) error
	// Prune removes what ended longer ago than age: events, posts that were sent or dropped, decided approvals with their intents,
	// evidence, leases, used tokens and values whose lifetime is over. What an open approval or a paused invocation needs is spared, and
	// so are dead letters, the audit log and sessions.
	Prune(ctx context.Context, age time.Duration) (removed int, err error)
}

// Options are a Clock's parts and settings.
type Options struct {
	Store Tasks
	// Expire expires an approval. A repeat is no error; store_busy means that a click that came in time still waits.
	Expire    func(ctx context.Context, id core.ApprovalID) error
	Retention time.Duration // what ended longer ago is pruned; 0 = nothing ever
	Poll      time.Duration
	Expired   func() // called after an expiry: a signal is waiting; may be nil
	Log       *slog.Logger
}

// Numbers that have a reason.
const (
	lease      = time.Minute // far above what a task takes
	batch      = 20
	again      = time.Second // after a task that failed or was put off
	pruneEvery = time.Hour
	pruneKey   = "prune"
)

// Clock runs tasks; see the package comment.
type Clock struct{ Options }

// New makes a clock.
func New(o Options) *Clock {
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	if o.Expired == nil {
		o.Expired = func() {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Clock{o}
}

// Run runs what falls due until ctx ends. It never fails: a store that can't be reached is tried again.
func (c *Clock) Run(ctx context.Context) error {
	trouble := core.NewErrorLog(c.Log, "looking for due tasks")
	tick := time.NewTicker(c.Poll)
	defer tick.Stop()
	for added := false; ; {
		if !added && c.Retention > 0 {
			added = c.Store.AddTask(ctx, core.Task{Key: pruneKey, Kind: pruneKey}, 0) == nil
		}
		if err := c.Due(ctx); ctx.Err() == nil {
			trouble.Report(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Due runs everything that is due now.
func (c *Clock) Due(ctx context.Context) error {
	for {
		tasks, err := c.Store.ClaimTasks(ctx, batch, lease)
		if err != nil {
			return err
		}
		for _, t := range tasks {
			if err := c.run(ctx, t); err != nil {
				return err
			}
		}
		if len(tasks) < batch {
			return nil
		}
	}
}

func (c *Clock) run(ctx context.Context, t core.Task) error {
	next := time.Duration(0)
	switch t.Kind {
	case core.TaskExpire:
		switch err := c.Expire(ctx, core.ApprovalID(t.Subject)); {
		case core.CategoryOf(err) == core.StoreBusy:
			next = again
		case err != nil:
			c.Log.Error("expiring an approval failed; retrying", "approval", t.Subject, "category", core.CategoryOf(err), "err", err)
			next = again
		default:
			c.Expired()
		}
	case pruneKey:
		if c.Retention <= 0 {
			break // the task is of a process that keeps things for a time; this one keeps them for ever
		}
		next = pruneEvery
		n, err := c.Store.Prune(ctx, c.Retention)
		if err != nil {
			c.Log.Warn("pruning failed; retrying", "category", core.CategoryOf(err), "err", err)
		} else if n > 0 {
			c.Log.Info("pruned", "rows", n)
		}
	default:
		c.Log.Warn("dropped a task of an unknown kind", "kind", t.Kind, "key", t.Key)
	}
	return c.Store.EndTask(ctx, t.Key, next)
}
