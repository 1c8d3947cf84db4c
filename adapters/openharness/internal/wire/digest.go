package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Digest tells requests of one request_id apart: what it covers is what is asked, as it was understood, so neither the
// order of keys nor white space nor unknown fields change it. It leaves out what may differ between a request and its
// repetition: the version, both identifiers, credential_ref (a Shell may have a new one), shell and environment_state.
// It is SHA-256 in hex.
func (r Request) Digest() string {
	text, _ := json.Marshal(struct { // of strings and numbers: can't fail
		Asked                         []string `json:",omitempty"`
		Session, Conversation, Intent string
		Continuation                  *Continuation
		Attachments                   []Attachment `json:",omitempty"`
		Reason                        string
		Answer                        json.RawMessage `json:",omitempty"`
		Typed                         []string        `json:",omitempty"`
		Replaces                      string          `json:",omitempty"`
		Hints                         hinted
	}{
		r.Asked, r.Session, r.Conversation, r.Intent, r.Continuation, r.Attachments, r.Reason, r.Answer, r.Typed,
		r.Replaces,
		hinted{r.hints.Tenant, r.TaskHint.SOP, r.TaskHint.Plugin, r.TaskHint.Business, r.hints.RunSOP},
	})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// hinted are the fields of a request that hint at what it is about. Digests of earlier versions have their names.
type hinted struct{ Tenant, SOP, Plugin, Business, RunSOP string }
