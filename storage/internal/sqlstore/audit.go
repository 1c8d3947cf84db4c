package sqlstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// databaseKey is the name of the secret key in the database, which is used where no key is configured.
const databaseKey = "secret-key"

// useKey sets the signer, and with it the keys of the audit log: the configured one, or one with the key that is made
// once and kept in the database. It warns if other processes sign with a key that this one does not have. The log was
// signed with the database's key until one was configured.
func (s *Store) useKey(ctx context.Context, configured *core.Signer, log *slog.Logger) error {
	key, err := s.DatabaseKey(ctx)
	if err == nil && key == "" && configured == nil {
		key, err = s.PutIfAbsent(ctx, databaseKey, rand.Text())
	}
	if err != nil {
		return err
	}
	s.ownKey = configured == nil
	if s.signer = configured; s.ownKey {
		if s.signer, err = core.NewSigner(key); err != nil {
			return err
		}
	}
	verifier := s.signer
	if key != "" {
		if verifier, err = s.signer.With(key); err != nil {
			return err
		}
	}
	s.keys, s.allKeys = audit.KeysOf(s.signer), audit.KeysOf(verifier)
	last, err := read(ctx, s, (*Tx).lastEntry)
	if err == nil && last.Seq > 0 && !s.allKeys.Knows(last.Key) {
		log.Warn("the last entry of the audit log is signed with a key that this process does not have; set "+
			"GATEHOUSE_SECRET_KEY as the other processes have it, or the log can't be verified", "key", last.Key)
	}
	return err
}

// Signer returns the signer: that of the options or, without one, the signer whose key is kept in the database, which
// is the same for all processes on it.
func (s *Store) Signer() *core.Signer { return s.signer }

// SignsWithItsKey reports whether the signer's key is the one in the database: no key was configured.
func (s *Store) SignsWithItsKey() bool { return s.ownKey }

// DatabaseKey returns the secret key that is kept in the database; "" if there is none.
func (s *Store) DatabaseKey(ctx context.Context) (string, error) {
	return read(ctx, s, func(t *Tx) (key string, err error) {
		_, err = t.Row([]any{&key}, `select value from kv where name = $1`, "kept/"+databaseKey)
		return key, err
	})
}

// auditChanges are what a transaction has collected for the audit log.
type auditChanges struct {
	entries []audit.Entry // see writeAudit
	pruned  time.Time     // approvals that were decided before were removed; zero: none
	// the approvals that were checked, and whether the audit log contradicted them; see checkBefore
	contradicted map[core.ApprovalID]bool
}

// audit adds an entry to the log when the transaction ends. detail must not quote messages. The hash is computed over
// the text as stored.
func (t *Tx) audit(id core.ApprovalID, action, actor, detail string) {
	t.auditReason(id, "", action, actor, detail, "")
}

// auditReason is audit with the text of a person, which is erased with the session. The entry names the session, since
// the approval may be pruned before its session is deleted.
func (t *Tx) auditReason(id core.ApprovalID, session core.SessionID, action, actor, detail, reason string) {
	if reason == "" {
		session = ""
	}
	t.audited.entries = append(t.audited.entries, audit.Entry{
		At: t.Now, Approval: core.ApprovalID(clean(string(id))), Action: action, Actor: clean(actor),
		Detail: clean(detail), Reason: clean(reason),
		Session: session,
	})
}

