package access

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// named is an entry of GATEHOUSE_TOKENS as a whole: a name, and a token after it.
var named = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}!?=(.+)$`)

// quotes are what is put around a value, in a file or by a program that writes.
const quotes = "\"'`“”„‟‘’‚«»"

// mistyped says what was copied together with a wrong token; "" if nothing shows. It looks at nothing but what was
// sent, so it tells a guesser nothing.
func mistyped(token string) string {
	const only = " Enter only the token itself."
	bare := strings.TrimSpace(token)
	for _, c := range bare {
		if unseen(c) {
			return fmt.Sprintf("The token has a character in it that can't be seen (%s), as if it was copied from a "+
				"page or a document. Delete it, or type the token.", codePoint(c))
		}
	}
	inner := strings.Trim(bare, quotes)
	if entry := named.FindStringSubmatch(inner); entry != nil && len(strings.Trim(entry[1], quotes)) >= minToken {
		return "The token has a name and an equals sign before it." + only
	}
	if inner != bare {
		return "The token has quotation marks around it." + only
	}
	return ""
}

// unseen reports whether a character can't be seen where tokens are shown.
func unseen(c rune) bool { return c == utf8.RuneError || c != ' ' && !unicode.IsPrint(c) }

// codePoint names a character that can't be shown.
func codePoint(c rune) string {
	if c == utf8.RuneError {
		return "one that is not UTF-8"
	}
	return fmt.Sprintf("U+%04X", c)
}
