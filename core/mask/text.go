package mask

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Mark stands for a secret.
const Mark = "••••••"

// marked is what is shown in place of a secret. It tells how much it hides, since an approver decides about the whole.
func marked(secret string) string {
	if n := utf8.RuneCountInString(secret); n != 1 {
		return fmt.Sprintf("%s (%d characters hidden)", Mark, n)
	}
	return Mark + " (1 character hidden)"
}

// Text hides what has the full form of a secret: a token of a well-known vendor with its alphabet and length, a whole private key, a
// password in a URL. Each mask says how many characters it hides.
func Text(s string) string {
	s, _ = hideIn(s)
	return s
}

// hideIn is Text, and also returns how many characters it hides.
func hideIn(s string) (text string, hidden int) {
	for _, form := range secretForms() {
		at := form.pattern.FindAllStringSubmatchIndex(s, -1)
		if at == nil {
			continue
		}
		var b strings.Builder
		last := 0
		for _, m := range at {
			secret := s[m[2]:m[3]]
			if form.valid != nil && !form.valid(secret) {
				continue
			}
			b.WriteString(s[last:m[2]])
			b.WriteString(marked(secret))
			hidden += utf8.RuneCountInString(secret)
			last = m[3]
		}
		b.WriteString(s[last:])
		s = b.String()
	}
	return s, hidden
}

// shortSecret is how many characters a secret needs to be looked for in a text: a shorter one is in many words.
const shortSecret = 4

// About hides in a text about a JSON text what Text hides, and the values that JSON hides whole, wherever they occur, if they have at least
// four characters. Masking twice changes nothing.
func About(text string, raw json.RawMessage, secret ...string) string {
	if len(raw) == 0 {
		return Text(text)
	}
	hides := maskJSON(raw, secret).hides
	longestFirst(hides)
	for _, secret := range hides {
		if utf8.RuneCountInString(secret) >= shortSecret {
			text = without(text, secret)
		}
	}
	return Text(text)
}

// Without returns a text with a mask in place of each of the secrets, as Secrets returns them.
func Without(text string, secrets []string) string {
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
		text = strings.ReplaceAll(text, form, Mark)
	}
	return text
}
