package draw

import (
	"cmp"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core/mask"
)

// Discord's limits, in characters. gatehouse counts UTF-16 units, which are never fewer.
const (
	MaxContent    = 2_000 // of a message (resources/message)
	maxCard       = 4_000 // of all texts in a container (components/reference)
	maxCustomID   = 100   // components/reference
	MaxInput      = 4_000 // of the text in an input (the same)
	MaxNonce      = 25    // resources/message
	maxButton     = 80    // of a button's text (components/reference)
	maxOption     = 100   // of an option of a menu, and of a field's description (the same)
	maxFieldLabel = 45    // of a field's label, and of a form's title (the same)
	maxFields     = 5     // of a form (the same)
)

// gatehouse's own limits, below Discord's: their sum fits one message whatever the fields hold. They apply to texts
// after escaping.
const (
	MaxReply     = MaxContent - 70 // of a part of a reply; leaves room for the note that it comes late
	MaxPlain     = 1_800           // of a notice or an error
	maxTool      = 60
	maxPerson    = 60
	maxSummary   = 260
	maxApprovers = 10
	maxMessage   = 150
	maxApprover  = 40
	maxChanged   = 200
	MaxReason    = 1_000 // of the form's input
	maxReasonOut = 400   // of it, on the card
	maxLines     = 3     // of a conversation, on a copy of a card
	maxLine      = 100
	maxArguments = 2_080 // with its fences, on the card at most, if the rest leaves room; a button shows all of them
	maxContext   = 500   // of all of them with what stands around them
	minArguments = 40    // with less room than this none are shown
	maxTopic     = 60    // of a thread's name
	maxQuestion  = 1_000 // of a question above its form; its card shows all of it
)

// StepsPrefix stands before a turn's tools, in small text.
const StepsPrefix = "-# 🔧 "

// Late stands above a message that comes late, in small text.
func Late(t *wording.Texts) string { return "-# " + t.CardLate + "\n" }

// gap is an invisible character. It breaks what no backslash breaks; code has none.
const gap = "\u200b"

// escape escapes a text's Markdown. An address without Markdown stays as it is, if it ends within the text or may end
// with it. Any other is escaped so that Discord makes no link of it, which would include the backslashes that follow.
// Lines are kept, but none becomes a heading, an item or a quotation.
func escape(s string, ends bool) string {
	var b strings.Builder
	begins, counts, before := true, false, ' ' // the line has had nothing but spaces; or but those and digits
	for s != "" {
		address := ""
		if unicode.IsSpace(before) {
			address = addressAt(s)
		}
		if address != "" && (ends || address != s) {
			b.WriteString(address)
			s, begins, counts, before = s[len(address):], false, false, '/'
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		if strings.ContainsRune("\\`*_~|[]<>#", r) || begins && r == '-' || counts && r == '.' ||
			strings.HasPrefix(s, "://") {
			b.WriteByte('\\')
		}
		b.WriteString(s[:n])
		if strings.HasPrefix(s, "@everyone") || strings.HasPrefix(s, "@here") {
			b.WriteString(gap)
		}
		counts = '0' <= r && r <= '9' && (begins || counts)
		s, begins, before = s[n:], r == '\n' || begins && r == ' ', r
	}
	return b.String()
}

// addressAt returns the address without Markdown that a text begins with, up to white space or the end; "" if there is
// none. An underscore in an address is not Markdown. This is no regular expression, and neither is the search for
// mentions: each match of one can take time in proportion to the whole text, and escape looks for a match at each
// character.
func addressAt(s string) string {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "http://"); !ok {
			return ""
		}
	}
	end := len(s) - len(strings.TrimLeft(rest, addressSigns))
	if end < len(s) && strings.IndexByte(" \n\t", s[end]) < 0 {
		return ""
	}
	return s[:end]
}

// addressSigns are the characters of an address without Markdown.
const addressSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./?=&%#:+,;@!$"

// Literal escapes a text and shortens it to a limit. A note says how much was cut.
func Literal(s string, limit int) string {
	text, _ := fitting(s, limit, func(s, note string) string { return escape(s+note, true) }, safetext.MoreNote)
	return text
}

// plainLabel draws a text where Discord reads no Markdown, on one line within a limit.
func plainLabel(text string, limit int) string {
	draw := func(s, note string) string { return s + note }
	text, _ = fitting(safetext.OneLine(mask.Escape(text)), limit, draw, ellipsis)
	return safetext.OrNone(text)
}

func ellipsis(int) string { return "…" }

// quotation draws as much of a text as a quotation, which its own Markdown can't end, as fits a limit, and returns how
// many characters it leaves out.
func quotation(s string, limit int) (text string, left int) {
	return fitting(s, limit, func(s, note string) string {
		return "> " + strings.ReplaceAll(escape(s+note, true), "\n", "\n> ")
	}, ellipsis)
}

// fenced draws as much of a text as code as fits a limit, and returns how many characters it leaves out: note says so
// below it. The text has no fence.
func fenced(begin, text string, limit int, note func(left int) string) (code string, left int) {
	return fitting(text, limit, func(s, note string) string { return begin + s + "\n```" + note }, note)
}

// fitting draws as much of a text as fits a limit, with a note if that is not all, and returns how many characters it
// leaves out.
func fitting(
	s string, limit int, draw func(s, note string) string, note func(left int) string,
) (text string, left int) {
	if text = draw(s, ""); safetext.Units(text) <= limit {
		return text, 0
	}
	shorter := func(n int) string {
		var head string
		head, left = safetext.Head(s, n)
		return draw(head, note(left))
	}
	n := sort.Search(limit, func(n int) bool { return safetext.Units(shorter(n+1)) > limit })
	text = shorter(n)
	return text, left
}

// timestamp formats a time so that Discord shows it in the reader's time zone and language.
func timestamp(t time.Time, style string) string { return fmt.Sprintf("<t:%d:%s>", t.Unix(), style) }

// said draws a person's own words on one line, within a limit.
func said(s string, limit int) string { return Literal(safetext.OneLine(safetext.Clean(s)), limit) }

const jsonFence = "```json\n"

// unfenced is JSON in which a fence is written as JSON escapes.
func unfenced(s string) string {
	return strings.ReplaceAll(s, "```", `\u0060\u0060\u0060`)
}

// NoTopic names a thread whose message yields no name.
const NoTopic = "Conversation"

// mentionTokens matches the tokens of people, roles, channels and emojis: <@1>, <@&2>, <#3>, <:name:4>.
var mentionTokens = regexp.MustCompile(`<(@[!&]?|#|a?:\w+:)\d+>`)

// Topic makes a short thread name from the thread's first message, without its mentions.
func Topic(text string) string {
	text = safetext.OneLine(mentionTokens.ReplaceAllString(safetext.Clean(text), " "))
	text = strings.TrimLeft(text, ",:;.!?- ")
	name, left := safetext.Head(text, maxTopic)
	if left > 0 {
		if end := strings.LastIndexByte(name, ' '); end > maxTopic/2 {
			name = name[:end]
		}
		name += "…"
	}
	return cmp.Or(strings.TrimSpace(name), NoTopic)
}

// Quote repeats a question so that everyone can read it, as a quotation shown exactly as written, within a limit.
func Quote(text string, limit int) string {
	quoted, _ := quotation(safetext.Clean(text), limit)
	return quoted
}
