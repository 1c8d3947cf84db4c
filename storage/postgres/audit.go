package postgres

import (
	"context"

	"gatehouse/core"
)

// audit notes an entry for the log. detail holds nothing that anybody said. The hash is made of what the table can hold.
func (t *tx) audit(id core.ApprovalID, action, actor, detail string) {
	t.entries = append(t.entries, core.AuditEntry{At: t.now, Approval: id, Action: action, Actor: clean(actor), Detail: clean(detail)})
}

// seal writes what was noted, as the last thing before the commit: the log is one chain, so its end is locked, as shortly as can
// be, and whoever holds it waits for nothing else.
func (t *tx) seal() error {
	if len(t.entries) == 0 {
		return nil
	}
	var seq int64
	var prev string
	if _, err := t.row([]any{&seq, &prev}, `select seq, hash from audit_end where one for update`); err != nil {
		return err
	}
	for _, e := range t.entries {
		seq++
		e.Seq = seq
		e = e.Seal(prev)
		prev = e.Hash
		if _, err := t.exec(`insert into audit (seq, at, approval, action, actor, detail, prev, hash) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
			e.Seq, e.At, e.Approval, e.Action, e.Actor, e.Detail, e.Prev, e.Hash); err != nil {
			return err
		}
	}
	_, err := t.exec(`update audit_end set seq = $1, hash = $2 where one`, seq, prev)
	return err
}

// AuditLog reads entries in order; core.VerifyAudit checks them.
func (s *Store) AuditLog(ctx context.Context, after int64, n int) (log []core.AuditEntry, err error) {
	read := func(scan func(...any) error) (e core.AuditEntry, err error) {
		return e, scan(&e.Seq, stamp{&e.At}, &e.Approval, &e.Action, &e.Actor, &e.Detail, &e.Prev, &e.Hash)
	}
	err = s.read(ctx, func(t *tx) error {
		log, err = list(t, read, `select seq, at, approval, action, actor, detail, prev, hash from audit where seq > $1 order by seq limit $2`, after, limit(n))
		return err
	})
	return log, err
}
