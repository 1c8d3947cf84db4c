package sqlite

import (
	"context"

	"gatehouse/core"
)

// audit adds an entry to the log. detail holds nothing that anybody said.
func (t *tx) audit(id core.ApprovalID, action, actor, detail string) error {
	e := core.AuditEntry{Seq: 1, At: t.now, Approval: id, Action: action, Actor: actor, Detail: detail}
	var prev string
	if _, err := t.row([]any{&e.Seq, &prev}, `select seq + 1, hash from audit where seq = (select max(seq) from audit)`); err != nil {
		return err
	}
	e = e.Seal(prev)
	_, err := t.exec(`insert into audit (seq, at, approval, action, actor, detail, prev, hash) values (?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Seq, ns(e.At), e.Approval, e.Action, e.Actor, e.Detail, e.Prev, e.Hash)
	return err
}

// AuditLog reads entries in order; core.VerifyAudit checks them.
func (s *Store) AuditLog(ctx context.Context, after int64, n int) (log []core.AuditEntry, err error) {
	read := func(scan func(...any) error) (e core.AuditEntry, err error) {
		return e, scan(&e.Seq, stamp{&e.At}, &e.Approval, &e.Action, &e.Actor, &e.Detail, &e.Prev, &e.Hash)
	}
	err = s.read(ctx, func(t *tx) error {
		log, err = list(t, read, `select seq, at, approval, action, actor, detail, prev, hash from audit where seq > ? order by seq limit ?`, after, limit(n))
		return err
	})
	return log, err
}
