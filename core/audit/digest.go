package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"gatehouse/core"
)

// Terms returns a digest of who asked for an approval, in which turn, who may decide it and until when. Only an
// escalation changes it.
func Terms(a core.Approval) string {
	return digestOf(a.Invocation, a.Session, a.Conversation, a.Address, a.External, a.Requester, a.Rule,
		moment(a.CreatedAt), moment(a.Deadline))
}

// Record returns a digest of what an approval is for, as its card shows it, of its votes and of its decision. An
// erasure changes it.
func Record(a core.Approval) string {
	votes := []any{}
	for _, v := range a.Votes {
		vote := []any{v.Actor.ID, v.Choice, v.Edits, string(v.Answer)}
		if v.Remember { // only then, so that the digest of any other vote stays what it was
			vote = append(vote, v.Remember)
		}
		votes = append(votes, vote)
	}
	all := []any{a.Call, a.Question, a.Requested, a.Asked, votes, a.State, a.DecidedBy.ID}
	if a.Use != nil {
		all = append(all, a.Use)
	}
	return digestOf(all...)
}

// Forms returns the digests that an entry may hold of an approval's terms or record. The first is today's. The builds
// before questions and requests of other agents left out what they did not know; theirs is the second one if the
// approval has none of it.
func Forms(kind string, a core.Approval) []string {
	forms := []string{Terms(a)}
	if kind == OfRecord {
		forms[0] = Record(a)
	}
	if a.Question != nil || a.External != nil || a.Use != nil {
		return forms
	}
	if kind == OfTerms {
		return append(forms,
			digestOf(a.Invocation, a.Session, a.Conversation, a.Address, a.Requester, a.Rule, moment(a.CreatedAt),
				moment(a.Deadline)))
	}
	votes := []any{}
	for _, v := range a.Votes {
		if len(v.Answer) > 0 || v.Remember {
			return forms
		}
		votes = append(votes, []any{v.Actor.ID, v.Choice, v.Edits})
	}
	return append(forms, digestOf(a.Call, a.Requested, a.Asked, votes, a.State, a.DecidedBy.ID))
}

// Holds reports whether held, of an entry that was made with a key, is one of the digests of an approval.
func (all Keys) Holds(key, held string, id core.ApprovalID, kind string, digests ...string) bool {
	return slices.ContainsFunc(digests, func(digest string) bool { return all.Digest(key, id, kind, digest) == held })
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

// CheckRecord compares an approval with its entries in the audit log, in their order: with the last one that holds its
// terms, and the last one that holds its record. So with write access to the database, but without a key, nobody can
// put another request, rule, vote or decision in place of what was recorded. Errors: approval_mismatch, and unsupported
// if the key of an entry is not among these.
func (all Keys) CheckRecord(a core.Approval, entries []Entry) error {
	last := map[string]Entry{}
	for _, e := range entries {
		for _, kind := range []string{OfTerms, OfRecord} {
			if e.Held(kind) != "" {
				last[kind] = e
			}
		}
	}
	for _, kind := range []string{OfTerms, OfRecord} {
		e := last[kind]
		if e.Key != "" && !all.Knows(e.Key) {
			return core.Errorf(core.Unsupported,
				"This request was recorded with a secret key that gatehouse does not have any more, so nobody can "+
					"tell whether it was changed. Deny it and ask again, or tell whoever runs gatehouse to add the "+
					"earlier key to GATEHOUSE_SECRET_KEY.")
		}
		if e.Key == "" || !all.Holds(e.Key, e.Held(kind), a.ID, kind, Forms(kind, a)...) {
			return core.Errorf(core.ApprovalMismatch,
				"The stored request is not the one that the audit log records, so nothing was done. Tell whoever "+
					"runs gatehouse: somebody changed its database.")
		}
	}
	return nil
}
