package slack

import (
	"strings"

	"gatehouse/adapters/internal/chat"
)

// joiner is a character without width that is part of no token of Slack's.
const joiner = "\u2060"

// defuse makes Slack's tokens harmless in a text that Slack shows as it is, as in rich text and in plain text: <!channel>, <@U1>,
// <#C1>, <https://x|y> and @here get an invisible character inside. Slack is not known to read tokens there; but no such field is ever
// to hold one, wherever it may be copied to. (Escaping would be visible there, as &lt;.)
func defuse(s string) string {
	if !strings.ContainsRune(s, '<') {
		return defuseMentions(s)
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if s[i] == '<' && opensToken(s[i+1:]) {
			b.WriteString(joiner)
		}
	}
	return defuseMentions(b.String())
}

// opensToken reports whether a text could be the inside of one of Slack's tokens.
func opensToken(s string) bool {
	if s != "" && strings.IndexByte("!@#", s[0]) >= 0 {
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

// defuseMentions puts an invisible character into @here, @channel and @everyone. As plain words they notify nobody unless a message is
// sent with link_names or parse=full, which gatehouse never does; but one flag is little to stand between a model and everybody.
func defuseMentions(s string) string {
	if !strings.ContainsRune(s, '@') {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if s[i] == '@' && notifiesAll(s[i+1:]) {
			b.WriteString(joiner)
		}
	}
	return b.String()
}

func notifiesAll(s string) bool {
	for _, word := range []string{"here", "channel", "everyone"} {
		if len(s) >= len(word) && strings.EqualFold(s[:len(word)], word) {
			return true
		}
	}
	return false
}

// The replacers of Slack's escapes, and of what notifications do not show of Markdown.
var (
	escape           = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescape         = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
	escapeBrackets   = strings.NewReplacer("<", "&lt;", ">", "&gt;")
	unescapeBrackets = strings.NewReplacer("&lt;", "<", "&gt;", ">")
	stripMarkdown    = strings.NewReplacer("&lt;", "<", "&gt;", ">", "**", "", "`", "", "\n#", "\n")
)

// excerpt is the beginning of a text on one line, escaped for the text of a message, which Slack reads as mrkdwn.
func excerpt(s string) string {
	s = chat.OneLine(chat.Clean(s))
	if s == "" {
		return chat.NoText
	}
	var b strings.Builder
	room := maxExcerpt - len("…")
	for _, r := range defuseMentions(s) {
		c := escape.Replace(string(r))
		if room -= chat.Units(c); room < 0 {
			return b.String() + "…"
		}
		b.WriteString(c)
	}
	return b.String()
}

// shorten shortens a text and says so.
func shorten(s string, limit int) string {
	_, left := chat.Head(s, limit)
	if left == 0 {
		return s
	}
	const digits = 2 // by which the number may grow, with its comma
	kept, left := chat.Head(s, max(0, limit-chat.Units(chat.MoreNote(left))-digits))
	return kept + chat.MoreNote(left)
}

// inline is a text of a card on one line, within a limit.
func inline(s string, limit int) string { return shorten(defuse(chat.OneLine(chat.Reveal(s))), limit) }
