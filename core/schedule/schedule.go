// Package schedule runs due tasks: it expires approvals, reminds of them and escalates them, and prunes ended data.
//
// A task is a row with a due time. A claim delays it by RetryAfter, so it is due again after a crash. Every handler may
// therefore run twice for a task; all handlers do nothing the second time. An approval's task is added with the
// approval and removed with its decision, in the same transactions; this package only runs it.
package schedule

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/core"
	"gatehouse/core/retry"
)

// Tasks are the store's scheduled tasks, Prune and PruneSessions. The store adds an approval's task with its deadline,
// and removes it with the decision.
type Tasks interface {
	// AddTask stores a task that is due after wait. One whose key is known is due no later than that, and else left as
	// it is.
	AddTask(ctx context.Context, t core.Task, wait time.Duration) error
	// ClaimTasks returns due tasks and delays each by after, so that it is returned again after a crash.
	ClaimTasks(ctx context.Context, limit int, after time.Duration) ([]core.Task, error)
	// EndTask removes a task, or delays it if wait is positive.
	EndTask(ctx context.Context, key string, wait time.Duration) error
	// Prune removes what ended more than age ago: events, posts that were sent or dropped, decided approvals with their
	// intents, evidence, leases, used tokens, and values whose lifetime is over. It keeps what an open approval or a
	// paused invocation needs, dead letters, the audit log and sessions.
	Prune(ctx context.Context, age time.Duration) (removed int, err error)
	// PruneSessions goes on with a round of removing sessions whose last word is older than age, and all that was said
	// in them; see core.Pruning. Each call is a short transaction.
	PruneSessions(ctx context.Context, age time.Duration, at core.Pruning) (core.Pruning, error)
}

// Approvals are what most tasks are about; see approvals.Service. Repeating a call succeeds, and does nothing.
type Approvals interface {
	// Expire expires an approval. store_busy means that a click before the deadline is not counted yet.
	Expire(ctx context.Context, id core.ApprovalID) error
	// Remind reminds of an open approval, and tells the people to whom it was escalated; key tells the reminders of an
	// approval apart.
	Remind(ctx context.Context, id core.ApprovalID, occasion core.Occasion, key string) error
}

// Nudger looks at the store now instead of at its next poll. Nudge never blocks.
type Nudger interface{ Nudge() }

// Options are a Clock's parts and settings.
type Options struct {
	Store     Tasks
	Approvals Approvals
	Turns     Nudger        // is nudged after an expiry, which has stored a signal; nil: nobody is
	Posts     Nudger        // is nudged after a reminder, which has stored posts; nil: nobody is
	Retention time.Duration // what ended longer ago is pruned; 0: nothing
	Sessions  time.Duration // sessions whose last word is older are pruned; 0: none
	Poll      time.Duration // 0: 1 s
	// after which a claimed task is claimed again, because its process has crashed; 0: a minute, much longer than a
	// task runs
	RetryAfter time.Duration
	Log        *slog.Logger // nil: logs are discarded
}

// Limits and intervals.
const (
	batch      = 20
	again      = time.Second // after a task failed or was delayed
	pruneEvery = time.Hour
	pruneKey   = "prune"

	// A round of pruning sessions is made of slices. The task is claimed for each, so that one process at a time does
	// it, and approvals expire in between. Between two transactions of a slice others have idle times as much time, but
	// a slice at most.
	sessionsKey = "prune_sessions"
	slice       = time.Second
	idle        = 15
	slices      = 100 * time.Millisecond // between two slices
)

// Clock runs tasks; see the package comment.
type Clock struct {
	Options
	pruning core.Pruning // how far the round has come that this process makes
}

