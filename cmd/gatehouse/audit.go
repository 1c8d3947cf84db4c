package main

import (
	"context"
	"fmt"

	"gatehouse/core"
)

type approvalsLogCmd struct {
	asJSON
	Verify bool  `help:"Check that no entry was changed, added in between or taken out; exit 1 where one was."`
	After  int64 `placeholder:"SEQ" help:"Only entries after this one."`
}

// auditPage is how many entries are read at a time.
const auditPage = 500

// Run prints the log or, to verify, what the check came to.
func (c approvalsLogCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		if c.Verify {
			return c.verify(ctx, a, store)
		}
		var all []core.AuditEntry
		err := eachPage(ctx, store, c.After, func(page []core.AuditEntry) error {
			all = append(all, page...)
			return nil
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(list(all, viewAudit))
		}
		return a.table("The audit log is empty.", []string{"ENTRY", "AT", "APPROVAL", "ACTION", "WHO", "DETAIL"}, list(all, func(e core.AuditEntry) []string {
			return []string{fmt.Sprint(e.Seq), stamp(e.At), string(e.Approval), e.Action, e.Actor, e.Detail}
		}))
	})
}

// verify always checks the whole log: a chain is as good as its beginning.
func (c approvalsLogCmd) verify(ctx context.Context, a *app, store core.Store) error {
	n, prev := 0, ""
	var broken error
	err := eachPage(ctx, store, 0, func(page []core.AuditEntry) error {
		if broken == nil {
			broken = core.VerifyAudit(prev, page)
		}
		n, prev = n+len(page), page[len(page)-1].Hash
		return nil
	})
	if err != nil {
		return err
	}
	if c.JSON {
		verdict := map[string]any{"valid": broken == nil, "entries": n, "last_hash": prev, "error": nil}
		if broken != nil {
			verdict["error"] = core.MessageOf(broken)
		}
		if err := a.json(verdict); err != nil {
			return err
		}
	} else if broken == nil {
		a.say("The audit log is whole: %d entries, the last hash is %s.", n, cell(prev))
	}
	return bad(broken)
}

// eachPage reads the log from an entry on.
func eachPage(ctx context.Context, store core.Store, after int64, do func([]core.AuditEntry) error) error {
	for {
		page, err := store.AuditLog(ctx, after, auditPage)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := do(page); err != nil {
			return err
		}
		after = page[len(page)-1].Seq
	}
}
