package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/core/mask"
	"gatehouse/storage"
)

type approvalsLogCmd struct {
	cli.JSONFlag
	Verify      bool    `help:"${approvals_log_verify}"`
	Expect      *string `placeholder:"HASH" help:"${approvals_log_expect}"`
	Head        bool    `help:"${approvals_log_head}"`
	DatabaseKey bool    `help:"${approvals_log_database_key}"`
	After       int64   `placeholder:"SEQ" help:"Only entries after this number."`
}

// auditView is the JSON output of an entry.
type auditView struct {
	Seq      int64           `json:"seq"`
	At       time.Time       `json:"at"`
	Approval core.ApprovalID `json:"approval"`
	Action   string          `json:"action"`
	Actor    string          `json:"actor"`
	Detail   string          `json:"detail,omitempty"`
	Reason   string          `json:"reason,omitempty"` // secrets masked
	Digest   string          `json:"reason_digest,omitempty"`
	Session  core.SessionID  `json:"session,omitempty"`
	Key      string          `json:"key"`
	Prev     string          `json:"prev"`
	Hash     string          `json:"hash"`
}

var auditTable = table[auditView]{
	none:   "The audit log is empty.",
	header: []string{"ENTRY", "TIME", "APPROVAL", "ACTION", "ACTOR", "DETAIL", "REASON"},
	row: func(e auditView) []string {
		return []string{
			fmt.Sprint(e.Seq), cli.Stamp(e.At), string(e.Approval), e.Action, e.Actor, e.Detail, e.Reason,
		}
	},
}

func viewAudit(e audit.Entry) auditView {
	return auditView{
		e.Seq, e.At.UTC(), e.Approval, e.Action, e.Actor, e.Detail, mask.Text(e.Reason), e.ReasonDigest, e.Session,
		e.Key, e.Prev, e.Hash,
	}
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
	return auditTable.print(a, c.JSONFlag, cli.List(all, viewAudit))
}

// watchedLog is the audit log, with a progress that says how much of it was read.
type watchedLog struct {
	approvals.Log
	progress *cli.Progress
}

// AuditLog reads on.
func (l watchedLog) AuditLog(ctx context.Context, after int64, n int) ([]audit.Entry, error) {
	l.progress.Done(after)
	return l.Log.AuditLog(ctx, after, n)
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
	head, err := store.AuditHead(ctx)
	if err != nil {
		return err
	}
	progress := a.Progress(c.JSONFlag, "Checking the audit log", head.Seq)
	r, err := approvals.VerifyLog(ctx, watchedLog{store, progress}, keys, expect)
	progress.End()
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

// headView is a head of the audit log as it is kept elsewhere.
type headView struct {
	Seq    int64     `json:"seq"`
	Hash   string    `json:"hash"`
	Pruned time.Time `json:"pruned,omitzero"`
	Seal   string    `json:"seal"`
}

// hashLength is the length of an entry's hash.
const hashLength = 64

// head prints the head. A head that is not sealed is not worth keeping.
func (c approvalsLogCmd) head(ctx context.Context, a *cli.App, store *storage.Store) error {
	h, err := store.AuditHead(ctx)
	if err != nil {
		return err
	}
	keys, err := c.keys(ctx, store)
	if err != nil {
		return err
	}
	if !keys.VerifyHead(h, "") {
		return cli.Bad(core.Errorf(core.Invalid, "The head of the audit log was not sealed with a key that this "+
			"process has. Set GATEHOUSE_SECRET_KEY as the gateway has it, and run gatehouse approvals log --verify "+
			"to see what is wrong."))
	}
	text, err := json.Marshal(headView(h))
	if err != nil {
		return fmt.Errorf("encoding the head: %w", err)
	}
	fmt.Fprintln(a.Out, string(text))
	return nil
}

// expectedHash returns the hash of the entry that the log must have: a hash, or the one in a head, whose seal it
// checks. It is "" for the head of an empty log.
func expectedHash(text string, keys audit.Keys) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		if len(text) != hashLength {
			return "", core.Errorf(core.Invalid, "--expect needs the %d characters of a hash that gatehouse "+
				"approvals log --verify printed, or a line that gatehouse approvals log --head printed.", hashLength)
		}
		return strings.ToLower(text), nil
	}
	var v headView
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return "", core.Wrap(core.Invalid, err, "--expect has a head that is not JSON. Give it a line that gatehouse "+
			"approvals log --head printed.")
	}
	if h := audit.Head(v); !keys.VerifyHead(h, "") {
		return "", cli.Bad(core.Errorf(core.Invalid, "The head that --expect names was not sealed with a key that "+
			"this process has: it was changed, or GATEHOUSE_SECRET_KEY lacks its key."))
	}
	return v.Hash, nil
}
