package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// Terms returns a digest of who asked for an approval, in which turn, who may decide it and until when. Only an escalation changes it.
func (a Approval) Terms() string {
	return digestOf(a.Invocation, a.Session, a.Conversation, a.Address, a.Requester, a.Rule, moment(a.CreatedAt), moment(a.Deadline))
}

// Record returns a digest of what an approval is for, as its card shows it, of its votes and of its decision. An erasure changes it.
func (a Approval) Record() string {
	votes := []any{}
	for _, v := range a.Votes {
		votes = append(votes, []any{v.Actor.ID, v.Choice, v.Edits})
	}
	return digestOf(a.Call, a.Requested, a.Asked, votes, a.State, a.DecidedBy.ID)
}

// digestOf returns the digest of values, which is the same after they were stored as JSON and read again.
func digestOf(values ...any) string {
	text, _ := json.Marshal(values) // what is stored as JSON can be encoded
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Held returns what an entry holds of a digest of one of the kinds, as AuditDigest makes it; "" if it holds none.
func (e AuditEntry) Held(kind string) string {
	mark := kind + " "
	i := strings.LastIndex(e.Detail, mark)
	if i < 0 {
		return ""
	}
	held, _, _ := strings.Cut(e.Detail[i+len(mark):], ",")
	return held
}

// CheckRecord compares an approval with its entries in the audit log, in their order: with the last one that holds its terms, and the last one
// that holds its record. So with write access to the database, but without a key, nobody can put another request, rule, vote or decision in
// place of what was recorded. Errors: approval_mismatch, and unsupported if the signer does not have the key of an entry.
func (s *Signer) CheckRecord(a Approval, entries []AuditEntry) error {
	last := map[string]AuditEntry{}
	for _, e := range entries {
		for _, kind := range []string{AuditedTerms, AuditedRecord} {
			if e.Held(kind) != "" {
				last[kind] = e
			}
		}
	}
	digests := map[string]string{AuditedTerms: a.Terms(), AuditedRecord: a.Record()}
	for _, kind := range []string{AuditedTerms, AuditedRecord} {
		e := last[kind]
		if e.Key != "" && !s.Knows(e.Key) {
			return Errorf(Unsupported, "This request was recorded with a secret key that gatehouse does not have any more, so nobody can tell whether it was changed. Deny it and ask again, or tell whoever runs gatehouse to add the earlier key to GATEHOUSE_SECRET_KEY.")
		}
		if e.Key == "" || s.AuditDigest(e.Key, a.ID, kind, digests[kind]) != e.Held(kind) {
			return Errorf(ApprovalMismatch, "The stored request is not the one that the audit log records, so nothing was done. Tell whoever runs gatehouse: somebody changed its database.")
		}
	}
	return nil
}
