package discord

import (
	"regexp"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/chattext"
)

// markdown makes a model's Markdown harmless and cuts it into parts of one message each.
//
// Pings need no care here, since every message has empty allowed_mentions. The remaining danger is a link whose text hides its address. A
// space breaks it and so shows the address: [text] (https://x). Text that is certain to be code is left as it is. A cut may change what is
// code, so each part is checked again as it will be sent. If that finds another link, all links are broken.
func markdown(text string) []string {
	text = chat.Clean(text)
	parts := chattext.Split(neutral(text, true), maxReply)
	for _, p := range parts {
		if neutral(p, true) != p {
			return chattext.Split(neutral(text, false), maxReply)
		}
	}
	return parts
}

var links = strings.NewReplacer("](", "] (", "][", "] [")

// neutral breaks the links of a text. Discord's parser accepts the first construct that has a beginning and an end, however far away the
// end is. Emphasis, a list, a link or code that begins before some code may thus swallow the code's beginning. So code is certain only as
// long as nothing before it could begin another construct.
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
		b.WriteString(links.Replace(line))
		return false
	}
	for sure {
		at := strings.IndexAny(line, marks)
		if at < 0 {
			break
		}
		code := wordAt(line, at)
		if code == "" {
			b.WriteString(links.Replace(line))
			return false
		}
		b.WriteString(line[:at] + code)
		line = line[at+len(code):]
	}
	b.WriteString(line)
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
