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
// Action, Actor and Detail hold no message text, and of people only ids. Reason is a person's text, and can be erased: the hash covers
// ReasonDigest, not Reason.
type AuditEntry struct {
	Seq          int64
	At           time.Time
	Approval     ApprovalID
	Action       string // opened, voted, rejected, approved, denied, expired, cancelled, begun, settled, unknown, or one of those below
	Actor        string
	Detail       string
	Reason       string
	ReasonDigest string    // "" = no reason was given
	Session      SessionID // with which the reason is erased; "" without a reason
	Key          string
	Prev         string
	Hash         string
}

// AuditSent is the action of a card that reached a destination for the first time.
const AuditSent = "sent"

// AuditChanged is the action of a vote that took the place of an earlier one of the same person.
const AuditChanged = "changed"

// AuditRejected is the action of a vote that did not count: its voter may not decide, came too late, or named no approval that exists.
const AuditRejected = "rejected"

// AuditAltered is the action of a person who tried to approve a call that is not the one that was asked for.
const AuditAltered = "refused_altered"

// AuditNotRun is the action of a turn that ended without running its approved call.
const AuditNotRun = "not_run"

// AuditEdited is the action of an approver who changed the arguments of the call; its detail has the digest of the changed call.
const AuditEdited = "edited"

// AuditRevealed is the action of a person who read an approval's call with what is masked elsewhere.
const AuditRevealed = "revealed"

// The actions of an approval that was open for a while: its approvers were reminded; a reminder was left out, since a later one was due, too; or
// further people may decide.
const (
	AuditReminded  = "reminded"
	AuditOvertaken = "overtaken"
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
	return k.mac("entry", e.Prev, e.Seq, e.At.UTC().Format(time.RFC3339Nano), e.Approval, e.Action, e.Actor, e.Detail, e.ReasonDigest, e.Session, k.id)
}

func (k auditKey) seal(h AuditHead) string {
	return k.mac("head", h.Seq, h.Hash, h.Pruned.UTC().Format(time.RFC3339Nano))
}

// ResultDigest returns the digest of a result's content, as the database keeps it; "" for an empty one, which is not told from an erased one.
func ResultDigest(content string) string {
	if content == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(string([]rune(content)))) // JSON text keeps no invalid UTF-8
	return hex.EncodeToString(sum[:])
}

// AuditOutcome is what the log says of how a call ended: succeeded, or the category.
func AuditOutcome(c Category) string {
	if c == "" {
		return "succeeded"
	}
	return string(c)
}

// The kinds of digests in the log.
const (
	AuditedCall   = "call"   // Call.Digest
	AuditedResult = "result" // ResultDigest
	AuditedTerms  = "terms"  // Approval.Terms
	AuditedRecord = "record" // Approval.Record
)

// AuditDigest returns what the log holds of a digest of one of the kinds: a MAC of it, so that nobody without the key can find a short content
// by trying, even after the content was erased. key is the id of the key to make it with: that of the entry, "" = the newest one. It is ""
// if the signer does not have the key.
func (s *Signer) AuditDigest(key string, id ApprovalID, kind, digest string) string {
	position := 0
	if key != "" {
		position = s.position(key)
	}
	if position < 0 {
		return ""
	}
	return s.audit[position].mac("digest", kind, id, digest)
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
