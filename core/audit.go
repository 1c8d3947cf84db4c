package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Seal returns the entry as the log stores it after an entry whose hash is prev ("" for the first): with Prev and Hash. The hash is
// SHA-256 over a JSON list of the previous hash and every field, so no entry can be changed, inserted or removed without breaking all
// that follow. At is truncated to microseconds, which every engine keeps.
func (e AuditEntry) Seal(prev string) AuditEntry {
	e.At = e.At.UTC().Truncate(time.Microsecond)
	e.Prev = prev
	canonical, _ := json.Marshal([]any{prev, e.Seq, e.At.Format(time.RFC3339Nano), e.Approval, e.Action, e.Actor, e.Detail})
	sum := sha256.Sum256(canonical)
	e.Hash = hex.EncodeToString(sum[:])
	return e
}

// VerifyAudit checks consecutive entries that follow an entry whose hash is prev ("" at the start of the log). The error names the
// first entry that does not match.
func VerifyAudit(prev string, entries []AuditEntry) error {
	for _, e := range entries {
		if want := e.Seal(prev); e.Prev != prev || e.Hash != want.Hash {
			return Errorf(Invalid, "The audit log is broken at entry %d: the hash does not match the entry and the one before it.", e.Seq)
		}
		prev = e.Hash
	}
	return nil
}