// writeAudit writes the entries just before the commit, and notes up to when approvals were pruned. The log is one
// chain, so its head is locked. The lock is taken last, held briefly, and its holder waits for no other lock.
//
// The entries follow the entry that the head names, even if that one is gone, so that the gap can be seen. A head that
// this gatehouse's keys did not seal, or that the log goes on after, may be a forged one or an earlier one that was put
// back. Then the entries follow the last entry, and the head stays as it is: to seal it would hide what was done.
func (t *Tx) writeAudit() error {
	if len(t.audited.entries) == 0 && t.audited.pruned.IsZero() {
		return nil
	}
	h, err := t.auditHead(t.sql.forUpdate())
	if err != nil {
		return err
	}
	last, err := t.lastEntry()
	if err != nil {
		return err
	}
	key, err := t.newestKey(last)
	if err != nil {
		return err
	}
	sound := t.store.allKeys.VerifyHead(h, key) && last.Seq <= h.Seq
	if !sound || last.Seq != h.Seq || last.Hash != h.Hash {
		t.store.options.Log.Error("the audit log does not end where its head says, or its head is not sealed: "+
			"somebody changed the database, or a process ran with other keys. New entries are written, but the end of "+
			"the log can't be trusted. Keep a copy of the database, run gatehouse approvals log --verify with all "+
			"keys in GATEHOUSE_SECRET_KEY to see what is wrong, and restore the database from a backup",
			"head", h.Seq, "last", last.Seq, "sealed", sound)
	}
	if !sound {
		h.Seq, h.Hash = last.Seq, last.Hash
	}
	for _, a := range t.audited.entries {
		h.Seq++
		a.Seq = h.Seq
		e := t.store.keys.SealEntry(h.Hash, a)
		h.Hash = e.Hash
		if _, err := t.Exec(`insert into audit (seq, at, approval, action, actor, detail, reason, reason_digest,
			session, key, prev, hash) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
			e.Seq, e.At, e.Approval, e.Action, e.Actor, e.Detail, e.Reason, e.ReasonDigest, e.Session, e.Key, e.Prev,
			e.Hash); err != nil {
			return err
		}
	}
	if !sound {
		return nil
	}
	if t.audited.pruned.After(h.Pruned) {
		h.Pruned = t.audited.pruned
	}
	h = t.store.keys.SealHead(h)
	_, err = t.Exec(`update audit_head set seq = $1, hash = $2, pruned = $3, seal = $4 where one = 1`, h.Seq, h.Hash,
		h.Pruned, h.Seal)
	return err
}

// lastEntry returns the number, key and hash of the last entry; none: zero.
func (t *Tx) lastEntry() (e audit.Entry, err error) {
	_, err = t.Row([]any{&e.Seq, &e.Key, &e.Hash}, `select seq, key, hash from audit where seq > 0 order by seq desc
		limit 1`)
	return e, err
}

// newestKey returns the id of the newest key that has signed an entry: the last entry's, unless somebody signed it with
// an older one. It reads the log only if the last entry is not signed with this process's newest key, such as after
// that was added.
func (t *Tx) newestKey(last audit.Entry) (string, error) {
	if last.Seq == 0 {
		return "", nil
	}
	for _, id := range t.store.allKeys.Newer(last.Key) {
		if signed, err := t.exists(`select 1 from audit where key = $1 limit 1`, id); err != nil || signed {
			return id, err
		}
	}
	return last.Key, nil
}

// auditedResult is the detail of an entry about a result: how the call ended, and the digest of what it returned.
func (t *Tx) auditedResult(id core.ApprovalID, r core.ToolResult) string {
	return fmt.Sprintf("%s, digest %s", audit.Outcome(r.Category),
		t.store.keys.Digest("", id, audit.OfResult, audit.ResultDigest(r.Content)))
}

// auditedCall is the detail of an entry about a call: its tool and its digest.
func (t *Tx) auditedCall(id core.ApprovalID, tool, digest string) string {
	return fmt.Sprintf("tool %s, digest %s", tool, t.store.keys.Digest("", id, audit.OfCall, digest))
}

// auditedTerms and auditedRecord are details of an entry that makes an approval what it is now; see checkRecorded. They
// are empty if the log contradicted what the approval was before: what somebody put in the database is not recorded.
func (t *Tx) auditedTerms(a core.Approval) string {
	if t.audited.contradicted[a.ID] {
		return ""
	}
	return audit.OfTerms + " " + t.store.keys.Digest("", a.ID, audit.OfTerms, audit.Terms(a))
}

func (t *Tx) auditedRecord(a core.Approval) string {
	if t.audited.contradicted[a.ID] {
		return ""
	}
	all := []string{}
	for _, d := range []struct{ kind, digest string }{
		{audit.OfRecord, audit.Record(a)}, {audit.OfFacts, audit.Facts(a)}, {audit.OfTexts, audit.Texts(a)},
	} {
		all = append(all, d.kind+" "+t.store.keys.Digest("", a.ID, d.kind, d.digest))
	}
	return strings.Join(all, ", ")
}

// checkRecorded compares an approval, and the intent of its call, with what the audit log says of them; see
// audit.Keys.CheckRecorded. last is the last entry that it read. Entries of this transaction are not among them.
func (t *Tx) checkRecorded(a core.Approval, i *core.IntentRecord) (last audit.Entry, err error) {
	entries, err := List(t, readEntry, `select `+entryColumns+` from audit where approval = $1
		and action not in ('`+strings.Join(audit.Silent, `', '`)+`') order by seq`, a.ID)
	if err != nil {
		return last, err
	}
	if n := len(entries); n > 0 {
		last = entries[n-1]
	}
	return last, t.store.allKeys.CheckRecorded(a, i, entries)
}

// checkBefore compares an approval with the audit log before the approval is changed. If the log contradicts it, that
// is the error, and the entries of this transaction do not record the approval as it is.
func (t *Tx) checkBefore(a core.Approval) error {
	i, err := t.callOf(a)
	if err == nil {
		_, err = t.checkRecorded(a, i)
	}
	t.audited.contradicted[a.ID] = errors.As(err, new(*audit.Contradiction))
	return err
}

// checkedBefore is checkBefore for a change that is made all the same. What this transaction has changed already is not
// checked again.
func (t *Tx) checkedBefore(a core.Approval) error {
	if _, checked := t.audited.contradicted[a.ID]; checked {
		return nil
	}
	if err := t.checkBefore(a); !t.audited.contradicted[a.ID] {
		return err
	}
	return nil
}

func (t *Tx) auditHead(lock string) (h audit.Head, err error) {
	_, err = t.Row([]any{&h.Seq, &h.Hash, timestamp{&h.Pruned}, &h.Seal}, `select seq, hash, pruned, seal
		from audit_head where one = 1`+lock)
	return h, err
}

// eraseReasons removes the texts that people gave with their decisions of a session's approvals. The chain stays valid:
// it covers the texts' digests.
func (t *Tx) eraseReasons(id core.SessionID) error {
	_, err := t.Exec(`update audit set reason = '' where session = $1 and reason <> ''`, id)
	return err
}

const entryColumns = `seq, at, approval, action, actor, detail, reason, reason_digest, session, key, prev, hash`

func readEntry(scan func(...any) error) (e audit.Entry, err error) {
	return e,
		scan(&e.Seq, timestamp{&e.At}, &e.Approval, &e.Action, &e.Actor, &e.Detail, &e.Reason, &e.ReasonDigest,
			&e.Session, &e.Key, &e.Prev, &e.Hash)
}

// AuditLog returns up to n entries (0: all) after entry after, in order. audit.Keys.Verify checks them.
func (s *Store) AuditLog(ctx context.Context, after int64, n int) ([]audit.Entry, error) {
	return readAll(ctx, s, readEntry, `select `+entryColumns+` from audit where seq > $1 order by seq
		limit $2`, after, limit(n))
}

// AuditHead returns the head of the log.
func (s *Store) AuditHead(ctx context.Context) (audit.Head, error) {
	return read(ctx, s, func(t *Tx) (audit.Head, error) { return t.auditHead("") })
}

// AuditRecords returns what the log is checked against. A caller that reads the log afterwards finds in it all that the
// records tell; an approval with entries after the head Before may have changed while the records were read.
func (s *Store) AuditRecords(ctx context.Context) (r audit.Records, err error) {
	if r.Before, err = s.AuditHead(ctx); err != nil {
		return r, err
	}
	r.Approvals, err = readAll(ctx, s, func(scan func(...any) error) (a audit.Approval, err error) {
		a.Approval, err = readApproval(lenient(scan, &a.Fault))
		return a, err
	}, `select `+approvalColumns+` from approvals order by seq`)
	if err != nil {
		return r, err
	}
	r.Intents, err = readAll(ctx, s, func(scan func(...any) error) (audit.Intent, error) {
		var fault error
		rec, err := readIntent(lenient(scan, &fault))
		i := audit.IntentOf(rec)
		i.Fault = fault
		return i, err
	}, `select `+intentColumns+` from intents order by approval`)
	if err == nil {
		r.After, err = s.AuditHead(ctx)
	}
	return r, err
}
