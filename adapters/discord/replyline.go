package discord

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gatehouse/adapters/internal/doc"
)

// markdownOf returns the spans of a reply's line or lines in Discord's Markdown. Only what stands here becomes Markdown: all text is escaped.
func markdownOf(spans []doc.Span) string {
	l := liner{closed: -1}
	spans = doc.Shown(spans)
	for i, s := range spans {
		code, isCode := "", false
		if s.Kind == doc.Code && !strings.HasSuffix(l.out, "`") {
			code, isCode = spanCode(s.Text)
		}
		switch {
		case s.Kind == doc.Break:
			l.end(0)
			l.out += "\n"
		case isCode:
			l.end(0)
			l.out += code
		default:
			l.words(s, followed(spans[i+1:], s.Style))
		}
	}
	l.end(0)
	return l.out
}

// followed returns what follows a span: words of the same style, up to a line end, or a backtick where a mark may stand.
func followed(spans []doc.Span, style doc.Style) (text string) {
	for _, s := range spans {
		if s.Kind == doc.Break {
			break
		}
		if s.Kind == doc.Code || s.Style != style {
			return strings.TrimRightFunc(text, func(r rune) bool { return style != 0 && unicode.IsSpace(r) }) + "`"
		}
		text += s.Text
	}
	if style != 0 { // its mark stands in front of white space
		return strings.TrimRightFunc(text, unicode.IsSpace) + "`"
	}
	return text + "\n"
}

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

// words writes words in a style. White space stands outside of the marks, where it does not keep them from being marks.
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
	if s.To != "" && s.To == text && plainAddress.MatchString(text) {
		l.out += shownAddress(l.out, text, next)
		return
	}
	l.out += escaped(text, next, l.out == "" || strings.HasSuffix(l.out, "\n"))
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

// plainAddress matches an address that has no Markdown in it.
var plainAddress = regexp.MustCompile(`^https?://[A-Za-z0-9_\-./?=&%#:+,;@!$]+$`)

// untilSpace matches what may follow an address that Discord finds by itself, up to white space: none of it becomes part of the address.
var untilSpace = regexp.MustCompile(`^[.,:;"')]*(?:\s|$)`)

// shownAddress writes an address so that it is a link: as it is or, between other characters, in angle brackets, which Discord does not show.
func shownAddress(before, address, next string) string {
	if (before == "" || strings.HasSuffix(before, "(") || strings.TrimRightFunc(before, unicode.IsSpace) != before) && untilSpace.MatchString(next) {
		return address
	}
	return "<" + address + ">"
}

// escaped escapes words. next is what follows them; atStart says whether they begin a line.
func escaped(text, next string, atStart bool) string {
	begin := ""
	if number := lineNumber.FindString(text); atStart && number != "" && strings.HasPrefix(text[len(number):], ".") { // else it would be an item of a list
		begin, text = number+`\.`, text[len(number)+1:]
	}
	var pieces []string
	if strings.TrimLeftFunc(next, unicode.IsSpace) == next {
		pieces = escape(text + "`") // no address ends here, since what follows could become part of it
		pieces = pieces[:len(pieces)-1]
	} else {
		pieces = escape(text)
	}
	for i, p := range pieces {
		if p == "#" { // which a cut, or a mark before it, might leave at the beginning of a line
			pieces[i] = `\#`
		}
	}
	return begin + strings.Join(pieces, "")
}

// lineNumber matches the number of an item of a list, in front of its dot.
var lineNumber = regexp.MustCompile(`^ *\d+`)

// spanCode writes code within a line; ok is false if Discord would show it altered between any backticks.
func spanCode(text string) (code string, ok bool) {
	if text == "" || strings.TrimSpace(text) != text || strings.Trim(text, "`") != text {
		return "", false
	}
	runs := map[int]bool{}
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '`' }) {
		runs[len(run)] = true
	}
	for _, sign := range []string{"`", "``"} {
		if !runs[len(sign)] {
			return sign + text + sign, true
		}
	}
	return "", false
}
