package admin

import (
	"context"
	"fmt"
	"strings"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/core/mask"
	"gatehouse/storage"
)

type approvalsLogCmd struct {
	cli.JSONFlag
	Verify      bool    `help:"Check that no entry was changed, inserted or removed, and that the log agrees with the approvals in the database; exit with 1 if not. Prints the last hash: keep it elsewhere."`
	Expect      *string `placeholder:"HASH" help:"Verify, and exit with 1 unless the log has an entry with this hash, such as the last hash of an earlier check, or is that of a head that --head printed."`
	Head        bool    `help:"Print the sealed head of the log as one line of JSON. Keep it elsewhere, and give it to --expect later."`
	DatabaseKey bool    `help:"Accept entries that were signed with the key in the database, up to the first one that was signed with GATEHOUSE_SECRET_KEY."`
	After       int64   `placeholder:"SEQ" help:"Only entries after this number."`
}

// auditPage is how many entries are read at a time.
const auditPage = 500

// whatToDo follows the faults.
const whatToDo = "Keep a copy of the database as it is now, and compare it with a backup: somebody changed it, or it " +
	"was damaged."

// Run prints the log, or verifies it and prints the result.
func (c approvalsLogCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	switch {
	case c.Head:
		return c.head(ctx, a, store)
	case c.Verify || c.Expect != nil:
		return c.verify(ctx, a, store)
	}
	var all []audit.Entry
	for after := c.After; ; after = all[len(all)-1].Seq {
		page, err := store.AuditLog(ctx, after, auditPage)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
	}
	if c.JSON {
		return a.PrintJSON(cli.List(all, viewAudit))
	}
	return a.Table("The audit log is empty.",
		[]string{"ENTRY", "TIME", "APPROVAL", "ACTION", "ACTOR", "DETAIL", "REASON"},
		cli.List(all, func(e audit.Entry) []string {
			return []string{
				fmt.Sprint(e.Seq), cli.Stamp(e.At), string(e.Approval), e.Action, e.Actor, e.Detail,
				mask.Text(e.Reason),
			}
		}))
}

// verify always checks the whole log, because each entry's hash depends on those before it.
func (c approvalsLogCmd) verify(ctx context.Context, a *cli.App, store *storage.Store) error {
	keys, err := c.keys(ctx, store)
	if err != nil {
		return err
	}
	expect := ""
	if c.Expect != nil {
		if expect, err = expectedHash(*c.Expect, keys); err != nil {
			return err
		}
	}
	r, err := approvals.VerifyLog(ctx, store, keys, expect)
	if err != nil {
		return err
	}
	var broken error
	if len(r.Faults) > 0 {
		text := strings.Join(r.Faults, "\n  ")
		if r.More > 0 {
			text += fmt.Sprintf("\n  and %d more.", r.More)
		}
		text += "\n" + whatToDo
		broken = core.Errorf(core.Invalid, "%s", text)
	}
	if c.JSON {
		verdict := map[string]any{
			"valid": broken == nil, "entries": r.Entries, "last_hash": r.LastHash, "erased_reasons": r.Erased,
			"erased_calls": r.Calls, "erased_results": r.Results, "not_recorded": r.NotRecorded, "older_keys": r.Older,
			"approvals": r.Approvals, "intents": r.Intents,
			"changing": r.Changing, "faults": append([]string{}, r.Faults...), "error": nil,
		}
		if broken != nil {
			verdict["error"] = core.MessageOf(broken)
		}
		if err := a.PrintJSON(verdict); err != nil {
			return err
		}
		return cli.Bad(broken)
	}
	if broken == nil {
		a.PrintLine("The audit log is intact: %d entries, last hash %s.", r.Entries, cli.Cell(r.LastHash))
		a.PrintLine("It agrees with %d approvals and %d started tools in the database.", r.Approvals, r.Intents)
		if r.Changing > 0 {
			a.PrintLine("%d approvals changed during the check and were not compared; check again for those.",
				r.Changing)
		}
		if r.Older > 0 {
			a.PrintLine("%d entries are signed with older keys, the last one at %s. A person with such a key could "+
				"have made them, but none since.", r.Older, cli.Stamp(r.OlderUntil))
		}
		if r.NotRecorded > 0 {
			a.PrintLine("Names, times of votes and reasons of %d approvals: not recorded. An earlier build made "+
				"their entries.", r.NotRecorded)
		}
		if r.Erased > 0 {
			a.PrintLine("The reasons of %d entries were erased.", r.Erased)
		}
		if r.Calls > 0 {
			a.PrintLine("The arguments of %d calls were erased, so they can't be compared.", r.Calls)
		}
		if r.Results > 0 {
			a.PrintLine("The results of %d calls were erased, so they can't be compared.", r.Results)
		}
	}
	return cli.Bad(broken)
}

// keys are those to verify with: the configured ones and, if the flag says so, the one in the database, as the oldest.
func (c approvalsLogCmd) keys(ctx context.Context, store *storage.Store) (audit.Keys, error) {
	signer := store.Signer()
	if !c.DatabaseKey {
		return audit.KeysOf(signer), nil
	}
	key, err := store.DatabaseKey(ctx)
	if err != nil {
		return nil, err
	}
	if key != "" {
		if signer, err = signer.With(key); err != nil {
			return nil, err
		}
	}
	return audit.KeysOf(signer), nil
}
