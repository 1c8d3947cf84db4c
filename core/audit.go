package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Seal gives the entry as it stands in the log after an entry whose hash is prev ("" for the first): Prev and Hash are set. The
// hash is SHA-256 over a JSON list of the hash before and every field, so that no entry can be changed, added in between or taken
// out without breaking all that follow. At is cut to microseconds, which every engine keeps.
func (e AuditEntry) Seal(prev string) AuditEntry {
	e.At = e.At.UTC().Truncate(time.Microsecond)
	e.Prev = prev
	canonical, _ := json.Marshal([]any{prev, e.Seq, e.At.Format(time.RFC3339Nano), e.Approval, e.Action, e.Actor, e.Detail})
	sum := sha256.Sum256(canonical)
	e.Hash = hex.EncodeToString(sum[:])
	return e
}

// VerifyAudit checks a run of entries that follows an entry whose hash is prev ("" where the run begins the log). The error
// names the first entry that does not fit.
func VerifyAudit(prev string, entries []AuditEntry) error {
	for _, e := range entries {
		if want := e.Seal(prev); e.Prev != prev || e.Hash != want.Hash {
			return Errorf(Invalid, "The audit log is broken at entry %d: the hash does not match the entry and the one before it.", e.Seq)
		}
		prev = e.Hash
	}
	return nil
}
