package sqlstore

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"gatehouse/core"
)

// databaseKey is the name of the secret key in the database, which is used where no key is configured.
const databaseKey = "secret-key"

// useKey sets the signer of the audit log: the configured one, or one with the key that is made once and kept in the database. It warns if
// other processes sign with a key that this one does not have. The log was signed with the database's key until one was configured.
func (s *Store) useKey(ctx context.Context, configured *core.Signer, log *slog.Logger) error {
	key, err := s.DatabaseKey(ctx)
	if err == nil && key == "" && configured == nil {
		key, err = s.PutIfAbsent(ctx, databaseKey, rand.Text())
	}
	if err != nil {
		return err
	}
	if s.signer = configured; configured == nil {
		if s.signer, err = core.NewSigner(key); err != nil {
			return err
		}
	}
	known := s.signer
	if key != "" {
		if known, err = known.With(key); err != nil {
			return err
		}
	}
	last, err := read(ctx, s, func(t *Tx) (id string, err error) {
		_, err = t.Row([]any{&id}, `select key from audit where seq = (select seq from audit_head where one = 1)`)
		return id, err
	})
	if err == nil && last != "" && !known.Knows(last) {
		log.Warn("the last entry of the audit log is signed with a key that this process does not have; set GATEHOUSE_SECRET_KEY as the other processes have it, or the log can't be verified", "key", last)
	}
	return err
}

// Signer returns the signer of the audit log: that of the options or, without one, the signer whose key is kept in the database, which is
// the same for all processes on it.
func (s *Store) Signer() *core.Signer { return s.signer }

// DatabaseKey returns the secret key that is kept in the database; "" if there is none.
func (s *Store) DatabaseKey(ctx context.Context) (string, error) {
	return read(ctx, s, func(t *Tx) (key string, err error) {
		_, err = t.Row([]any{&key}, `select value from kv where name = $1`, "kept/"+databaseKey)
		return key, err
	})
}

// audit adds an entry to the log when the transaction ends. detail must not quote messages. The hash is computed over the text as
// stored.
func (t *Tx) audit(id core.ApprovalID, action, actor, detail string) {
	t.auditReason(id, action, actor, detail, "")
}

// auditReason is audit with the text of a person.
func (t *Tx) auditReason(id core.ApprovalID, action, actor, detail, reason string) {
	t.audits = append(t.audits, core.AuditEntry{
		At: t.Now, Approval: core.ApprovalID(clean(string(id))), Action: action, Actor: clean(actor), Detail: clean(detail), Reason: clean(reason),
	})
}

// writeAudit writes the entries just before the commit, and notes up to when approvals were pruned. The log is one chain, so its head is
// locked. The lock is taken last, held briefly, and its holder waits for no other lock.
func (t *Tx) writeAudit() error {
	if len(t.audits) == 0 && t.pruned.IsZero() {
		return nil
	}
	h, err := t.auditHead(t.forUpdate())
	if err != nil {
		return err
	}
	for _, e := range t.audits {
		h.Seq++
		e.Seq = h.Seq
		e = t.signer.SealEntry(h.Hash, e)
		h.Hash = e.Hash
		if _, err := t.Exec(`insert into audit (seq, at, approval, action, actor, detail, reason, reason_digest, key, prev, hash) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			e.Seq, e.At, e.Approval, e.Action, e.Actor, e.Detail, e.Reason, e.ReasonDigest, e.Key, e.Prev, e.Hash); err != nil {
			return err
		}
	}
	if t.pruned.After(h.Pruned) {
		h.Pruned = t.pruned
	}
	h = t.signer.SealHead(h)
	_, err = t.Exec(`update audit_head set seq = $1, hash = $2, pruned = $3, seal = $4 where one = 1`, h.Seq, h.Hash, h.Pruned, h.Seal)
	return err
}

func (t *Tx) auditHead(lock string) (h core.AuditHead, err error) {
	_, err = t.Row([]any{&h.Seq, &h.Hash, timestamp{&h.Pruned}, &h.Seal}, `select seq, hash, pruned, seal from audit_head where one = 1`+lock)
	return h, err
}

// eraseReasons removes the texts that people gave with their decisions of a session's approvals. The chain stays valid: it covers the
// texts' digests.
func (t *Tx) eraseReasons(id core.SessionID) error {
	_, err := t.Exec(`update audit set reason = '' where reason <> '' and approval in (select id from approvals where session = $1)`, id)
	return err
}

// AuditLog returns up to n entries (0: all) after entry after, in order. core.Signer.VerifyAudit checks them.
func (s *Store) AuditLog(ctx context.Context, after int64, n int) ([]core.AuditEntry, error) {
	entry := func(scan func(...any) error) (e core.AuditEntry, err error) {
		return e, scan(&e.Seq, timestamp{&e.At}, &e.Approval, &e.Action, &e.Actor, &e.Detail, &e.Reason, &e.ReasonDigest, &e.Key, &e.Prev, &e.Hash)
	}
	return readAll(ctx, s, entry, `select seq, at, approval, action, actor, detail, reason, reason_digest, key, prev, hash from audit where seq > $1 order by seq limit $2`, after, limit(n))
}

// AuditHead returns the head of the log.
func (s *Store) AuditHead(ctx context.Context) (core.AuditHead, error) {
	return read(ctx, s, func(t *Tx) (core.AuditHead, error) { return t.auditHead("") })
}

// AuditRecords returns what the log is checked against. A caller that reads the log afterwards finds in it all that the records tell;
// an approval with entries after the head Before may have changed while the records were read.
func (s *Store) AuditRecords(ctx context.Context) (r core.AuditRecords, err error) {
	if r.Before, err = s.AuditHead(ctx); err != nil {
		return r, err
	}
	r.Approvals, err = readAll(ctx, s, func(scan func(...any) error) (a core.AuditedApproval, err error) {
		var b approvalBody
		err = scan(&a.ID, &a.State, fromJSON{&a.DecidedBy}, fromJSON{&b}, &a.Votes)
		a.Digest = b.Call.Digest
		return a, err
	}, `select id, state, decided_by, body, (select count(*) from votes v where v.approval = approvals.id) from approvals order by seq`)
	if err != nil {
		return r, err
	}
	r.Intents, err = readAll(ctx, s, func(scan func(...any) error) (i core.AuditedIntent, err error) {
		var ended time.Time
		err = scan(&i.Approval, &i.Digest, timestamp{&ended})
		i.Ended = !ended.IsZero()
		return i, err
	}, `select approval, digest, ended_at from intents order by approval`)
	if err == nil {
		r.After, err = s.AuditHead(ctx)
	}
	return r, err
}
