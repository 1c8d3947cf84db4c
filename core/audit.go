package core

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// AuditEntry is one line of the audit log. Hash is a MAC over the entry and the hash before it, made with the secret key whose id is Key.
// Action, Actor and Detail hold no message text. Reason is a person's text, and can be erased: the hash covers ReasonDigest, not Reason.
type AuditEntry struct {
	Seq          int64
	At           time.Time
	Approval     ApprovalID
	Action       string // opened, voted, rejected, approved, denied, expired, cancelled, begun, settled, unknown, or one of those below
	Actor        string
	Detail       string
	Reason       string
	ReasonDigest string // "" = no reason was given
	Key          string
	Prev         string
	Hash         string
}

// AuditRejected is the action of a vote that did not count: its voter may not decide, came too late, or named no approval that exists.
const AuditRejected = "rejected"

// AuditAltered is the action of a person who tried to approve a call that is not the one that was asked for.
const AuditAltered = "refused_altered"

// AuditNotRun is the action of a turn that ended without running its approved call.
const AuditNotRun = "not_run"

// AuditRevealed is the action of a person who read an approval's call with what is masked elsewhere.
const AuditRevealed = "revealed"

// The actions of an approval that was open for a while: its approvers were reminded, or further people may decide.
const (
	AuditReminded  = "reminded"
	AuditEscalated = "escalated"
)

// AuditHead is the last entry of the audit log, and the time before which decided approvals were pruned. Seal is a MAC over it, so that
// who can write the database, but has no key, can't cut the log and adapt the head.
type AuditHead struct {
	Seq    int64
	Hash   string
	Pruned time.Time
	Seal   string
}

// auditKey is the key of the audit log, made from a secret key, and its id.
type auditKey struct {
	id  string
	key []byte
}

func newAuditKey(secret string) auditKey {
	key := hmac.New(sha256.New, []byte(secret))
	key.Write([]byte("gatehouse audit log"))
	k := auditKey{key: key.Sum(nil)}
	k.id = k.mac("key id")[:8]
	return k
}

// mac returns the HMAC-SHA-256 of a JSON list of the fields, in hexadecimal.
func (k auditKey) mac(fields ...any) string {
	canonical, _ := json.Marshal(fields) // texts, numbers and times can always be encoded
	h := hmac.New(sha256.New, k.key)
	h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil))
}

func (k auditKey) reason(e AuditEntry) string {
	if e.Reason == "" {
		return ""
	}
	return k.mac("reason", e.Seq, e.Approval, e.Reason)
}

func (k auditKey) hash(e AuditEntry) string {
	return k.mac("entry", e.Prev, e.Seq, e.At.UTC().Format(time.RFC3339Nano), e.Approval, e.Action, e.Actor, e.Detail, e.ReasonDigest, k.id)
}

func (k auditKey) seal(h AuditHead) string {
	return k.mac("head", h.Seq, h.Hash, h.Pruned.UTC().Format(time.RFC3339Nano))
}

// Knows reports whether the signer has the key with this id.
func (s *Signer) Knows(id string) bool { return s.position(id) >= 0 }

// SealEntry returns the entry as the log stores it after an entry whose hash is prev ("" for the first), signed with the newest key. So
// nobody without a key can change, insert or remove an entry without breaking all that follow. At is truncated to microseconds, which
// every engine keeps.
func (s *Signer) SealEntry(prev string, e AuditEntry) AuditEntry {
	k := s.audit[0]
	e.At, e.Prev, e.Key = e.At.UTC().Truncate(time.Microsecond), prev, k.id
	e.ReasonDigest = k.reason(e)
	e.Hash = k.hash(e)
	return e
}

// SealHead returns the head with its seal, made with the newest key.
func (s *Signer) SealHead(h AuditHead) AuditHead {
	h.Pruned = h.Pruned.UTC().Truncate(time.Microsecond)
	h.Seal = s.audit[0].seal(h)
	return h
}

