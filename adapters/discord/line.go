package discord

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gatehouse/adapters/internal/doc"
)

// liner writes a line.
type liner struct {
	out    string
	open   []mark // that have begun
	closed int    // the length of out when a mark ended there
}

// mark is Discord's mark of a style.
type mark struct {
	style doc.Style
	sign  string
}

var marks = []mark{{doc.Struck, "~~"}, {doc.Bold, "**"}, {doc.Italic, "*"}}

// words writes words in a style. White space stands outside of the marks, where it does not keep them from being marks. next is what follows.
func (l *liner) words(s doc.Span, next string) {
	if strings.TrimSpace(s.Text) == "" {
		l.end(s.Style)
		l.out += s.Text
		return
	}
	if strings.Contains(s.Text, "~") {
		s.Style &^= doc.Struck // two of them would end it
	}
	l.end(s.Style)
	text := strings.TrimLeftFunc(s.Text, unicode.IsSpace)
	l.out += s.Text[:len(s.Text)-len(text)]
	if l.closed != len(l.out) { // two marks side by side could be another one
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

// end ends the first mark that a style does not have, and those that began after it.
func (l *liner) end(style doc.Style) {
	first := slices.IndexFunc(l.open, func(m mark) bool { return style&m.style == 0 })
	if first < 0 {
		return
	}
	words := strings.TrimRightFunc(l.out, unicode.IsSpace)
	space := l.out[len(words):]
	for _, m := range slices.Backward(l.open[first:]) {
		words += m.sign
	}
	l.out, l.open = words+space, l.open[:first]
	if space == "" {
		l.closed = len(l.out)
	}
}

// begin begins the marks of a style that have not begun.
func (l *liner) begin(style doc.Style) {
	for _, m := range marks {
		if style&m.style != 0 && !slices.Contains(l.open, m) {
			l.out += m.sign
			l.open = append(l.open, m)
		}
	}
}

// followed returns the words that follow a span on its line, in whose style they are. A backtick stands for code, and for the mark of a style.
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

// untilSpace matches what may follow an address that Discord finds by itself, up to white space: none of it becomes part of the address.
var untilSpace = regexp.MustCompile(`^[.,:;"')]*(?:\s|$)`)

// codeOf writes code within a line, "" if Discord would show it altered between any backticks.
func codeOf(s doc.Span) string {
	if s.Kind != doc.Code || s.Text == "" || strings.TrimSpace(s.Text) != s.Text || strings.Trim(s.Text, "`") != s.Text {
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
