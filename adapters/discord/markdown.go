package discord

import (
	"regexp"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/chattext"
)

// markdown makes a model's Markdown harmless and cuts it into parts of one message each.
//
// Nothing in it pings, since every message has empty allowed_mentions. What it must not do is mislead: see harmless. Text that is certain
// to be code is left as it is. A cut may change what is code and what begins a line, so each part is checked again as it will be sent. If
// that finds something, code is treated like all other text.
func markdown(text string) []string {
	text = chat.Clean(text)
	parts := chattext.Split(neutral(text, true), maxReply)
	for _, p := range parts {
		if neutral(p, true) != p {
			return markdownWithoutCode(text)
		}
	}
	return parts
}

// paragraphs is markdown or, for a reply that could be taken for a card, its words in paragraphs, without any Markdown but blocks of code.
func paragraphs(text string) []string {
	if !chat.LooksLikeCard(text) {
		return markdown(text)
	}
	var b strings.Builder
	for text != "" {
		if code := blockAt(text); code != "" {
			b.WriteString(code)
			text = text[len(code):]
			continue
		}
		line := text[:strings.IndexByte(text+"\n", '\n')]
		text = text[len(line):]
		for _, piece := range escape(line) {
			if piece == "#" { // which a cut might move to the beginning of a line
				piece = `\#`
			}
			b.WriteString(piece)
		}
		if text != "" {
			b.WriteByte('\n')
			text = text[1:]
		}
	}
	return chattext.Split(b.String(), maxReply)
}

// markdownWithoutCode is markdown for a text of which nothing is certain to be code. What a cut moves to the beginning of a line takes one
// more character in that part.
func markdownWithoutCode(text string) []string {
	parts := chattext.Split(neutral(text, false), maxReply-1)
	for i, p := range parts {
		parts[i] = neutral(p, false)
	}
	return parts
}

// harmless changes a line outside of code so that only gatehouse's own cards and notes look like them, and no link hides where it leads:
//
//   - The tokens of Discord, such as <@1> or <t:1>, are shown as text, and so are @everyone and @here: an invisible character breaks them. A
//     backslash would not do: it is part of an address that ends there, as in https://x\<@1>, and it would be visible in code.
//   - Small text, in which gatehouse's notes are, is shown at its normal size, after the characters -#.
//   - A space is inserted into a link whose text hides its address, so that it shows it: [text] (https://x).
func harmless(line string) string {
	line = tokens.ReplaceAllStringFunc(links.Replace(line), func(token string) string {
		sign := strings.IndexAny(token, "@#:") + 1
		return token[:sign] + gap + token[sign:]
	})
	return smallText.ReplaceAllString(line, "$1"+gap+"$2")
}

// gap is an invisible character. It follows the sign of a token: in front of an @ it would make an e-mail address of <@1>.
const gap = "\u200b"

var (
	links     = strings.NewReplacer("](", "] (", "][", "] [")
	smallText = regexp.MustCompile(`^([ \t>*_~|+.)\d-]*-)(#[ \t])`) // also in quotations, lists and emphasis
	// tokens matches the beginnings of people, roles, channels, emojis, commands, times, places of a server and sounds.
	tokens = regexp.MustCompile(`<(?:@[!&$]?\d|#\d|a?:\w+:\d+>|/[^<>:\n]+:\d+>|t:-?\d|id:(?:customize|browse|guide|home|linked-roles)|\d+:[a-z]|sound:\d)|@(?:everyone|here)`)
)

// neutral makes a text harmless, but leaves what is certain to be code, if spare is true. Discord's parser accepts the first construct that
// has a beginning and an end, however far away the end is. Emphasis, a list, a link or code that begins before some code may thus swallow
// the code's beginning. So code is certain only as long as nothing before it could begin another construct.
func neutral(text string, spare bool) string {
	var b strings.Builder
	sure := spare
	for text != "" {
		if code := blockAt(text); sure && code != "" {
			b.WriteString(code)
			text = text[len(code):]
			continue
		}
		line := text
		if end := strings.IndexByte(text, '\n'); end >= 0 {
			line = text[:end+1]
		}
		text = text[len(line):]
		sure = writeLine(&b, line, sure)
	}
	return b.String()
}

// marks are the characters that could begin a construct other than code in a line of text.
const marks = "*_~|[]<>\\`"

var blockStart = regexp.MustCompile(`^ *([-*+>#]|\d+[.)])`)

// writeLine writes a line of text, and reports whether code after it is still certain to be code.
func writeLine(b *strings.Builder, line string, sure bool) bool {
	if !sure || blockStart.MatchString(line) {
		b.WriteString(harmless(line))
		return false
	}
	for sure {
		at := strings.IndexAny(line, marks)
		if at < 0 {
			break
		}
		code := wordAt(line, at)
		if code == "" {
			b.WriteString(harmless(line))
			return false
		}
		b.WriteString(harmless(line[:at]) + code)
		line = line[at+len(code):]
	}
	b.WriteString(harmless(line))
	return true
}

// wordAt returns the inline code that begins at a position of a line: between single backticks, with white space before the first.
func wordAt(line string, at int) string {
	if line[at] != '`' || at > 0 && line[at-1] != ' ' {
		return ""
	}
	end := strings.IndexByte(line[at+1:], '`')
	if end <= 0 || at+end+2 < len(line) && line[at+end+2] == '`' {
		return ""
	}
	return line[at : at+end+2]
}

var fence = regexp.MustCompile("^```[A-Za-z0-9_+.#-]*\n")

// blockAt returns the code block that a text begins with, between fences at the margin. Discord ends it at the next three backticks.
func blockAt(text string) string {
	start := len(fence.FindString(text))
	if start == 0 {
		return ""
	}
	end := strings.Index(text[start:], "```")
	if end <= 0 || text[start+end-1] != '\n' || strings.Trim(text[start:start+end], "\n") == "" {
		return ""
	}
	end += start + len("```")
	switch {
	case end == len(text):
		return text
	case text[end] == '\n':
		return text[:end+1]
	}
	return ""
}
