package slack

import (
	"strings"

	"gatehouse/adapters/internal/chat"
)

// fromMrkdwn is what a person wrote in Slack's mrkdwn, as plain text for the agent: Slack's tokens become what the person saw, and its
// three entities are decoded, once. names gives the name of a person ('@'), a channel ('#') or a user group ('!'), "" where it does not
// know.
func fromMrkdwn(text string, names func(kind byte, id string) string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
	var b strings.Builder
	for {
		start := strings.IndexByte(text, '<')
		if start < 0 {
			break
		}
		end := strings.IndexAny(text[start+1:], "<>\n")
		if end < 0 || text[start+1+end] != '>' { // not a token: Slack sends a < that a person typed as &lt;
			b.WriteString(unescape.Replace(text[:start+1]))
			text = text[start+1:]
			continue
		}
		b.WriteString(unescape.Replace(text[:start]))
		b.WriteString(tokenText(text[start+1:start+1+end], names))
		text = text[start+end+2:]
	}
	b.WriteString(unescape.Replace(text))
	return b.String()
}

// tokenText is the inside of <…> as people see it.
func tokenText(inside string, names func(kind byte, id string) string) string {
	what, label, _ := strings.Cut(inside, "|")
	label = unescape.Replace(label)
	switch {
	case strings.HasPrefix(what, "@"), strings.HasPrefix(what, "#"):
		return what[:1] + nameOf(what[0], what[1:], label, names)
	case strings.HasPrefix(what, "!subteam^"):
		return "@" + nameOf('!', strings.TrimPrefix(what, "!subteam^"), label, names)
	case what == "!here", what == "!channel", what == "!everyone":
		return "@" + what[1:]
	case strings.HasPrefix(what, "!"):
		if label != "" {
			return label
		}
		return "<" + unescape.Replace(what) + ">"
	}
	return linkText(unescape.Replace(what), label)
}

// nameOf is a name without its sign: the one that is looked up, the label of the token, else the id.
func nameOf(kind byte, id, label string, names func(kind byte, id string) string) string {
	for _, name := range []string{names(kind, id), label} {
		if name = strings.TrimLeft(name, "@#"); name != "" {
			return name
		}
	}
	return id
}

// linkText is a link: its label and, where the label does not show it, its address.
func linkText(address, label string) string {
	bare := func(s string) string {
		for _, scheme := range []string{"https://", "http://", "mailto:", "tel:"} {
			s = strings.TrimPrefix(s, scheme)
		}
		return strings.TrimSuffix(s, "/")
	}
	switch {
	case label == "", label == address:
		return address
	case bare(label) == bare(address):
		if strings.HasPrefix(address, "http") {
			return address
		}
		return label
	}
	return label + " (" + address + ")"
}

// cutMention removes mentions of the bot from the beginning of a message, each with a comma or colon after it. mentioned: the bot is
// mentioned somewhere.
func cutMention(text, bot string) (rest string, mentioned bool) {
	if bot == "" {
		return text, false
	}
	plain, labelled := "<@"+bot+">", "<@"+bot+"|"
	mentioned = strings.Contains(text, plain)
	if at := strings.Index(text, labelled); at >= 0 {
		mentioned = mentioned || strings.Contains(text[at:], ">")
	}
	for {
		rest = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(rest, plain):
			rest = rest[len(plain):]
		case strings.HasPrefix(rest, labelled) && strings.Contains(rest, ">"):
			rest = rest[strings.IndexByte(rest, '>')+1:]
		default:
			return rest, mentioned
		}
		rest = strings.TrimLeft(rest, ",:")
		text = rest
	}
}

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
