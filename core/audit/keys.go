package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"gatehouse/core"
)

// Keys are the keys of the audit log, newest first. The first signs, and each verifies.
type Keys []key

// key is a key of the audit log, made from a secret key, and its id.
type key struct {
	id     string
	secret []byte
}

// KeysOf returns the keys of the audit log that are made from those of a signer.
func KeysOf(s *core.Signer) Keys {
	var all Keys
	for _, secret := range s.Derived("gatehouse audit log") {
		k := key{secret: secret}
		k.id = k.mac("key id")[:8]
		all = append(all, k)
	}
	return all
}

// mac returns the HMAC-SHA-256 of a JSON list of the fields, in hexadecimal.
func (k key) mac(fields ...any) string {
	canonical, _ := json.Marshal(fields) // texts, numbers and times can always be encoded
	h := hmac.New(sha256.New, k.secret)
	h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil))
}

func (k key) reason(e Entry) string {
	if e.Reason == "" {
		return ""
	}
	return k.mac("reason", e.Seq, e.Approval, e.Reason)
}

func (k key) hash(e Entry) string {
	return k.mac("entry", e.Prev, e.Seq, e.At.UTC().Format(time.RFC3339Nano), e.Approval, e.Action, e.Actor, e.Detail,
		e.ReasonDigest, e.Session, k.id)
}

func (k key) seal(h Head) string {
	return k.mac("head", h.Seq, h.Hash, h.Pruned.UTC().Format(time.RFC3339Nano))
}

// Digest returns what the log holds of a digest of one of the kinds: a MAC of it, so that nobody without the key can
// find a short content by trying, even after the content was erased. key is the id of the key to make it with: that of
// the entry, "" = the newest one. It is "" if the key is not among these.
func (all Keys) Digest(key string, id core.ApprovalID, kind, digest string) string {
	position := 0
	if key != "" {
		position = all.position(key)
	}
	if position < 0 {
		return ""
	}
	return all[position].mac("digest", kind, id, digest)
}

// Knows reports whether the key with this id is among these.
func (all Keys) Knows(id string) bool { return all.position(id) >= 0 }

// SealEntry returns the entry as the log stores it after an entry whose hash is prev ("" for the first), signed with
// the newest key. So nobody without a key can change, insert or remove an entry without breaking all that follow. At is
// truncated to microseconds, which every engine keeps.
func (all Keys) SealEntry(prev string, e Entry) Entry {
	k := all[0]
	e.At, e.Prev, e.Key = e.At.UTC().Truncate(time.Microsecond), prev, k.id
	e.ReasonDigest = k.reason(e)
	e.Hash = k.hash(e)
	return e
}

// SealHead returns the head with its seal, made with the newest key.
func (all Keys) SealHead(h Head) Head {
	h.Pruned = h.Pruned.UTC().Truncate(time.Microsecond)
	h.Seal = all[0].seal(h)
	return h
}

// VerifyHead reports whether the head was sealed with the key with this id, that of the last entry, or with a newer
// one. Without entries last is "": any of the keys will do, and the head of a new database has no seal.
func (all Keys) VerifyHead(h Head, last string) bool {
	if h.Seq == 0 && h.Pruned.IsZero() {
		return last == "" && h.Hash == "" && h.Seal == ""
	}
	oldest := len(all) - 1
	if last != "" {
		oldest = all.position(last)
	}
	ok := false
	for i, k := range all {
		ok = i <= oldest && hmac.Equal([]byte(h.Seal), []byte(k.seal(h))) || ok
	}
	return ok
}

// position returns the place of a key, the newest first; -1 if it is not among these.
func (all Keys) position(id string) int {
	return slices.IndexFunc(all, func(k key) bool { return k.id == id })
}

// Newer returns the ids of the keys that are newer than the key with this id, the newest first; all of these if it is
// not among them.
func (all Keys) Newer(id string) (newer []string) {
	for _, k := range all {
		if k.id == id {
			break
		}
		newer = append(newer, k.id)
	}
	return newer
}
