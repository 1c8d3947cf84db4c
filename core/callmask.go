package core

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Masked returns the arguments with their secrets hidden: those of MaskJSON, and those in Secret.
func (c Call) Masked() json.RawMessage { return MaskJSON(c.Arguments, c.Secret...) }

// Hidden returns how many characters Masked hides.
func (c Call) Hidden() int { return HiddenCharacters(c.Arguments, c.Secret...) }

// shortSecret is how many characters a secret needs to be looked for in a text: a shorter one is in many words.
const shortSecret = 4

// Mask hides in a text about the call what MaskText hides, and the arguments that Masked hides whole, wherever they occur, if they have at
// least four characters. Masking twice changes nothing.
func (c Call) Mask(text string) string {
	if len(c.Arguments) == 0 {
		return MaskText(text)
	}
	hides := maskJSON(c.Arguments, c.Secret).hides
	longestFirst(hides)
	for _, secret := range hides {
		if utf8.RuneCountInString(secret) >= shortSecret {
			text = without(text, secret)
		}
	}
	return MaskText(text)
}

// WithoutSecrets returns a text with a mask in place of each of the secrets, as Secrets returns them.
func WithoutSecrets(text string, secrets []string) string {
	for _, secret := range secrets {
		text = without(text, secret)
	}
	return text
}

// without hides a secret, also as %q and JSON write it.
func without(text, secret string) string {
	if secret == "" {
		return text
	}
	quoted, asJSON := strconv.Quote(secret), string(compact(secret))
	for _, form := range []string{secret, quoted[1 : len(quoted)-1], asJSON[1 : len(asJSON)-1]} {
		text = strings.ReplaceAll(text, form, Masked)
	}
	return text
}
