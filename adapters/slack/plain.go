package slack

import (
	"fmt"
	"gatehouse/adapters/internal/chattext"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// clean makes a text of a model or a person fit to be shown: line ends become newlines; control characters, those that change the
// direction of writing and invisible tags go away, so that no escape sequence is left and nothing is written backwards. What is no
// UTF-8 becomes U+FFFD.
func clean(s string) string {
	return replace(s, func(r rune) (string, bool) { return "", isControl(r) || turns(r) })
}

// exposed is clean for cards, where an approver must see what there is: what turns or hides text is shown as in JSON, \u202e.
func exposed(s string) string {
	return replace(s, func(r rune) (string, bool) {
		switch {
		case turns(r), chattext.Invisible(r):
			if r > 0xffff {
				high, low := utf16.EncodeRune(r)
				return fmt.Sprintf(`\u%04x\u%04x`, high, low), true
			}
			return fmt.Sprintf(`\u%04x`, r), true
		}
		return "", isControl(r)
	})
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func replace(s string, with func(rune) (string, bool)) string {
	s = lineEnds.Replace(strings.ToValidUTF8(s, "\ufffd"))
	var b strings.Builder
	for _, r := range s {
		if other, ok := with(r); ok {
			b.WriteString(other)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isControl reports whether a rune is a control character other than a newline or a tab.
func isControl(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || 0x7f <= r && r <= 0x9f
}

// turns reports whether a rune changes the direction of writing or is an invisible tag.
func turns(r rune) bool {
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' ||
		0xe0000 <= r && r <= 0xe007f
}

// joiner is a character without width that belongs to no token of Slack's.
const joiner = "\u2060"

// defuse takes their force from Slack's tokens in a text that Slack shows as it is, as in rich text and in plain text: <!channel>,
// <@U1>, <#C1>, <https://x|y> and @here get an invisible character inside. Slack is not known to read tokens there; but no such
// field is ever to hold one, wherever it may be copied to. (Escaping would be shown there, as &lt;.)
func defuse(s string) string {
	if strings.ContainsRune(s, '<') {
		var b strings.Builder
		for i := range len(s) {
			b.WriteByte(s[i])
			if s[i] == '<' && opensToken(s[i+1:]) {
				b.WriteString(joiner)
			}
		}
		s = b.String()
	}
	return calm(s)
}

// opensToken reports whether a text could be the inside of one of Slack's tokens.
func opensToken(s string) bool {
	if s == "" {
		return false
	}
	if strings.IndexByte("!@#", s[0]) >= 0 {
		return true
	}
	for i := range len(s) {
		switch c := s[i] | 0x20; {
		case s[i] == ':':
			return i > 0
		case c < 'a' || 'z' < c:
			return false
		}
	}
	return false
}

// calm puts an invisible character into @here, @channel and @everyone. As plain words they call nobody unless a message is sent
// with link_names or parse=full, which gatehouse never does; but one flag is little to stand between a model and everybody.
func calm(s string) string {
	if !strings.ContainsRune(s, '@') {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if s[i] == '@' && callsAll(s[i+1:]) {
			b.WriteString(joiner)
		}
	}
	return b.String()
}

func callsAll(s string) bool {
	for _, word := range []string{"here", "channel", "everyone"} {
		if len(s) >= len(word) && strings.EqualFold(s[:len(word)], word) {
			return true
		}
	}
	return false
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// excerpt is the beginning of a text on one line, escaped for the text of a message, which Slack reads as mrkdwn.
func excerpt(s string) string {
	s = strings.Join(strings.Fields(clean(s)), " ")
	if s == "" {
		return noText
	}
	var b strings.Builder
	room := maxExcerpt - len("…")
	for _, r := range calm(s) {
		c := escaper.Replace(string(r))
		if room -= units(c); room < 0 {
			return b.String() + "…"
		}
		b.WriteString(c)
	}
	return b.String()
}

// cutTo shortens a text and says so.
func cutTo(s string, limit int) string {
	note := func(left int) string { return "… (" + thousands(left) + " more characters are not shown)" }
	_, left := head(s, limit)
	if left == 0 {
		return s
	}
	const digits = 2 // by which the number may grow, with its comma
	kept, left := head(s, max(0, limit-units(note(left))-digits))
	return kept + note(left)
}

// head is the beginning of a text within a limit, and how many characters are left.
func head(s string, limit int) (string, int) {
	for i, r := range s {
		if limit -= units(string(r)); limit < 0 {
			return s[:i], utf8.RuneCountInString(s[i:])
		}
	}
	return s, 0
}

func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// thousands writes a number as people read it: 4,312.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// inline is a text of a card on one line, within a limit.
func inline(s string, limit int) string {
	return cutTo(defuse(strings.Join(strings.Fields(exposed(s)), " ")), limit)
}
