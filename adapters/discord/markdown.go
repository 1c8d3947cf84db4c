package discord

import (
	"regexp"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/chattext"
)

// markdown makes Markdown of a model harmless and cuts it into what one message carries each.
//
// A text pings nobody, since every message says so. What is left is a link whose text is not its address: it is broken by a space, so that
// the address is seen: [text] (https://x). Code is left as it is where it is certain to be code. What is code may change where a text is
// cut, so each part is checked again as it will be sent; where that finds anything, all links are broken.
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

// neutral breaks the links of a text. Discord's reader takes the first thing that has a beginning and an end for what it is, wherever its
// end is: emphasis, a list, a link or code that begins before some code may swallow the code's beginning. So code is sure only as long
// as nothing came before that could begin anything.
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

// marks is what could begin something in a line of text besides code.
const marks = "*_~|[]<>\\`"

var blockStart = regexp.MustCompile(`^ *([-*+>#]|\d+[.)])`)

// writeLine writes a line of text, and reports whether what follows is still sure.
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

// wordAt is the piece of code that begins at a place of a line, between single backticks with white space before the first.
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

// blockAt is the block of code that a text begins with, between fences at the margin. Discord ends it with the next three backticks.
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
