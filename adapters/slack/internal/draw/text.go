package draw

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/core/mask"
)

// excerpt returns the text of a message that has blocks. Notifications show its beginning. Screen readers read it
// instead of the blocks, so it is whole, up to Slack's limit.
func excerpt(s string) string { return excerptOf(s, maxExcerpt) }

// excerptOf is excerpt with another limit.
func excerptOf(s string, limit int) string { return escaped(joinBlankLines(safetext.Clean(s)), limit) }

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
		return outbound.NoText
	}
	s = mrkdwn.DefuseMentions(s)
	kept := fitting(s, limit)
	if kept == s {
		return mrkdwn.Escape(s)
	}
	kept = fitting(s, limit-safetext.Units(leftOut(utf8.RuneCountInString(s))))
	if at := strings.LastIndexFunc(kept, unicode.IsSpace); at > 0 && fitting(kept[at:], maxWord) == kept[at:] {
		kept = strings.TrimSpace(kept[:at])
	}
	return mrkdwn.Escape(kept) + leftOut(utf8.RuneCountInString(s[len(kept):]))
}

func leftOut(n int) string {
	return "… (" + safetext.Thousands(n) + " more characters are left out here)"
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

// short returns a text on one line that ends within a limit, with a sign where it is cut.
func short(s string, limit int) string {
	text := mrkdwn.Defuse(safetext.OneLine(mask.Escape(s)))
	if _, left := safetext.Head(text, limit); left > 0 {
		text, _ = safetext.Head(text, limit-1)
		text += "…"
	}
	return safetext.OrNone(text)
}

// inline returns a text for a card on one line, within a limit.
func inline(s string, limit int) string {
	return mrkdwn.Shorten(mrkdwn.Defuse(safetext.OneLine(mask.Escape(s))), limit)
}

// said draws a person's own words on one line, within a limit.
func said(s string, limit int) string {
	return mrkdwn.Shorten(mrkdwn.Defuse(safetext.OneLine(safetext.Clean(s))), limit)
}
