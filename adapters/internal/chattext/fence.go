package chattext

import "strings"

// Fences follows the fenced code blocks of a Markdown text, line by line, as CommonMark reads them: inside quotes and list items
// too, and ended early where the quote or the item around them ends. The zero Fences stands before the first line. A copy goes on
// by itself.
type Fences struct {
	longest int // a fence that needs more room than this is text; 0: none does
	open    bool
	fence   fence
	quotes  int
	items   []int // the columns where the text of the list items begins that the last line was in
	text    bool  // the last line was text that the next may continue
}

// FenceLine says what a line is.
type FenceLine int

// The lines of a Markdown text.
const (
	OutsideFence FenceLine = iota
	OpensFence
	InsideFence
	ClosesFence
)

// fence is what opened a code block.
type fence struct {
	quote  string // what stands before each line of the block, with list markers made blank
	quotes int
	item   int // the column of the list item that the block belongs to, after the quote
	indent int // of the fence itself, after the quote
	run    string
	info   string
}

// Next takes the next line, with or without its end.
func (f *Fences) Next(line string) FenceLine {
	line = strings.TrimRight(line, "\r\n")
	if f.open {
		switch f.inside(line) {
		case InsideFence:
			return InsideFence
		case ClosesFence:
			f.open = false
			return ClosesFence
		}
		f.open = false // what it stood in is over
	}
	l := leadOf(line)
	if l.quotes != f.quotes {
		f.items, f.quotes, f.text = nil, l.quotes, false
	}
	if l.text == "" && len(l.items) == 0 {
		f.text = false
		return OutsideFence
	}
	opened, isFence := fenceOf(l)
	plain := !isFence && len(l.items) == 0 && !strings.HasPrefix(l.text, "#")
	if !plain || !f.text { // else it may go on with a paragraph, however it is indented
		for n := len(f.items); n > 0 && f.items[n-1] > l.first; n-- {
			f.items = f.items[:n-1]
		}
	}
	if l.first-f.item() > maxIndent { // indented code, or more of a paragraph
		return OutsideFence
	}
	f.items = append(f.items[:len(f.items):len(f.items)], l.items...)
	f.text = l.text != "" && !isFence && !strings.HasPrefix(l.text, "#") && !isRule(l.text, f.text)
	if opened.item = f.item(); !isFence || f.longest > 0 && len(opened.quote)+opened.item+len(opened.run) > f.longest {
		return OutsideFence
	}
	f.open, f.fence, f.text = true, opened, false
	return OpensFence
}

// AtMargin reports whether a block is open that begins at the very margin with backticks: one that every reader of Markdown
// takes for code.
func (f *Fences) AtMargin() bool {
	return f.open && f.fence.quotes == 0 && f.fence.item == 0 && f.fence.indent == 0 && f.fence.run[0] == '`'
}

// Open reports whether a block is open.
func (f *Fences) Open() bool { return f.open }

// isRule reports whether a text is a line drawn with signs, which also ends a paragraph above it.
func isRule(text string, below bool) bool {
	signs := "-*_ \t"
	if below {
		signs = "-*_= \t"
	}
	return strings.Trim(text, signs) == ""
}

// maxDepth is how many quotes and list items within each other are told apart on one line.
const maxDepth = 32

// maxIndent is how far a block may be indented without becoming indented code (CommonMark).
const maxIndent = 3

// item is the column where the text of the innermost list item begins.
func (f *Fences) item() int {
	if n := len(f.items); n > 0 {
		return f.items[n-1]
	}
	return 0
}

// inside says what a line is to the open block: OutsideFence where it ends it without belonging to it.
func (f *Fences) inside(line string) FenceLine {
	rest, n := unquote(line, f.fence.quotes)
	if n < f.fence.quotes {
		return OutsideFence
	}
	columns, bytes := indentOf(rest)
	text := rest[bytes:]
	switch {
	case text == "":
		return InsideFence
	case columns < f.fence.item:
		return OutsideFence
	case columns-f.fence.item <= maxIndent && closes(text, f.fence.run):
		return ClosesFence
	}
	return InsideFence
}

