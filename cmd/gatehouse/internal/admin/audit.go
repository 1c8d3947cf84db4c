package admin

import (
	"context"
	"fmt"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

type approvalsLogCmd struct {
	cli.JSONFlag
	Verify bool  `help:"Check that no entry was changed, inserted or removed; exit with 1 if one was."`
	After  int64 `placeholder:"SEQ" help:"Only entries after this number."`
}

// auditPage is how many entries are read at a time.
const auditPage = 500

// Run prints the log, or verifies it and prints the result.
func (c approvalsLogCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
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
		return a.PrintJSON(cli.List(all, viewAudit))
	}
	return a.Table("The audit log is empty.", []string{"ENTRY", "TIME", "APPROVAL", "ACTION", "ACTOR", "DETAIL"}, cli.List(all, func(e core.AuditEntry) []string {
		return []string{fmt.Sprint(e.Seq), cli.Stamp(e.At), string(e.Approval), e.Action, e.Actor, e.Detail}
	}))
}

// verify always checks the whole log, because each entry's hash depends on those before it.
func (c approvalsLogCmd) verify(ctx context.Context, a *cli.App, store *storage.Store) error {
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
		if err := a.PrintJSON(verdict); err != nil {
			return err
		}
	} else if broken == nil {
		a.PrintLine("The audit log is intact: %d entries, last hash %s.", n, cli.Cell(prev))
	}
	return cli.Bad(broken)
}

// eachPage reads the log page by page, starting after an entry.
func eachPage(ctx context.Context, store *storage.Store, after int64, do func([]core.AuditEntry) error) error {
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
