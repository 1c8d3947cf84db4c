package mrkdwn

import (
	"regexp"
	"strings"

	"gatehouse/adapters/internal/safetext"
)

// Joiner is a zero-width character that no token of Slack contains.
const Joiner = "\u2060"

// Defuse makes Slack's tokens harmless in rich text and plain text, which Slack shows unchanged: it puts an invisible
// character into <!channel>, <@U1>, <#C1>, <https://x|y> and @here. Slack is not known to parse tokens there, but such
// a field must never contain one, wherever it may be copied. (Escaping would be visible there, as &lt;.)
func Defuse(s string) string {
	if !strings.ContainsAny(s, "<@") {
		return s
	}
	return DefuseMentions(tokenStart.ReplaceAllString(s, "<"+Joiner+"$1"))
}

// DefuseMentions puts an invisible character into @here, @channel and @everyone. As plain words they notify people only
// if a message is sent with link_names or parse=full. gatehouse never does that, but one flag is too weak a safeguard.
func DefuseMentions(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	return broadcast.ReplaceAllString(s, "@"+Joiner+"$1")
}

var (
	tokenStart = regexp.MustCompile(`<([!@#]|[A-Za-z]+:)`)
	broadcast  = regexp.MustCompile(`(?i)@(here|channel|everyone)`)
)

// Escape escapes a text for mrkdwn, so that Slack shows it as it is.
func Escape(s string) string { return escapes.Replace(s) }

// Unescape decodes Slack's escapes, once.
func Unescape(s string) string { return unescapes.Replace(s) }

var (
	escapes   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescapes = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// Shorten cuts a text to a limit, and adds how much is missing.
func Shorten(s string, limit int) string {
	_, left := safetext.Head(s, limit)
	if left == 0 {
		return s
	}
	const digits = 2 // the number may grow by a digit and a comma
	kept, left := safetext.Head(s, max(0, limit-safetext.Units(safetext.MoreNote(left))-digits))
	return kept + safetext.MoreNote(left)
}
