package chattext

import "strings"

// Fences tracks the fenced code blocks of a Markdown text, line by line, as CommonMark reads them: also inside quotes and list items, and
// ended early if the quote or item around them ends. The zero Fences is before the first line. A copy is independent of the original.
type Fences struct {
	longest int // a fence that needs more room than this is text; 0: no limit
	open    bool
	fence   fence
	quotes  int
	items   []int // the list items around the last line: the columns where their text begins
	text    bool  // the last line was text that the next line may continue
}

// FenceLine is the kind of a line.
type FenceLine int

// The kinds of lines of a Markdown text.
const (
	OutsideFence FenceLine = iota
	OpensFence
	InsideFence
	ClosesFence
)

// fence is what opened a code block.
type fence struct {
	quote  string // the prefix of each line of the block, with list markers replaced by spaces
	quotes int
	item   int // the column of the list item that the block belongs to, counted after the quote
	indent int // of the fence itself, counted after the quote
	run    string
	info   string
}

// Next processes the next line, with or without its line end.
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
		f.open = false // the quote or item around it ended
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
	if !plain || !f.text { // else it may continue a paragraph, whatever its indent
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

// AtMargin reports whether the open block, if any, begins at the margin with backticks: every Markdown parser reads such a block as
// code.
func (f *Fences) AtMargin() bool {
	return f.open && f.fence.quotes == 0 && f.fence.item == 0 && f.fence.indent == 0 && f.fence.run[0] == '`'
}

// Open reports whether a block is open.
func (f *Fences) Open() bool { return f.open }

// isRule reports whether a text is a horizontal rule or, below text, the underline of a heading. Both end a paragraph above.
func isRule(text string, below bool) bool {
	signs := "-*_ \t"
	if below {
		signs = "-*_= \t"
	}
	return strings.Trim(text, signs) == ""
}

// maxDepth is how many nested quotes and list items are recognized on one line.
const maxDepth = 32

// maxIndent is how far a block may be indented without becoming indented code (CommonMark).
const maxIndent = 3

// item returns the column where the text of the innermost list item begins.
func (f *Fences) item() int {
	if n := len(f.items); n > 0 {
		return f.items[n-1]
	}
	return 0
}

// inside returns what a line is to the open block: OutsideFence if the line ends the block without belonging to it.
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

// fenceOf parses a fence from a line's own text.
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

// lead is a line split into its prefix, quote signs and then list markers, and its own text.
type lead struct {
	quote  string // up to the text after the last quote sign, with all but the signs replaced by spaces
	quotes int
	items  []int  // the list items that begin on this line: the columns where their text begins
	first  int    // the column of the first list marker or, without one, of the text
	indent int    // the column of the text
	text   string // without white space around it
}

func leadOf(line string) lead {
	var l lead
	at, from := 0, 0 // columns are counted from from
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

// markerOf returns the length of the list marker at the beginning of a text, 0 if there is none.
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

// unquote removes up to most quote signs from a line and returns how many it removed.
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

// indentOf measures the white space before a text. A tab reaches to the next multiple of four columns.
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
