// Package safetext makes foreign text safe to show: Clean("a\u202eb\r\n") is "ab\n", Head and Shortened cut a text, and
// MoreNote says how many characters are missing. Lengths are counted in UTF-16 units, as Units does and platforms do.
package safetext

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"gatehouse/adapters/wording"
)

// Clean makes foreign text safe to show. Line ends become newlines. It removes control characters, characters that
// change the writing direction, and invisible tags: no escape sequence is left, and no text runs backwards. Invalid
// UTF-8 becomes U+FFFD.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isControl(r) || Directional(r) {
			return -1
		}
		return r
	}, lineEnds.Replace(strings.ToValidUTF8(s, "\ufffd")))
}

// isClean reports whether a text has only ASCII characters that Clean keeps, as most have.
func isClean(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// isControl reports whether a rune is a control character other than a newline or a tab.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// Directional reports whether a character changes the writing direction or is an invisible tag.
func Directional(r rune) bool {
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || '\u202a' <= r && r <= '\u202e' ||
		'\u2066' <= r && r <= '\u2069' ||
		0xe0000 <= r && r <= 0xe007f
}

// Units returns the length of a text in UTF-16 units. Platforms count characters, of which there are never more. A byte
// that is not valid UTF-8 counts as the one character that will replace it.
func Units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// Head returns the beginning of a text within a limit in UTF-16 units, and how many characters are left out.
func Head(s string, limit int) (head string, left int) {
	for i, r := range s {
		if limit -= utf16.RuneLen(r); limit < 0 {
			return s[:i], utf8.RuneCountInString(s[i:])
		}
	}
	return s, 0
}

// Thousands formats a number with commas: 4,312.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted puts a number in the place {count} of a text.
func Counted(text string, n int) string { return wording.Fill(text, "{count}", Thousands(n)) }

// MoreNote returns a note with the number of characters that were left out of a text.
func MoreNote(left int) string { return "… (" + Thousands(left) + " more characters are not shown)" }

// Shortened returns the beginning of a text within a limit in UTF-16 units, and how much is missing.
func Shortened(s string, limit int) string {
	head, left := Head(s, limit)
	if left > 0 {
		head += MoreNote(left)
	}
	return head
}

// Joined joins the texts in which there is something, without the white space around them.
func Joined(between string, texts ...string) string {
	var all []string
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, between)
}

// OneLine joins the lines of a text, with one space between words.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// OrNone returns the text, or "(none)" for an empty one: platforms refuse empty text.
func OrNone(s string) string { return cmp.Or(s, "(none)") }

// maxName is the longest name that is shown, in characters.
const maxName = 80

// Name returns a person's or a file's name on one line and not too long, so that it can't be mistaken for anything but
// a name.
func Name(s string) string {
	s = OneLine(strings.ToValidUTF8(s, "\ufffd"))
	if r := []rune(s); len(r) > maxName {
		s = string(r[:maxName])
	}
	return s
}

// Clip shortens foreign text for a log.
func Clip(s string) string { return s[:min(len(s), 40)] }
