package doc

import (
	"slices"
	"strconv"
	"strings"
)

// Shown returns spans of a reply in which no link hides its address: that stands behind the words of the link, as a
// span of its own. A span that has an address is the address, and nothing but that.
func Shown(spans []Span) (all []Span) {
	if !slices.ContainsFunc(spans, func(s Span) bool { return s.To != "" }) {
		return spans
	}
	for i := 0; i < len(spans); {
		from, to, label := i, spans[i].To, ""
		for ; i < len(spans) && spans[i].To == to && (to != "" || i == from); i++ {
			label += spans[i].Text
		}
		for _, s := range spans[from:i] {
			if label != to || s.Kind != Words || i-from > 1 {
				s.To = ""
			}
			all = append(all, s)
		}
		if to != "" && shortened(label) != shortened(to) {
			all = append(all, Span{Kind: Words, Text: " ("}, Span{Kind: Words, Text: to, To: to},
				Span{Kind: Words, Text: ")"})
		}
	}
	return all
}

// shortened is an address as people write it.
func shortened(address string) string {
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		address = strings.TrimPrefix(address, scheme)
	}
	return strings.TrimSuffix(address, "/")
}

// OneLine is the words of spans on one line, with the addresses of links.
func OneLine(spans []Span) string {
	var b strings.Builder
	for _, s := range Shown(spans) {
		if s.Kind == Break {
			b.WriteByte(' ')
		}
		b.WriteString(s.Text)
	}
	return b.String()
}

// Text is blocks as plain text, for a terminal or to be read aloud. With marks, it has Markdown's signs of headings,
// quotations, code and emphasis; signs that the text itself has are not escaped.
func Text(blocks []Block, marks bool) string {
	w := plain{marks: marks}
	w.blocks(TextForms.Drawable(blocks), "", "")
	return strings.TrimSuffix(w.String(), "\n")
}

// TextForms are the forms of plain text.
var TextForms = Forms{Headings: 6, Rules: true, Tables: textTables{}}

// textTables are those of at most 120 columns of text.
type textTables struct{}

func (textTables) Fit(b Block) bool {
	_, wide := Grid(b)
	return wide <= 120
}

// plain writes plain text.
type plain struct {
	strings.Builder
	marks bool
}

// blocks writes blocks, with this before the first line and that before the others.
func (w *plain) blocks(all []Block, first, others string) {
	for i, b := range all {
		if i > 0 {
			if !Tight(all[i-1], b, first != others) {
				w.WriteString(strings.TrimRight(others, " ") + "\n")
			}
			first = others
		}
		w.block(b, first, others)
	}
}

// Tight reports whether plain text has no empty line between two blocks, in an item or elsewhere.
func Tight(before, after Block, item bool) bool {
	return after.Kind == List && (item || before.Kind == Paragraph) || before.Kind == Heading ||
		after.Kind == CodeBlock && before.Kind == Paragraph
}

func (w *plain) block(b Block, first, others string) {
	lines := func(text string) {
		for i, line := range strings.Split(text, "\n") {
			if i == 1 {
				first = others
			}
			w.WriteString(strings.TrimRight(first+line, " ") + "\n")
		}
	}
	switch b.Kind {
	case Paragraph:
		lines(w.line(b.Spans))
	case Heading:
		if w.marks {
			first += strings.Repeat("#", b.Level) + " "
		}
		lines(strings.ReplaceAll(w.line(b.Spans), "\n", " "))
	case Rule:
		lines("---")
	case CodeBlock:
		code := CodeLines(b.Code)
		if w.marks {
			fence := Fence(b.Code)
			code = fence + b.Lang + "\n" + code + fence + "\n"
		}
		w.WriteString(code)
	case Table:
		grid, _ := Grid(b)
		w.WriteString(grid)
	case Quote:
		w.blocks(b.Items[0], first+"> ", others+"> ")
	case List:
		for i, item := range b.Items {
			sign := "- "
			if b.First != NoNumbers {
				sign = strconv.Itoa(b.First+i) + ". "
			}
			if i > 0 {
				first = others
			}
			if len(item) == 0 {
				w.WriteString(first + strings.TrimRight(sign, " ") + "\n")
			}
			w.blocks(item, first+sign, others+strings.Repeat(" ", len(sign)))
		}
	}
}

// line is spans as text with its line ends.
func (w *plain) line(spans []Span) string {
	var b strings.Builder
	for _, s := range Shown(spans) {
		switch {
		case s.Kind == Break:
			b.WriteString("\n")
		case w.marks:
			b.WriteString(Marked(s))
		default:
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// Marked is the text of a span between Markdown's marks of code and of its styles.
func Marked(s Span) string {
	before, after := "", ""
	if s.Kind == Code {
		before = strings.Repeat("`", longestRun(s.Text)+1)
		after = before
		if strings.HasPrefix(s.Text, "`") || strings.HasSuffix(s.Text, "`") {
			before, after = before+" ", " "+after
		}
		return before + s.Text + after
	}
	for _, m := range marksOf {
		if s.Style&m.style != 0 {
			before, after = before+m.mark, m.mark+after
		}
	}
	return before + s.Text + after
}

// marksOf are Markdown's marks of the styles.
var marksOf = []struct {
	style Style
	mark  string
}{{Bold, "**"}, {Italic, "*"}, {Struck, "~~"}}

// Fence returns a fence that nothing in some code ends.
func Fence(code string) string { return strings.Repeat("`", max(3, longestRun(code)+1)) }

// longestRun is how many backticks stand in a row in a text, at most.
func longestRun(s string) (most int) {
	n := 0
	for i := range len(s) {
		if n++; s[i] != '`' {
			n = 0
		}
		most = max(most, n)
	}
	return most
}

// CodeLines returns code with a line end after its last line.
func CodeLines(code string) string {
	if strings.HasSuffix(code, "\n") {
		return code
	}
	return code + "\n"
}
