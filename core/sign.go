package core

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
)

// Signer signs the values of buttons, so that a value from a platform can be verified. The first key signs, and each
// key verifies, so that a key can be replaced while old buttons still exist. The keys of the audit log are derived from
// the same keys.
type Signer struct{ keys []string }

// minKey is how many bytes a signing key needs; a shorter one could be guessed.
const minKey = 16

// NewSigner takes the keys, newest first. Error: invalid; it does not contain the key.
func NewSigner(keys ...string) (*Signer, error) {
	if len(keys) == 0 {
		return nil, Errorf(Invalid, "A signer needs a key.")
	}
	for _, k := range keys {
		if len(k) < minKey {
			return nil, Errorf(Invalid, "A signing key needs %d characters or more.", minKey)
		}
	}
	return &Signer{keys: keys}, nil
}

// With returns a signer that verifies with one more key, as the oldest.
func (s *Signer) With(key string) (*Signer, error) {
	return NewSigner(append(slices.Clone(s.keys), key)...)
}

// Derived returns keys for another purpose, one made from each key, in their order.
func (s *Signer) Derived(purpose string) (keys [][]byte) {
	for _, k := range s.keys {
		h := hmac.New(sha256.New, []byte(k))
		h.Write([]byte(purpose))
		keys = append(keys, h.Sum(nil))
	}
	return keys
}

// macLength is how many bytes of the HMAC a value contains: short enough for a button, too long to be guessed.
const macLength = 16

// separator separates the fields of a value; inside them it is escaped.
const separator = "~"

var (
	escape   = strings.NewReplacer("%", "%25", separator, "%7E")
	unescape = strings.NewReplacer("%7E", separator, "%25", "%")
)

// Seal makes one signed printable value of the fields.
func (s *Signer) Seal(fields ...string) string {
	safe := make([]string, len(fields))
	for i, f := range fields {
		safe[i] = escape.Replace(f)
	}
	text := strings.Join(safe, separator)
	return mac(s.keys[0], text) + separator + text
}

// Open returns the fields of a sealed value; ok is false if no key verifies it.
func (s *Signer) Open(value string) (fields []string, ok bool) {
	seal, text, _ := strings.Cut(value, separator)
	for _, k := range s.keys {
		ok = hmac.Equal([]byte(seal), []byte(mac(k, text))) || ok
	}
	if !ok {
		return nil, false
	}
	for _, f := range strings.Split(text, separator) {
		fields = append(fields, unescape.Replace(f))
	}
	return fields, true
}

func mac(key, text string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:macLength])
}
