package mask

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Escape makes what an approver reads show everything that is in it: a control character other than a newline or a tab,
// and a character that is invisible or changes the writing direction, is escaped as in JSON, such as \u202e. What joins
// or shapes its neighbours is none of these where Unicode has a use for it: in emoji, between letters, after a virama.
// Invalid UTF-8 becomes U+FFFD. Escaping twice changes nothing.
func Escape(s string) string {
	return escape(s, func(r rune) bool { return r != '\n' && r != '\t' && unseen(r) })
}

// EscapeLine is Escape for a single line: newlines and tabs are escaped, too.
func EscapeLine(s string) string { return escape(s, unseen) }

func escape(s string, escaped func(rune) bool) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\ufffd")
	if !strings.ContainsFunc(s, escaped) {
		return s
	}
	var b strings.Builder
	all := []rune(s)
	seen := joined(all)
	for i, r := range all {
		switch {
		case !escaped(r), seen != nil && seen[i]:
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// unseen reports whether a character has no picture of its own: controls, formats and whatever Unicode says may be
// ignored when it is displayed, the separators of lines and paragraphs, and the empty Braille pattern.
func unseen(r rune) bool {
	if ' ' <= r && r <= '~' {
		return false
	}
	return r == '\u2028' || r == '\u2029' || r == '\u2800' ||
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
