package sqlstore

import (
	"context"

	"gatehouse/core"
)

// audit adds an entry to the log when the transaction ends. detail must not quote messages. The hash is computed over the text as
// stored.
func (t *Tx) audit(id core.ApprovalID, action, actor, detail string) {
	t.audits = append(t.audits, core.AuditEntry{At: t.Now, Approval: id, Action: action, Actor: clean(actor), Detail: clean(detail)})
}

// writeAudit writes the entries just before the commit. The log is one chain, so its head is locked. The lock is taken last, held
// briefly, and its holder waits for no other lock.
func (t *Tx) writeAudit() error {
	if len(t.audits) == 0 {
		return nil
	}
	var seq int64
	var prev string
	if _, err := t.Row([]any{&seq, &prev}, `select seq, hash from audit_head where one = 1`+t.forUpdate()); err != nil {
		return err
	}
	for _, e := range t.audits {
		seq++
		e.Seq = seq
		e = e.Seal(prev)
		prev = e.Hash
		if _, err := t.Exec(`insert into audit (seq, at, approval, action, actor, detail, prev, hash) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
			e.Seq, e.At, e.Approval, e.Action, e.Actor, e.Detail, e.Prev, e.Hash); err != nil {
			return err
		}
	}
	_, err := t.Exec(`update audit_head set seq = $1, hash = $2 where one = 1`, seq, prev)
	return err
}

// AuditLog returns up to n entries (0: all) after entry after, in order. core.VerifyAudit checks them.
func (s *Store) AuditLog(ctx context.Context, after int64, n int) ([]core.AuditEntry, error) {
	entry := func(scan func(...any) error) (e core.AuditEntry, err error) {
		return e, scan(&e.Seq, timestamp{&e.At}, &e.Approval, &e.Action, &e.Actor, &e.Detail, &e.Prev, &e.Hash)
	}
	return readAll(ctx, s, entry, `select seq, at, approval, action, actor, detail, prev, hash from audit where seq > $1 order by seq limit $2`, after, limit(n))
}
