package discord

import (
	"fmt"
	"gatehouse/adapters/internal/chattext"
	"regexp"
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

// escaped makes a text stand as it is where Discord reads Markdown, piece by piece: each is a character, or an address, which Discord
// shows as it is. Any other is made none, since it would take in the backslashes that follow. A text of several lines keeps them; none
// of them becomes a heading or a quotation.
func escaped(s string) []string {
	var pieces []string
	atStart := true
	for s != "" {
		if address := addressAt(s); address != "" && (len(pieces) == 0 || strings.TrimSpace(pieces[len(pieces)-1]) == "") {
			pieces, s, atStart = append(pieces, address), s[len(address):], false
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		piece := s[:n]
		if strings.ContainsRune("\\`*_~|[]<>", r) || atStart && strings.ContainsRune("#-", r) || strings.HasPrefix(s, "://") {
			piece = `\` + piece
		}
		pieces, s, atStart = append(pieces, piece), s[n:], r == '\n' || atStart && r == ' '
	}
	return pieces
}

// addressAt is the address that a text begins with, if nothing in it means anything to Discord. An underscore means nothing there.
func addressAt(s string) string {
	if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
		return ""
	}
	end := strings.IndexAny(s, " \n\t")
	if end < 0 {
		end = len(s)
	}
	for _, c := range []byte(s[:end]) {
		if letter := 'a' <= c|0x20 && c|0x20 <= 'z'; !letter && strings.IndexByte("0123456789-._/?=&%#:+,;@!$", c) < 0 {
			return ""
		}
	}
	return s[:end]
}

// fit is a text that stands as it is, within a limit; where it is shortened it says so.
func fit(s string, limit int) string {
	pieces := escaped(s)
	if n := fitting(pieces, limit); n < len(pieces) {
		note := func(left int) string { return "… (" + thousands(left) + " more characters are not shown)" }
		n = fitting(pieces, max(0, limit-units(note(utf8.RuneCountInString(s)))))
		left := 0
		for _, p := range pieces[n:] {
			left += utf8.RuneCountInString(strings.TrimPrefix(p, `\`))
		}
		return strings.Join(pieces[:n], "") + note(left)
	}
	return strings.Join(pieces, "")
}

// fitting is how many pieces a limit takes.
func fitting(pieces []string, limit int) int {
	for i, p := range pieces {
		if limit -= units(p); limit < 0 {
			return i
		}
	}
	return len(pieces)
}

// inline is a text of a card on one line, within a limit.
func inline(s string, limit int) string {
	return fit(oneLine(exposed(s)), limit)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// codeWord is a text of a card in the letters of code, on one line, within a limit.
func codeWord(s string, limit int) string {
	word, left := head(strings.ReplaceAll(oneLine(exposed(s)), "`", "'"), limit)
	if left > 0 {
		word += "…"
	}
	return "`" + orNone(word) + "`"
}

// orNone stands for an empty text.
func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// tokens is what stands in a message for somebody, something or somewhere: <@1>, <@&2>, <#3>, <:name:4>.
var tokens = regexp.MustCompile(`<(@[!&]?|#|a?:\w+:)\d+>`)
