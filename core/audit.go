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
	Action       string // opened, voted, rejected, approved, refused, expired, cancelled, begun, settled, unknown
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
func (s *Signer) Knows(id string) bool {
	return slices.ContainsFunc(s.audit, func(k auditKey) bool { return k.id == id })
}

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

// VerifyHead reports whether one of the keys sealed the head. The head of a new database has no seal.
func (s *Signer) VerifyHead(h AuditHead) bool {
	if h.Seq == 0 && h.Pruned.IsZero() {
		return h.Hash == "" && h.Seal == ""
	}
	ok := false
	for _, k := range s.audit {
		ok = hmac.Equal([]byte(h.Seal), []byte(k.seal(h))) || ok
	}
	return ok
}

// VerifyAudit checks consecutive entries that follow an entry whose hash is prev ("" at the start of the log). Any of the keys verifies. A
// reason that was erased is not an error. The error, of category invalid, names the first entry that does not match.
func (s *Signer) VerifyAudit(prev string, entries []AuditEntry) error {
	for _, e := range entries {
		known, valid := false, false
		for _, k := range s.audit {
			if k.id != e.Key {
				continue
			}
			known = true
			valid = e.Prev == prev && hmac.Equal([]byte(e.Hash), []byte(k.hash(e))) && (e.Reason == "" || e.ReasonDigest == k.reason(e)) || valid
		}
		switch {
		case !known:
			return Errorf(Invalid, "The audit log is broken at entry %d: it is signed with the key %q, which this process does not have. Set GATEHOUSE_SECRET_KEY to every key that was ever used, newest first; for entries that were made without it, add --database-key.", e.Seq, e.Key)
		case !valid:
			return Errorf(Invalid, "The audit log is broken at entry %d: the hash does not match the entry and the one before it.", e.Seq)
		}
		prev = e.Hash
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
	Ended    bool
}
