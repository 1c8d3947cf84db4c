package console

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sanitize makes a text from a model or a person safe to print on a terminal. It removes control characters other than newline and tab,
// so that no escape sequence is left. Carriage returns and the separators U+2028 and U+2029 become newlines; characters that change
// the direction of writing, and invisible tag characters, are printed as <U+202E>; bytes that are not UTF-8 become U+FFFD.
func Sanitize(s string) string {
	safe := true
	for _, r := range s {
		if r == utf8.RuneError || classify(r) != plain {
			safe = false
			break
		}
	}
	if safe {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch classify(r) {
		case plain:
			b.WriteRune(r)
		case lineBreak:
			b.WriteByte('\n')
		case invisible:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// oneLine is Sanitize without newlines.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(Sanitize(s), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// class is what Sanitize does with a character.
type class int

const (
	plain     class = iota // printed as it is
	control                // removed
	lineBreak              // a newline
	invisible              // printed by its number
)

func classify(r rune) class {
	switch {
	case r == '\n' || r == '\t':
		return plain
	case r == '\r' || r == '\u2028' || r == '\u2029':
		return lineBreak
	case r < 0x20 || 0x7f <= r && r <= 0x9f:
		return control
	case r == '\u061c' || r == '\u200e' || r == '\u200f' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069',
		0xe0000 <= r && r <= 0xe007f:
		return invisible
	}
	return plain
}