func closes(text, run string) bool {
	text = strings.TrimRight(text, " \t")
	return len(text) >= len(run) && strings.Trim(text, run[:1]) == ""
}

// fenceOf reads a fence from a line's own text.
func fenceOf(l lead) (fence, bool) {
	if !strings.HasPrefix(l.text, "```") && !strings.HasPrefix(l.text, "~~~") {
		return fence{}, false
	}
	info := strings.TrimLeft(l.text, l.text[:1])
	run := l.text[:len(l.text)-len(info)]
	if run[0] == '`' && strings.Contains(info, "`") {
		return fence{}, false // code within a line
	}
	return fence{quote: l.quote, quotes: l.quotes, indent: l.indent, run: run, info: strings.TrimSpace(info)}, true
}

// lead is what stands before a line's own text: quote signs, then list markers.
type lead struct {
	quote  string // up to the text after the last quote sign, all but the signs made blank
	quotes int
	items  []int  // the columns where the text of the list items begins that begin here
	first  int    // the column of the first list marker or, without one, of the text
	indent int    // the column of the text
	text   string // without white space around it
}

func leadOf(line string) lead {
	var l lead
	at, from := 0, 0 // from: of what is counted in columns
	for depth := 0; ; depth++ {
		columns, n := indentOf(line[at:])
		switch rest := line[at+n:]; {
		case depth < maxDepth && strings.HasPrefix(rest, ">") && (columns <= maxIndent || len(l.items) > 0):
			at += n + 1
			if strings.HasPrefix(line[at:], " ") {
				at++
			}
			from = at
			l.quotes, l.items, l.first = l.quotes+1, nil, 0
		case depth < maxDepth && markerOf(rest) > 0:
			m := markerOf(rest)
			column := columnsTo(line[from : at+n])
			if len(l.items) == 0 {
				l.first = column
			}
			at += n + m
			column += m
			switch spaces, _ := indentOf(line[at:]); {
			case strings.TrimSpace(line[at:]) == "", spaces > maxIndent+1:
				column++
			default:
				column += spaces
			}
			l.items = append(l.items, column)
		default:
			l.indent = columnsTo(line[from : at+n])
			if len(l.items) == 0 {
				l.first = l.indent
			}
			l.text = strings.TrimRight(rest, " \t")
			if l.quotes > 0 {
				l.quote = strings.TrimSuffix(strings.Map(blank, line[:from]), " ") + " "
			}
			return l
		}
	}
}

func blank(r rune) rune {
	if r == '>' {
		return r
	}
	return ' '
}

// markerOf is the length of a list marker at the beginning of a text, 0 where there is none.
func markerOf(s string) int {
	n := 0
	for n < len(s) && n < 9 && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	switch {
	case n == len(s):
		return 0
	case n == 0 && strings.IndexByte("-*+", s[0]) < 0, n > 0 && s[n] != '.' && s[n] != ')':
		return 0
	case n+1 < len(s) && s[n+1] != ' ' && s[n+1] != '\t':
		return 0
	}
	return n + 1
}

// unquote takes up to most quote signs off a line and says how many there were.
func unquote(line string, most int) (string, int) {
	for n := range most {
		_, bytes := indentOf(line)
		if !strings.HasPrefix(line[bytes:], ">") {
			return line, n
		}
		line = strings.TrimPrefix(line[bytes+1:], " ")
	}
	return line, most
}

// indentOf measures the white space before a text; a tab reaches to the next fourth column.
func indentOf(s string) (columns, bytes int) {
	bytes = len(s) - len(strings.TrimLeft(s, " \t"))
	return columnsTo(s[:bytes]), bytes
}

func columnsTo(s string) int {
	columns := 0
	for i := range len(s) {
		if s[i] == '\t' {
			columns += 4 - columns%4
			continue
		}
		columns++
	}
	return columns
}