// New returns a clock.
func New(o Options) *Clock {
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	if o.RetryAfter <= 0 {
		o.RetryAfter = time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Clock{Options: o}
}

// Run runs due tasks until ctx ends. It never fails: a store that can't be reached is tried again.
func (c *Clock) Run(ctx context.Context) error {
	errorLog := retry.NewLog(c.Log, "looking for due tasks")
	for added := (time.Time{}); ; {
		// Again and again, since a clock that was set back would delay the tasks by as much.
		if time.Since(added) > pruneEvery && c.addPruning(ctx) == nil {
			added = time.Now()
		}
		if err := c.Due(ctx); ctx.Err() == nil {
			errorLog.Report(err)
		}
		select {
		case <-time.After(retry.UntilPoll(c.Poll)):
		case <-ctx.Done():
			return nil
		}
	}
}

// addPruning makes the tasks of pruning due, where this process is to prune.
func (c *Clock) addPruning(ctx context.Context) error {
	for key, age := range map[string]time.Duration{pruneKey: c.Retention, sessionsKey: c.Sessions} {
		if age <= 0 {
			continue
		}
		if err := c.Store.AddTask(ctx, core.Task{Key: key, Kind: key}, 0); err != nil {
			return err
		}
	}
	return nil
}

// Due runs all tasks that are due now.
func (c *Clock) Due(ctx context.Context) error {
	for {
		tasks, err := c.Store.ClaimTasks(ctx, batch, c.RetryAfter)
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
		switch err := c.Approvals.Expire(ctx, core.ApprovalID(t.Subject)); {
		case core.CategoryOf(err) == core.StoreBusy:
			next = again
		case err != nil:
			c.Log.Error("expiring an approval failed; retrying", "approval", t.Subject,
				"category", core.CategoryOf(err), "err", err)
			next = again
		default:
			nudge(c.Turns)
		}
	case core.TaskRemind, core.TaskEscalate:
		occasion := core.Reminder
		if t.Kind == core.TaskEscalate {
			occasion = core.Escalated
		}
		if err := c.Approvals.Remind(ctx, core.ApprovalID(t.Subject), occasion, t.Key); err != nil {
			c.Log.Error("reminding of an approval failed; retrying", "approval", t.Subject,
				"category", core.CategoryOf(err), "err", err)
			next = again
			break
		}
		nudge(c.Posts)
	case pruneKey:
		if c.Retention <= 0 {
			next = pruneEvery // another process, with a retention, added the task; this one prunes nothing
			break
		}
		next = pruneEvery
		n, err := c.Store.Prune(ctx, c.Retention)
		if err != nil {
			c.Log.Warn("pruning failed; retrying", "category", core.CategoryOf(err), "err", err)
		} else if n > 0 {
			c.Log.Info("pruned", "rows", n)
		}
	case sessionsKey:
		next = c.pruneSessions(ctx)
	default:
		c.Log.Warn("dropped a task of an unknown kind", "kind", t.Kind, "key", t.Key)
	}
	return c.Store.EndTask(ctx, t.Key, next)
}

// pruneSessions makes a slice of a round and returns when the next is due.
func (c *Clock) pruneSessions(ctx context.Context) time.Duration {
	if c.Sessions <= 0 {
		return pruneEvery // another process added the task; this one prunes no sessions
	}
	for end := time.Now().Add(slice); ctx.Err() == nil && time.Now().Before(end); {
		began := time.Now()
		at, err := c.Store.PruneSessions(ctx, c.Sessions, c.pruning)
		before := c.pruning
		c.pruning = at
		switch {
		case err != nil && at != before && at.Stage != core.PruneDone: // past what failed
			c.Log.Warn("pruning a session failed; going past it", "category", core.CategoryOf(err), "err", err)
			return slice
		case err != nil:
			c.Log.Warn("pruning sessions failed; retrying", "category", core.CategoryOf(err), "err", err)
			return pruneEvery
		case at.Stage == core.PruneDone:
			return pruneEvery
		}
		select {
		case <-time.After(min(idle*time.Since(began), slice)):
		case <-ctx.Done():
		}
	}
	return slices
}

func nudge(n Nudger) {
	if n != nil {
		n.Nudge()
	}
}
