package core

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"gatehouse/core/mask"
)

// Speaker is who wrote a message of a conversation of several people, as the model is told. The zero Speaker: there is
// only one person.
type Speaker struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// What a message of a conversation of several people is made of: a label, images, and the text, quoted.
//
//	{"name":"Bob","id":"x:1"} says:
//	> note add milk
//	> and bread
//
// No name and no text can pass for another label: a name is inside a JSON string, which has no line ends and whose
// quotes are escaped, and each line of a text, however it begins, begins with the quote mark.
const (
	says  = " says:"
	quote = "> "
)

// Said is the content of a person's message: what it points at (see Quote), which needs a speaker, what the speaker
// wrote, which may be empty, and the images. Content.Speaker and Content.Own give the speaker and the text back,
// exactly.
func Said(s Speaker, text string, points []Block, images ...Block) Content {
	if s == (Speaker{}) && len(images) == 0 {
		return Text(text)
	}
	blocks := slices.Clone(points)
	if s != (Speaker{}) {
		blocks = append(blocks, Block{Type: TextBlock, Text: s.label()})
		text = quoted(text)
	}
	blocks = append(blocks, images...)
	if text != "" {
		blocks = append(blocks, Block{Type: TextBlock, Text: text})
	}
	return Blocks(blocks...)
}

// Speaker is who said it; ok is false for what was not said in a conversation of several people.
func (c Content) Speaker() (s Speaker, ok bool) {
	said := afterQuoted(c.blocks)
	if len(said) == 0 || said[0].Type != TextBlock {
		return Speaker{}, false
	}
	label := said[0].Text
	if json.Unmarshal([]byte(strings.TrimSuffix(label, says)), &s) != nil || s.label() != label {
		return Speaker{}, false
	}
	return s, true
}

// Own is the person's own text: the last text block, without what Said added to it.
func (c Content) Own() string {
	blocks := c.Blocks()
	_, said := c.Speaker()
	if said {
		blocks = afterQuoted(blocks)[1:]
	}
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].Type == TextBlock {
			if said {
				return unquoted(blocks[i].Text)
			}
			return blocks[i].Text
		}
	}
	return ""
}

// Quoted is how many blocks at the beginning are quotations: what a message points at.
func (c Content) Quoted() int { return len(c.blocks) - len(afterQuoted(c.blocks)) }

// afterQuoted are a message's blocks without the quotations at its beginning.
func afterQuoted(blocks []Block) []Block {
	for len(blocks) > 0 && isQuoted(blocks[0]) {
		blocks = blocks[1:]
	}
	return blocks
}

// label is the line in front of what the speaker says.
func (s Speaker) label() string { return onLine(s) + says }

// onLine is a struct of texts as one line of JSON. What is invisible in them is escaped, as JSON allows.
func onLine(texts any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(texts) // can't fail
	return mask.EscapeLine(strings.TrimSuffix(b.String(), "\n"))
}

// quoted puts the quote mark in front of every line. The text's own line ends stay as they are.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for more := true; more; {
		var line string
		line, text, more = cutLine(text)
		b.WriteString(quote)
		b.WriteString(line)
	}
	return b.String()
}

// unquoted is the text that quoted was given.
func unquoted(text string) string {
	var b strings.Builder
	for more := true; more; {
		var line string
		line, text, more = cutLine(strings.TrimPrefix(text, quote))
		b.WriteString(line)
	}
	return b.String()
}

// cutLine returns the first line of a text with whatever may be taken for its end, and the rest; more is false if it
// has no end.
func cutLine(text string) (line, rest string, more bool) {
	at := strings.IndexFunc(text, func(r rune) bool {
		return '\n' <= r && r <= '\r' || 0x1c <= r && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
	})
	if at < 0 {
		return text, "", false
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	if strings.HasPrefix(text[at:], "\r\n") {
		size = len("\r\n")
	}
	return text[:at+size], text[at+size:], true
}
