package slack

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core/mask"
)

// fromMrkdwn converts a person's text in Slack's mrkdwn to plain text for the agent: Slack's tokens become what the
// person saw, and its three entities are decoded, once. names are those that are known of people, channels and user
// groups, by their ids.
func fromMrkdwn(text string, names map[string]string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
	return token.ReplaceAllStringFunc(text, func(part string) string {
		if inside, ends := strings.CutSuffix(part, ">"); ends && part[0] == '<' {
			return tokenText(inside[1:], names)
		}
		return unescape.Replace(part)
	})
}

// token matches Slack's tokens, and what is between them. A < that a person typed arrives as &lt;.
var token = regexp.MustCompile(`<[^<>\n]*>|[^<]+|<`)

// tokenText returns the inside of <…> as people see it.
func tokenText(inside string, names map[string]string) string {
	what, label, _ := strings.Cut(inside, "|")
	label = unescape.Replace(label)
	if group, ok := strings.CutPrefix(what, "!subteam^"); ok {
		what = "@" + group
	}
	switch {
	case strings.HasPrefix(what, "@"), strings.HasPrefix(what, "#"):
		id := what[1:]
		return what[:1] + cmp.Or(strings.TrimLeft(names[id], "@#"), strings.TrimLeft(label, "@#"), id)
	case what == "!here", what == "!channel", what == "!everyone":
		return "@" + what[1:]
	case strings.HasPrefix(what, "!"):
		return cmp.Or(label, dateOf(what), "<"+unescape.Replace(what)+">")
	}
	return linkText(unescape.Replace(what), label)
}

// dateOf is the time of a date token, "" for any other.
func dateOf(what string) string {
	stamp, isDate := strings.CutPrefix(what, "!date^")
	stamp, _, _ = strings.Cut(stamp, "^")
	at := timeOf(json.RawMessage(stamp))
	if !isDate || at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04 MST")
}

// linkText returns a link as text: its label and, if the label does not show it, its address.
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

// joiner is a zero-width character that no Slack token contains.
const joiner = "\u2060"

// defuse makes Slack's tokens harmless in rich text and plain text, which Slack shows unchanged: it puts an invisible
// character into <!channel>, <@U1>, <#C1>, <https://x|y> and @here. Slack is not known to parse tokens there, but such
// a field must never contain one, wherever it may be copied. (Escaping would be visible there, as &lt;.)
func defuse(s string) string {
	if !strings.ContainsAny(s, "<@") {
		return s
	}
	return defuseMentions(tokenStart.ReplaceAllString(s, "<"+joiner+"$1"))
}

// defuseMentions puts an invisible character into @here, @channel and @everyone. As plain words they notify people only
// if a message is sent with link_names or parse=full. gatehouse never does that, but one flag is too weak a safeguard.
func defuseMentions(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	return broadcast.ReplaceAllString(s, "@"+joiner+"$1")
}

var (
	tokenStart = regexp.MustCompile(`<([!@#]|[A-Za-z]+:)`)
	broadcast  = regexp.MustCompile(`(?i)@(here|channel|everyone)`)
)

// The replacers for Slack's escapes.
var (
	escape   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// excerpt returns the text of a message that has blocks. Notifications show its beginning. Screen readers read it
// instead of the blocks, so it is whole, up to Slack's limit.
func excerpt(s string) string { return excerptOf(s, maxExcerpt) }

// excerptOf is excerpt with another limit.
func excerptOf(s string, limit int) string { return escaped(joinBlankLines(chat.Clean(s)), limit) }

// joinBlankLines removes the white space around a text and makes several blank lines in it one, without the white space
// in front of them.
func joinBlankLines(s string) string {
	var kept []string
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		last := len(kept) - 1
		switch blank := strings.Trim(line, " \t") == ""; {
		case !blank || last < 0:
			kept = append(kept, line)
		case kept[last] != "":
			kept[last] = strings.TrimRight(kept[last], " \t")
			kept = append(kept, "")
		}
	}
	return strings.Join(kept, "\n")
}

// maxWord is how much of a text, once it is escaped, may be left out so that it ends after a word. A longer word is
// cut.
const maxWord = 200

// escaped returns a clean text, escaped for the text of a message, which Slack parses as mrkdwn. One that exceeds the
// limit ends after a word, if that is not too long, and with the number of characters that are missing. It is cut
// before it is escaped, so that a cut leaves no half of an escape.
func escaped(s string, limit int) string {
	if s == "" {
		return chat.NoText
	}
	s = defuseMentions(s)
	kept := fitting(s, limit)
	if kept == s {
		return escape.Replace(s)
	}
	kept = fitting(s, limit-chat.Units(leftOut(utf8.RuneCountInString(s))))
	if at := strings.LastIndexFunc(kept, unicode.IsSpace); at > 0 && fitting(kept[at:], maxWord) == kept[at:] {
		kept = strings.TrimSpace(kept[:at])
	}
	return escape.Replace(kept) + leftOut(utf8.RuneCountInString(s[len(kept):]))
}

func leftOut(n int) string {
	return "… (" + chat.Thousands(n) + " more characters are left out here)"
}

// fitting returns the beginning of a text that is within a limit once it is escaped.
func fitting(s string, limit int) string {
	for i, r := range s {
		switch r {
		case '&':
			limit -= len("&amp;")
		case '<', '>':
			limit -= len("&lt;")
		default:
			limit -= utf16.RuneLen(r)
		}
		if limit < 0 {
			return s[:i]
		}
	}
	return s
}

// shorten cuts a text to a limit, and adds how much is missing.
func shorten(s string, limit int) string {
	_, left := chat.Head(s, limit)
	if left == 0 {
		return s
	}
	const digits = 2 // the number may grow by a digit and a comma
	kept, left := chat.Head(s, max(0, limit-chat.Units(chat.MoreNote(left))-digits))
	return kept + chat.MoreNote(left)
}

// short returns a text on one line that ends within a limit, with a sign where it is cut.
func short(s string, limit int) string {
	text := defuse(chat.OneLine(mask.Escape(s)))
	if _, left := chat.Head(text, limit); left > 0 {
		text, _ = chat.Head(text, limit-1)
		text += "…"
	}
	return chat.OrNone(text)
}

// inline returns a text for a card on one line, within a limit.
func inline(s string, limit int) string { return shorten(defuse(chat.OneLine(mask.Escape(s))), limit) }

// said draws a person's own words on one line, within a limit.
func said(s string, limit int) string { return shorten(defuse(chat.OneLine(chat.Clean(s))), limit) }
