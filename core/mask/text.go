package mask

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
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

// Text hides what has the full form of a secret: a token of a well-known vendor with its alphabet and length, a whole private key, a
// password in a URL. Each mask says how many characters it hides.
func Text(s string) string {
	s, _ = hideIn(s, false)
	return s
}

// hideIn is Text, or what a card masks of that, and also returns how many characters it hides.
func hideIn(s string, card bool) (text string, hidden int) {
	for _, form := range secretForms() {
		at := form.pattern.FindAllStringSubmatchIndex(s, -1)
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

// About hides in a text about a JSON text what Shown hides: secrets by their form, and the values that it hides whole, wherever they occur, if they have at least
// four characters. Masking twice changes nothing.
func About(text string, raw json.RawMessage, secret ...string) string {
	var hides []string
	if len(raw) > 0 {
		hides = maskJSON(raw, secret, true).hides
	}
	longestFirst(hides)
	for _, secret := range hides {
		if utf8.RuneCountInString(secret) >= shortSecret {
			text = without(text, secret)
		}
	}
	text, _ = hideIn(text, true)
	return text
}

// Without returns a text with a mask in place of each of the secrets, also where it is encoded: in JSON, a URL, HTML, base64 or hexadecimal. A secret of
// less than four characters is hidden where it stands alone. What several secrets overlap in is hidden whole.
func Without(text string, secrets []string) string {
	var spans [][2]int
	for _, secret := range secrets {
		if utf8.RuneCountInString(secret) < shortSecret {
			text = without(text, secret)
		}
	}
	for _, secret := range secrets {
		if utf8.RuneCountInString(secret) < shortSecret {
			continue
		}
		for _, form := range encoded(secret) {
			for from := 0; ; {
				at := strings.Index(text[from:], form)
				if at < 0 {
					break
				}
				spans = append(spans, [2]int{from + at, from + at + len(form)})
				from += at + len(form)
			}
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	var b strings.Builder
	end := 0
	for _, span := range spans {
		if span[0] >= end {
			b.WriteString(text[end:span[0]])
			b.WriteString(Mark)
		}
		end = max(end, span[1])
	}
	b.WriteString(text[end:])
	return b.String()
}

// without hides a secret, also as %q and JSON write it.
func without(text, secret string) string {
	if secret == "" {
		return text
	}
	quoted, asJSON := strconv.Quote(secret), string(compact(secret))
	replace := strings.ReplaceAll
	if utf8.RuneCountInString(secret) < shortSecret {
		replace = Whole
	}
	for _, form := range []string{secret, quoted[1 : len(quoted)-1], asJSON[1 : len(asJSON)-1]} {
		text = replace(text, form, Mark)
	}
	return text
}

// escaped is a text that ends with a letter or digit of an escape, which belongs to no word.
var escaped = regexp.MustCompile(`(?:\\[a-z]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})$`)

// Whole replaces a secret where it stands alone, and not within a word: that is how a secret is replaced that is short, or a word itself.
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
