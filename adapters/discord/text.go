package discord

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core/mask"
)

// Discord's limits, in characters. gatehouse counts UTF-16 units, which are never fewer.
const (
	maxContent    = 2_000 // of a message (resources/message)
	maxCard       = 4_000 // of all texts in a container (components/reference)
	maxCustomID   = 100   // components/reference
	maxInput      = 4_000 // of the text in an input (the same)
	maxNonce      = 25    // resources/message
	maxThreadName = 100   // resources/channel
	maxButton     = 80    // of a button's text (components/reference)
	maxOption     = 100   // of an option of a menu, and of a field's description (the same)
	maxFieldLabel = 45    // of a field's label, and of a form's title (the same)
	maxFields     = 5     // of a form (the same)
)

// gatehouse's own limits, below Discord's: their sum fits one message whatever the fields hold. They apply to texts after escaping.
const (
	maxReply     = maxContent - 70 // of a part of a reply; leaves room for the note that it comes late
	maxPlain     = 1_800           // of a notice or an error
	maxTool      = 60
	maxPerson    = 60
	maxSummary   = 260
	maxApprovers = 10
	maxMessage   = 150
	maxApprover  = 40
	maxChanged   = 200
	maxReason    = 1_000 // of the form's input
	maxReasonOut = 400   // of it, on the card
	maxLines     = 3     // of a conversation, on a copy of a card
	maxLine      = 100
	maxArguments = 2_000 // on the card at most, if the rest leaves room; a button shows all of them
	maxFolded    = 120   // of the arguments of a decided call; longer ones are not shown
	maxContext   = 500   // of all of them with what stands around them
	minArguments = 40    // with less room than this none are shown
	maxTopic     = 60    // of a thread's name
	maxQuestion  = 1_000 // of a question above its form; its card shows all of it
	maxAnswer    = 500
)

// Prefixes in small text.
const (
	latePrefix  = "-# " + chat.LateNote + "\n"
	stepsPrefix = "-# 🔧 "
)

// gap is an invisible character. It breaks what no backslash breaks; code has none.
const gap = "\u200b"

// escape escapes a text's Markdown and returns it in pieces: each is a character, or an address that Discord shows as it is. Any other
// address is escaped so that Discord makes no link of it, which would include the backslashes that follow. Lines are kept, but none
// becomes a heading or a quotation.
func escape(s string) []string {
	var pieces []string
	atStart := true
	for s != "" {
		if strings.HasPrefix(s, "http") && (len(pieces) == 0 || strings.TrimSpace(pieces[len(pieces)-1]) == "") {
			if address := addressAt(s); address != "" {
				pieces, s, atStart = append(pieces, address), s[len(address):], false
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(s)
		piece := s[:n]
		if strings.HasPrefix(s, "@everyone") || strings.HasPrefix(s, "@here") {
			piece += gap
		}
		if strings.ContainsRune("\\`*_~|[]<>", r) || atStart && strings.ContainsRune("#-", r) || strings.HasPrefix(s, "://") {
			piece = `\` + piece
		}
		pieces, s, atStart = append(pieces, piece), s[n:], r == '\n' || atStart && r == ' '
	}
	return pieces
}

// addressAt returns the address without Markdown that a text begins with, up to white space or the end; "" if there is none. An underscore
// in an address is not Markdown. This is no regular expression, and neither is the search for mentions: each match of one can take time in
// proportion to the whole text, and escape looks for a match at each character.
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

// literal escapes a text and shortens it to a limit. A note says how much was cut.
func literal(s string, limit int) string {
	pieces := escape(s)
	if n := fitting(pieces, limit); n < len(pieces) {
		n = fitting(pieces, max(0, limit-chat.Units(chat.MoreNote(utf8.RuneCountInString(s)))))
		left := 0
		for _, p := range pieces[n:] {
			left += utf8.RuneCountInString(strings.TrimPrefix(p, `\`))
		}
		return strings.Join(pieces[:n], "") + chat.MoreNote(left)
	}
	return strings.Join(pieces, "")
}

// fitting returns how many pieces fit a limit.
func fitting(pieces []string, limit int) int {
	for i, p := range pieces {
		if limit -= chat.Units(p); limit < 0 {
			return i
		}
	}
	return len(pieces)
}

// inline draws a text that an approver decides about on one line, within a limit.
func inline(s string, limit int) string {
	return literal(chat.OneLine(mask.Escape(s)), limit)
}

// said draws a person's own words on one line, within a limit.
func said(s string, limit int) string {
	return literal(chat.OneLine(chat.Clean(s)), limit)
}

// inlineCode draws a card's text as code, on one line, within a limit.
func inlineCode(s string, limit int) string {
	word, left := chat.Head(strings.ReplaceAll(chat.OneLine(mask.Escape(s)), "`", "'"), limit)
	if left > 0 {
		word += "…"
	}
	return "`" + chat.OrNone(word) + "`"
}

// codeBlock puts JSON between fences. A fence inside it becomes JSON escapes.
func codeBlock(s string) string { return codeStart + unfenced(s) + codeEnd }

const codeStart, codeEnd = "```json\n", "\n```"

func unfenced(s string) string {
	return strings.ReplaceAll(s, "```", strings.Repeat(`\u0060`, 3))
}

// noTopic names a thread whose message yields no name.
const noTopic = "Conversation"

// mentionTokens matches the tokens of people, roles, channels and emojis: <@1>, <@&2>, <#3>, <:name:4>.
var mentionTokens = regexp.MustCompile(`<(@[!&]?|#|a?:\w+:)\d+>`)

// topic makes a short thread name from the thread's first message, without its mentions.
func topic(text string) string {
	text = chat.OneLine(mentionTokens.ReplaceAllString(chat.Clean(text), " "))
	text = strings.TrimLeft(text, ",:;.!?- ")
	name, left := chat.Head(text, maxTopic)
	if left > 0 {
		if end := strings.LastIndexByte(name, ' '); end > maxTopic/2 {
			name = name[:end]
		}
		name += "…"
	}
	if name = strings.TrimSpace(name); name == "" {
		return noTopic
	}
	return name
}
