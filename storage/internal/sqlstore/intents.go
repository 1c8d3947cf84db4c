package sqlstore

import (
	"context"
	"fmt"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// BeginIntent commits that a tool is about to run, marks the approval as begun and redraws its cards. If there is an
// intent already, it returns that one with Fresh false and changes nothing. After a crash before FinishIntent, the next
// attempt finds the intent without a result: the outcome is unknown. The same holds if the answer to this commit is
// lost; the tool does not run then. It fails with approval_missing unless the call is approved, approval_mismatch if
// the approval is for another call or is not the one that the audit log records, unsupported if that can't be told, and
// lease_lost if the claim no longer holds its queue.
func (s *Store) BeginIntent(ctx context.Context, c core.Claim, i core.Intent) (core.IntentRecord, error) {
	return write(ctx, s, func(t *Tx) (rec core.IntentRecord, err error) {
		if err := t.fence(c); err != nil {
			return rec, err
		}
		a, missing := t.lockedApproval(i.Approval)
		known, err := t.intent(i.Approval)
		if err != nil {
			return rec, err
		}
		if known != nil {
			return *known, matches(i, known.Intent)
		}
		if core.CategoryOf(missing) == core.NotFound || missing == nil && a.State != core.Approved {
			return rec, core.Errorf(core.ApprovalMissing, "The tool %s must not run: its call is not approved.", i.Tool)
		}
		if missing != nil {
			return rec, missing
		}
		if err := matches(i,
			core.Intent{
				Approval: a.ID, Invocation: a.Invocation, Tool: a.Call.Tool, Digest: a.Call.Digest,
			}); err != nil {
			return rec, err
		}
		if _, err := t.checkRecorded(a, nil); err != nil {
			return rec, err
		}
		if err := t.checkUse(a.Use); err != nil {
			return rec, err
		}
		stopped, err := t.exists(`select 1 from queues where queue_key = $1 and stop in (event, -event)`, c.Key)
		if err != nil {
			return rec, err
		}
		if stopped {
			return rec, core.Errorf(core.Stopped, "Stopped.")
		}
		if a.Use != nil {
			t.audit(a.Use.Of, audit.Used, c.Owner, fmt.Sprintf("by %s, %d of %d", a.ID, a.Use.N, a.Use.Uses))
		}
		return core.IntentRecord{Intent: i, Fresh: true, BegunAt: t.Now}, t.storeIntent(c, i)
	})
}

// checkUse refuses a call whose approval is not remembered any more: since it was allowed, somebody has stopped that,
// the time is over, or as many calls have begun as it allows, says the audit log.
func (t *Tx) checkUse(u *core.Use) error {
	if u == nil {
		return nil
	}
	a, err := t.lockedApproval(u.Of)
	if err != nil && core.CategoryOf(err) != core.NotFound {
		return err
	}
	begun := 0
	const count = `select count(*) from audit where approval = $1 and action = $2`
	if _, err := t.Row([]any{&begun}, count, u.Of, audit.Used); err != nil {
		return err
	}
	if err != nil || a.Forgotten() || !t.Now.Before(u.Until) || begun >= u.Uses {
		return core.Errorf(core.ApprovalMissing,
			"Nothing was done: the approval that allowed this call is not remembered any more. Ask again.")
	}
	return nil
}

func matches(wanted, given core.Intent) error {
	if wanted != given {
		return core.Errorf(core.ApprovalMismatch, "The approval %s was given for another call than this one of %s.",
			wanted.Approval, wanted.Tool)
	}
	return nil
}

func (t *Tx) storeIntent(c core.Claim, i core.Intent) error {
	if _, err := t.Exec(`insert into intents (approval, invocation, tool, digest, begun_at)
		values ($1, $2, $3, $4, $5)`, i.Approval, i.Invocation, i.Tool, i.Digest, t.Now); err != nil {
		return err
	}
	if _, err := t.Exec(`update approvals set begun = true where id = $1`, i.Approval); err != nil {
		return err
	}
	t.audit(i.Approval, "begun", c.Owner, t.auditedCall(i.Approval, i.Tool, i.Digest))
	t.redrawRun(i.Approval)
	return nil
}

// KeepIntent commits how far a begun call is: the next attempt to begin it finds it, and goes on. It fails with
// not_found if there is no such call, or it has a result, and with lease_lost if the claim no longer holds its queue.
func (s *Store) KeepIntent(ctx context.Context, c core.Claim, id core.ApprovalID, progress string) error {
	return s.fenced(ctx, c, func(t *Tx) error {
		n, err := t.Exec(`update intents set progress = $1 where approval = $2 and ended_at = 0`, progress, id)
		if err == nil && n == 0 {
			err = core.Errorf(core.NotFound, "No call of the approval %s runs.", id)
		}
		return err
	})
}

// FinishIntent commits a tool's result and redraws the approval's cards; a second result is ignored. It fails with
// not_found if no intent was begun, and with lease_lost if the claim no longer holds its queue.
func (s *Store) FinishIntent(ctx context.Context, c core.Claim, id core.ApprovalID, r core.ToolResult) error {
	return s.fenced(ctx, c, func(t *Tx) error {
		known, err := t.intent(id)
		if err != nil {
			return err
		}
		if known == nil {
			return core.Errorf(core.NotFound, "No tool was started for the approval %s.", id)
		}
		if known.Result != nil {
			return nil
		}
		return t.storeResult(id, c.Owner, r)
	})
}

func (t *Tx) storeResult(id core.ApprovalID, by string, r core.ToolResult) error {
	if _, err := t.Exec(`update intents set ended_at = $1, content = $2, category = $3, progress = ''
		where approval = $4`, t.Now, asJSON{r.Content}, r.Category, id); err != nil {
		return err
	}
	action := "settled"
	if r.Category == core.OutcomeUnknown {
		action = "unknown"
	}
	t.audit(id, action, by, t.auditedResult(id, r))
	t.redrawRun(id)
	return nil
}

// endCalls records what became of the approved calls of an invocation whose pause has ended. One that was begun has no
// result and gets none any more: its outcome is unknown, unless it goes on after the next pause, with the progress that
// it kept. One that was not begun never runs, for the reason in why. by is for the audit log.
func (t *Tx) endCalls(id core.InvocationID, by string, why core.ToolResult, pausedAgain bool) error {
	left, err := List(t, readApproval, `
		select `+approvalColumns+` from approvals where invocation = $1 and state = 'approved'
		and not exists (select 1 from intents i where i.approval = approvals.id and (i.ended_at > 0 or $2
		and i.progress <> '')) order by seq`+t.sql.forUpdate(), id, pausedAgain)
	if err != nil {
		return err
	}
	for _, a := range left {
		begun, err := t.exists(`select 1 from intents where approval = $1`, a.ID)
		if err != nil {
			return err
		}
		if begun {
			err = t.storeResult(a.ID, by,
				core.ToolResult{Content: core.UnknownOutcome(a.Call.Tool).Message, Category: core.OutcomeUnknown})
		} else {
			err = t.storeNotRun(a, by, why)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// storeNotRun stores an intent that never began; BeginIntent returns it from now on.
func (t *Tx) storeNotRun(a core.Approval, by string, why core.ToolResult) error {
	if why.Category == "" {
		why = core.ToolResult{Content: "Its turn ended before it could run.", Category: core.ApprovalMissing}
	}
	if _, err := t.Exec(`insert into intents (approval, invocation, tool, digest, begun_at, ended_at, content, category)
		values ($1, $2, $3, $4, 0, $5, $6, $7)`,
		a.ID, a.Invocation, a.Call.Tool, a.Call.Digest, t.Now, asJSON{why.Content}, why.Category); err != nil {
		return err
	}
	t.audit(a.ID, audit.NotRun, by, t.auditedResult(a.ID, why))
	t.redrawRun(a.ID)
	return nil
}

// LoadIntent returns the intent of an approval, as it is stored; nil, nil if there is none.
func (s *Store) LoadIntent(ctx context.Context, id core.ApprovalID) (*core.IntentRecord, error) {
	return read(ctx, s, func(t *Tx) (*core.IntentRecord, error) { return t.intent(id) })
}

func (t *Tx) intent(id core.ApprovalID) (*core.IntentRecord, error) {
	i, found, err := one(t, readIntent, `select `+intentColumns+` from intents where approval = $1`, id)
	if err != nil || !found {
		return nil, err
	}
	return &i, nil
}

// callOf returns the intent of an approval's call; only an approved one has any.
func (t *Tx) callOf(a core.Approval) (*core.IntentRecord, error) {
	if a.State != core.Approved {
		return nil, nil
	}
	return t.intent(a.ID)
}

const intentColumns = `approval, invocation, tool, digest, begun_at, ended_at, content, category, progress`

func readIntent(scan func(...any) error) (i core.IntentRecord, err error) {
	var r core.ToolResult
	err = scan(&i.Approval, &i.Invocation, &i.Tool, &i.Digest, timestamp{&i.BegunAt}, timestamp{&i.EndedAt},
		fromJSON{&r.Content}, &r.Category, &i.Progress)
	if !i.EndedAt.IsZero() {
		i.Result = &r
	}
	return i, err
}
