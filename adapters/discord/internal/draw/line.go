package draw

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gatehouse/adapters/internal/doc"
)

// markdownOf returns spans in Discord's Markdown: those of a reply's line or lines, or of a card. Only what stands here
// becomes Markdown: all foreign text is escaped.
func markdownOf(spans []doc.Span) string {
	l := liner{closed: -1}
	spans = doc.Shown(spans)
	for i, s := range spans {
		if s.Kind == doc.Tool {
			s.Kind, s.Text = doc.Code, plainLabel(s.Text, maxTool)
		}
		switch code := codeOf(s); {
		case s.Kind == doc.Break:
			l.end(0)
			l.out += "\n"
		case code != "" && !strings.HasSuffix(l.out, "`"):
			l.end(0)
			l.out += code
		case s.Kind == doc.Words || s.Kind == doc.Code:
			l.words(s, followed(spans[i+1:], s.Style))
		default:
			l.end(s.Style)
			l.begin(s.Style)
			l.out += textOf(s)
		}
	}
	l.end(0)
	return l.out
}

// toolOf draws a tool's name.
func toolOf(name string) string { return markdownOf([]doc.Span{{Kind: doc.Tool, Text: name}}) }

// liner writes a line. Discord may take a mark that it reads as the end of nothing for the begin of a style that ends
// at a star in code far below. So a style whose mark would stand right behind another one is left out, and none is
// within another.
type liner struct {
	out    string
	style  doc.Style // whose marks have begun
	closed int       // the length of out when a mark ended there
}

// signsOf are Discord's marks in front of words in a style, and behind them.
func signsOf(style doc.Style) (begin, end string) {
	for _, m := range []struct {
		style doc.Style
		sign  string
	}{{doc.Struck, "~~"}, {doc.Bold, "**"}, {doc.Italic, "*"}} {
		if style&m.style != 0 {
			begin, end = begin+m.sign, m.sign+end
		}
	}
	return begin, end
}

// words writes words in a style. White space stands outside of the marks, where it does not keep them from being marks.
// next is what follows.
func (l *liner) words(s doc.Span, next string) {
	if strings.Contains(s.Text, "~") {
		s.Style &^= doc.Struck // two of them would end it
	}
	l.end(s.Style)
	text := strings.TrimLeftFunc(s.Text, unicode.IsSpace)
	l.out += s.Text[:len(s.Text)-len(text)]
	if text == "" {
		return
	}
	isMisread := s.Style == doc.Italic && strings.IndexByte(`*\`, text[0]) >= 0 // a star would end what it begins
	if l.closed != len(l.out) && !isMisread {
		l.begin(s.Style)
	}
	switch {
	case s.To != text || addressAt(text) != text:
		l.out += escape(text, strings.TrimSpace(next[:1]) == "")
	case strings.IndexByte(" \t\n(", ("\n" + l.out)[len(l.out)]) >= 0 && untilSpace.MatchString(next):
		l.out += text
	default:
		l.out += "<" + text + ">" // Discord does not show the brackets
	}
}

// end ends the style of what was written, unless it is this one.
func (l *liner) end(style doc.Style) {
	if l.style == 0 || l.style == style {
		return
	}
	words := strings.TrimRightFunc(l.out, unicode.IsSpace)
	_, end := signsOf(l.style)
	l.out, l.style, l.closed = words+end+l.out[len(words):], 0, len(words+end)
}

// begin begins a style, unless it has begun.
func (l *liner) begin(style doc.Style) {
	if l.style != style {
		begin, _ := signsOf(style)
		l.out, l.style = l.out+begin, style
	}
}

// followed returns the words that follow a span on its line, in whose style they are. A backtick stands for code, and
// for the mark of a style.
func followed(spans []doc.Span, style doc.Style) (text string) {
	end := "\n"
	for _, s := range spans {
		if s.Kind == doc.Break {
			break
		}
		if s.Kind != doc.Words || s.Style != style {
			end = "`"
			break
		}
		text += s.Text
	}
	if style != 0 { // its mark stands in front of white space
		return strings.TrimRightFunc(text, unicode.IsSpace) + "`"
	}
	return text + end
}

// untilSpace matches what may follow an address that Discord finds by itself, up to white space: none of it becomes
// part of the address.
var untilSpace = regexp.MustCompile(`^[.,:;"')]*(?:\s|$)`)

// codeOf writes code within a line, "" if Discord would show it altered between any backticks.
func codeOf(s doc.Span) string {
	if s.Kind != doc.Code || s.Text == "" || strings.TrimSpace(s.Text) != s.Text ||
		strings.Trim(s.Text, "`") != s.Text {
		return ""
	}
	for _, sign := range []string{"`", "``"} {
		if !slices.Contains(backticks.FindAllString(s.Text, -1), sign) {
			return sign + s.Text + sign
		}
	}
	return ""
}

var backticks = regexp.MustCompile("`+")
