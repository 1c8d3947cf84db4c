package console

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sanitize makes a text of a model or a person safe to print on a terminal. Control characters go away, but for newline and tab, so
// that no escape sequence is left; carriage returns and the separators U+2028 and U+2029 become newlines; characters that change
// the direction of writing, and invisible tag characters, are shown as <U+202E>; bytes that are no UTF-8 become U+FFFD.
func Sanitize(s string) string {
	safe := true
	for _, r := range s {
		if r == utf8.RuneError || classify(r) != keep {
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
		case keep:
			b.WriteRune(r)
		case line:
			b.WriteByte('\n')
		case show:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// oneLine is Sanitize without newlines.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(Sanitize(s), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

const (
	keep = iota
	drop
	line
	show
)

func classify(r rune) int {
	switch {
	case r == '\n' || r == '\t':
		return keep
	case r == '\r' || r == '\u2028' || r == '\u2029':
		return line
	case r < 0x20 || 0x7f <= r && r <= 0x9f:
		return drop
	case r == '\u061c' || r == '\u200e' || r == '\u200f' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069',
		0xe0000 <= r && r <= 0xe007f:
		return show
	}
	return keep
}
