package mask

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
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

// Text hides what has the full form of a secret: a token of a well-known vendor with its alphabet and length, a whole
// private key, a password in a URL. Each mask says how many characters it hides.
func Text(s string) string {
	s, _ = hideIn(s, false)
	return s
}

// hideIn is Text, or what a card masks of that, and also returns how many characters it hides.
func hideIn(s string, card bool) (text string, hidden int) {
	for _, form := range secretForms() {
		at := form.find(s)
		if at == nil {
			continue
		}
		var b strings.Builder
		last := 0
		for _, m := range at {
			secret := s[m[2]:m[3]]
			if secret == Mark || form.valid != nil && !form.valid(secret) || card && !form.onCard(secret) {
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

// shortSecret is how many characters a secret needs to be looked for within words: a shorter one is in many of them.
const shortSecret = 4

// About hides in a text about a JSON text what Shown hides: secrets by their form, and the values that it hides whole,
// wherever they occur, if they have at least four characters. Masking twice changes nothing.
func About(text string, raw json.RawMessage, secret ...string) string {
	if text == "" {
		return ""
	}
	return Read(raw, secret...).About(text)
}

// Reading is a JSON text that was read once for what Shown, Hidden and About say of it.
type Reading struct{ masked maskedJSON }

// Read reads a JSON text.
func Read(raw json.RawMessage, secret ...string) Reading {
	m := maskJSON(raw, secret, true)
	if len(raw) == 0 {
		m.hides = nil
	}
	longestFirst(m.hides)
	return Reading{m}
}

// Shown is what Shown returns.
func (r Reading) Shown() json.RawMessage { return r.masked.text }

// Hidden is what Hidden returns.
func (r Reading) Hidden() int { return r.masked.hidden }

// About is what About returns.
func (r Reading) About(text string) string {
	for _, secret := range r.masked.hides {
		if utf8.RuneCountInString(secret) >= shortSecret {
			text = without(text, secret)
		}
	}
	text, _ = hideIn(text, true)
	return text
}

// Without returns a text with a mask in place of each of the secrets, as NewHiding says.
func Without(text string, secrets []string) string { return NewHiding(secrets).In(text) }

// Hiding hides secrets in texts. What it looks for is found once, for all of them.
type Hiding struct {
	alone []string
	forms map[[2]byte][]string // by their first two bytes
}

// NewHiding puts a mask in place of each of the secrets, also where it is encoded: in JSON, a URL, HTML, base64 or
// hexadecimal. A secret of less than four characters, and a short word or number, is hidden where it stands alone. What
// several secrets overlap in is hidden whole.
func NewHiding(secrets []string) *Hiding {
	h := &Hiding{forms: map[[2]byte][]string{}}
	for _, secret := range secrets {
		if standsAlone(secret) {
			h.alone = append(h.alone, secret)
			continue
		}
		for _, form := range encoded(secret) {
			begins := [2]byte{form[0], form[1]}
			h.forms[begins] = append(h.forms[begins], form)
		}
	}
	return h
}

// In returns a text without the secrets.
func (h *Hiding) In(text string) string {
	for _, secret := range h.alone {
		text = without(text, secret)
	}
	var b strings.Builder
	shown, end := 0, 0 // up to where the text is written, and up to where it is hidden
	for at := range max(0, len(text)-1) {
		for _, form := range h.forms[[2]byte{text[at], text[at+1]}] {
			if at+len(form) <= end || !strings.HasPrefix(text[at:], form) {
				continue
			}
			if at >= end {
				b.WriteString(text[shown:at])
				b.WriteString(Mark)
			}
			end = at + len(form)
			shown = end
		}
	}
	b.WriteString(text[shown:])
	return b.String()
}

// plainWord is a word or number that is within many others: a password of test is in latest, and a PIN of 1234 in
// 512345.
var plainWord = regexp.MustCompile(`^(?:[A-Za-z]{1,5}|[0-9]{1,5})$`)

func standsAlone(secret string) bool {
	return utf8.RuneCountInString(secret) < shortSecret || plainWord.MatchString(secret)
}

// without hides a secret, also as %q and JSON write it.
func without(text, secret string) string {
	if secret == "" {
		return text
	}
	quoted, asJSON := strconv.Quote(secret), string(compact(secret))
	replace := strings.ReplaceAll
	if standsAlone(secret) {
		replace = Whole
	}
	for _, form := range []string{secret, quoted[1 : len(quoted)-1], asJSON[1 : len(asJSON)-1]} {
		text = replace(text, form, Mark)
	}
	return text
}

// escaped is a text that ends with a letter or digit of an escape, which belongs to no word.
var escaped = regexp.MustCompile(`(?:\\[a-z]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})$`)

// Whole replaces a secret where it stands alone, and not within a word: that is how a secret is replaced that is short,
// or a word itself.
func Whole(text, secret, with string) string {
	if secret == "" {
		return text
	}
	var b strings.Builder
	for from := 0; ; {
		at := strings.Index(text[from:], secret)
		if at < 0 {
			b.WriteString(text[from:])
			return b.String()
		}
		at += from
		end := at + len(secret)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[end:])
		alone := !inWord(before) || escaped.MatchString(text[max(0, at-6):at])
		b.WriteString(text[from:at])
		if from = end; alone && !inWord(after) {
			b.WriteString(with)
		} else {
			b.WriteString(secret)
		}
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
