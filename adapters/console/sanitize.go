package console

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"gatehouse/adapters/internal/safetext"
)

// table matches what stands before the second column of a list of commands.
var table = regexp.MustCompile(`^ *\S+(?: \S+)* {2,}`)

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// Sanitize makes a text from a model or a person safe to print on a terminal. It removes control characters other than
// newline and tab, so that no escape sequence is left. Carriage returns and the separators U+2028 and U+2029 become
// newlines; characters that change the direction of writing, and invisible tag characters, are printed as <U+202E>;
// bytes that are not UTF-8 become U+FFFD.
func Sanitize(s string) string {
	var b strings.Builder
	for _, r := range lineEnds.Replace(s) {
		switch {
		case safetext.Directional(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		case r == '\n' || r == '\t' || !unicode.IsControl(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// oneLine is Sanitize without newlines.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(Sanitize(s), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}