// VerifyHead reports whether the head was sealed with the key with this id, that of the last entry, or with a newer one. Without entries
// last is "": any of the keys will do, and the head of a new database has no seal.
func (s *Signer) VerifyHead(h AuditHead, last string) bool {
	if h.Seq == 0 && h.Pruned.IsZero() {
		return last == "" && h.Hash == "" && h.Seal == ""
	}
	oldest := len(s.audit) - 1
	if last != "" {
		oldest = s.position(last)
	}
	ok := false
	for i, k := range s.audit {
		ok = i <= oldest && hmac.Equal([]byte(h.Seal), []byte(k.seal(h))) || ok
	}
	return ok
}

// position returns the place of a key among the signer's, the newest first; -1 if it does not have the key.
func (s *Signer) position(id string) int {
	return slices.IndexFunc(s.audit, func(k auditKey) bool { return k.id == id })
}

// NewerKeys returns the ids of the keys that are newer than the key with this id, the newest first; all of them if the signer does not have it.
func (s *Signer) NewerKeys(id string) (newer []string) {
	for _, k := range s.audit {
		if k.id == id {
			break
		}
		newer = append(newer, k.id)
	}
	return newer
}

// AuditCheck checks the entries of the audit log one after the other, from the first one on. Keys have an order: once a newer one has signed,
// an older one is not accepted any more, so that a key which was replaced, or which is in the database, can't sign in place of the new one.
type AuditCheck struct {
	signer *Signer
	prev   string // the hash of the last entry
	newest string // the id of the newest key that has signed; "" = none yet
}

// CheckAudit returns a check of the log from its first entry on.
func (s *Signer) CheckAudit() *AuditCheck { return &AuditCheck{signer: s} }

// Newest returns the id of the newest of the signer's keys that has signed an entry; "" if none has.
func (c *AuditCheck) Newest() string { return c.newest }

// Entry checks the next entry. A reason that was erased is not an error. After an error, of category invalid, the next entry is checked
// against this one as it is, so that what was done to one entry does not hide what was done to others.
func (c *AuditCheck) Entry(e AuditEntry) error {
	prev := c.prev
	c.prev = e.Hash
	position := c.signer.position(e.Key)
	if position < 0 {
		return Errorf(Invalid, "The audit log is broken at entry %d: it is signed with the key %q, which this process does not have. Set GATEHOUSE_SECRET_KEY to every key that was ever used, newest first; for entries that were made without it, add --database-key.", e.Seq, e.Key)
	}
	k := c.signer.audit[position]
	if e.Prev != prev || !hmac.Equal([]byte(e.Hash), []byte(k.hash(e))) || e.Reason != "" && e.ReasonDigest != k.reason(e) {
		return Errorf(Invalid, "The audit log is broken at entry %d: the hash does not match the entry and the one before it.", e.Seq)
	}
	if c.newest != "" && position > c.signer.position(c.newest) {
		return Errorf(Invalid, "The audit log is broken at entry %d: it is signed with the key %q, which is older than the key %q of entries before it. Either it was forged with the older key, or a process ran without the newer one; or the keys of GATEHOUSE_SECRET_KEY are not in the order newest first.", e.Seq, e.Key, c.newest)
	}
	c.newest = e.Key
	return nil
}

// VerifyAudit checks consecutive entries that follow an entry whose hash is prev ("" at the start of the log), as AuditCheck does. The error
// is that of the first entry that has one.
func (s *Signer) VerifyAudit(prev string, entries []AuditEntry) error {
	c := AuditCheck{signer: s, prev: prev}
	for _, e := range entries {
		if err := c.Entry(e); err != nil {
			return err
		}
	}
	return nil
}

// AuditRecords is what the database says now of what the audit log has recorded, for a check of one against the other. Before and After
// are the head of the log, as read before and after everything else.
type AuditRecords struct {
	Before, After AuditHead
	Approvals     []AuditedApproval
	Intents       []AuditedIntent
}

// AuditedApproval is what the log must say of an approval.
type AuditedApproval struct {
	ID        ApprovalID
	State     ApprovalState
	DecidedBy Actor
	Digest    string // of its call
	Votes     int
}

// AuditedIntent is what the log must say of an intent.
type AuditedIntent struct {
	Approval ApprovalID
	Digest   string
	NotRun   bool // its turn ended without it
	Ended    bool
}
