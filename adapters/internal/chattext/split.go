package chattext

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Split cuts a Markdown text into parts of at most limit UTF-16 code units each, for platforms that limit a message. Platforms count
// code points or UTF-16 units; the latter are never fewer, so a part fits either way. A limit below 32 counts as 32.
//
// It cuts between paragraphs if it can, else between list items, lines, words, and last between characters, but never inside an entity
// such as &lt;. A code block that is cut is closed and reopened with the same fence and info string. A table repeats its head, a quoted
// line its quote signs. The rest of a list item that is cut moves to the margin. A code block that the text leaves open is closed at
// the end. Nothing else is added, and only white space at the cuts is lost. No part is blank; a blank text has no parts. The same text
// yields the same parts.
//
// A fence, a table's head or an info string that would fill much of a part is not repeated.
func Split(markdown string, limit int) []string {
	var parts []string
	for _, p := range split(markdown, limit) {
		parts = append(parts, p.before+p.text+p.after)
	}
	return parts
}

// minLimit leaves room for a fence, its end, and a few characters between.
const minLimit = 32

// piece is a part: its share of the text, and what was added before and after it.
type piece struct{ before, text, after string }

func split(markdown string, limit int) []piece {
	s := splitter{rest: markdown, limit: max(limit, minLimit)}
	var pieces []piece
	for s.skipBlank(); s.rest != ""; s.skipBlank() {
		pieces = append(pieces, s.next())
	}
	return pieces
}

// splitter is the state of Split at the beginning of a part.
type splitter struct {
	limit  int
	rest   string // the text that is in no part yet
	before string // whole lines that the part repeats: a fence, or a table's head
	lead   string // quote signs that its first line repeats
	head   string // of the table that the part begins in
	code   bool   // the part begins in a code block
	midway bool   // the part begins within a line
	dedent int    // columns to remove: the list item that they belong to began in an earlier part
}

// skipBlank drops the white space at the beginning of a part, except in code. The first line keeps its indent, unless that is more than
// a quarter of the limit.
func (s *splitter) skipBlank() {
	text := strings.TrimLeftFunc(s.rest, unicode.IsSpace)
	if text != "" && s.code {
		return
	}
	blank := s.rest[:len(s.rest)-len(text)]
	indent := blank[strings.LastIndexByte(blank, '\n')+1:]
	if indent != blank && s.midway {
		s.midway, s.lead = false, ""
	}
	if s.midway || text == "" || Units(indent) > s.limit/4 {
		indent = ""
	}
	s.rest = s.rest[len(blank)-len(indent):]
}

// draft is a part that grows line by line.
type draft struct {
	state  Fences // after its last line
	solid  Fences // after its last line that is not blank: a blank line may end a block, and is dropped at the end of a part
	text   string // its lines, with the lead before them
	used   int    // units of text
	at     int    // how many bytes of the rest it holds
	last   string // its last line
	head   string // of the table that it ends in
	dedent int
}

// next returns the part that begins here, and moves on to the next.
func (s *splitter) next() piece {
	d := draft{state: Fences{longest: s.limit / 4}, head: s.head, dedent: s.dedent}
	for _, line := range strings.SplitAfter(s.before, "\n") {
		if line != "" {
			d.state.Next(line)
		}
	}
	d.solid = d.state
	first, room := d, s.limit-Units(s.before)
	var best cuts
	var text strings.Builder // that of d; those of earlier drafts are its beginnings
	for d.at < len(s.rest) {
		raw := s.line(d.at)
		line, dedent, over := s.shown(d, raw)
		state := d.state
		kind := state.Next(line)
		if d.at > 0 && d.fits(room) {
			best[rank(d, line, kind)] = d
		}
		width := Units(strings.TrimRight(line, "\r\n"))
		if over && d.at > 0 || d.used+width > room {
			if long := width > s.limit/2; d.at > 0 && !over && long && !best.fill(s.limit/4) {
				if p, ok := s.within(d, room); ok {
					return p
				}
			}
			break
		}
		d.head = tableHead(d, line, kind)
		if d.dedent, d.state, d.last = dedent, state, line; strings.TrimSpace(line) != "" || state.open {
			d.solid = state
		}
		text.WriteString(line)
		d.text, d.used, d.at = text.String(), d.used+Units(line), d.at+len(raw)
	}
	if d.at == len(s.rest) && d.fits(room) {
		return s.end(d)
	}
	if c, ok := best.choose(s.limit); ok {
		return s.end(c)
	}
	if p, ok := s.within(first, room); ok {
		return p
	}
	return s.cutAnywhere()
}

// cutAnywhere returns a part where the first line has no place to be cut. An indent that is longer than a part is dropped. Otherwise what
// the part would repeat leaves no room: it repeats nothing and closes nothing, so that each part gets further.
func (s *splitter) cutAnywhere() piece {
	if text := strings.TrimLeftFunc(s.rest, unicode.IsSpace); len(text) < len(s.rest) {
		s.rest, s.midway = text, true
		return s.next()
	}
	at, used := len(s.rest), 0
	for i, r := range s.rest {
		if used += utf16.RuneLen(r); used > s.limit {
			at = i
			break
		}
	}
	p := piece{text: strings.TrimRightFunc(s.rest[:at], unicode.IsSpace)}
	*s = splitter{limit: s.limit, rest: s.rest[at:], midway: true}
	return p
}

// shown returns a line as the part shows it. over reports that the code block which was reopened for this part ended before this line,
// together with the list item around it.
func (s *splitter) shown(d draft, raw string) (line string, dedent int, over bool) {
	if d.at == 0 && s.midway {
		return s.lead + raw, d.dedent, false
	}
	line, dedent = outdent(raw, d.dedent, d.state)
	return line, dedent, dedent < d.dedent && d.state.open
}

// outdent removes columns from a line, after its quote signs, and returns how many. A line that has fewer is no longer part of the list
// item.
func outdent(line string, columns int, state Fences) (string, int) {
	if columns == 0 {
		return line, 0
	}
	text := quoted(line, state)
	quote := line[:len(line)-len(text)]
	have, bytes := indentOf(text)
	if strings.TrimSpace(text) != "" {
		columns = min(columns, have)
	}
	n := 0
	for n < bytes && columnsTo(text[:n+1]) <= columns {
		n++
	}
	return quote + text[n:], columns
}

// ending returns what the part shows if it ends here, and what is added to close it.
func (d draft) ending() (text, after string) {
	text = strings.TrimRightFunc(d.text, unicode.IsSpace)
	if !d.state.open && !d.solid.open {
		return text, ""
	}
	f := d.solid.fence
	if d.state.open {
		text = strings.TrimSuffix(strings.TrimSuffix(d.text, "\n"), "\r")
	}
	return text, "\n" + f.quote + strings.Repeat(" ", f.item) + f.run
}

// quoted returns a line without its quote signs, except for those that are part of a code block's text.
func quoted(line string, state Fences) string {
	signs := state.fence.quotes
	if !state.open {
		signs = leadOf(strings.TrimRight(line, "\r\n")).quotes
	}
	line, _ = unquote(line, signs)
	return line
}

func (d draft) fits(room int) bool {
	text, after := d.ending()
	return d.used-Units(d.text[len(text):])+Units(after) <= room
}

// end completes the part with the draft, at the end of a line, and prepares the next part.
func (s *splitter) end(d draft) piece {
	text, after := d.ending()
	p := piece{s.before + s.lead, text[min(len(s.lead), len(text)):], after}
	line, _, over := s.shown(d, s.line(d.at))
	state := d.state
	kind := state.Next(line)
	s.rest, s.midway, s.lead, s.before, s.code, s.dedent = s.rest[d.at:], false, "", "", false, d.dedent
	switch {
	case !over && (kind == InsideFence || kind == ClosesFence):
		s.reopen(d.state)
	case over || strings.TrimSpace(line) == "":
		s.dedent = 0
	default:
		columns := 0
		have, _ := indentOf(quoted(line, d.state))
		for _, item := range d.state.items {
			if item <= have {
				columns = item
			}
		}
		s.dedent += columns
	}
	s.repeatHead(d, line, kind)
	return p
}

// reopen makes the next part begin with the fence of the open block.
func (s *splitter) reopen(state Fences) {
	f := state.fence
	s.code, s.dedent = true, s.dedent+f.item
	s.before = strings.TrimLeft(f.quote, " ") + f.run + f.info + "\n"
	if Units(s.before) > s.limit/4 {
		s.before = strings.TrimLeft(f.quote, " ") + f.run + "\n"
	}
}

// repeatHead makes the next part begin with the head of the table, if the table continues there.
func (s *splitter) repeatHead(d draft, line string, kind FenceLine) {
	s.head = ""
	if d.head == "" || s.code || tableHead(d, line, kind) == "" {
		return
	}
	for _, l := range strings.SplitAfter(d.head, "\n") {
		l, _ = outdent(l, s.dedent-d.dedent, d.state)
		s.head += l
	}
	if s.before = s.head; Units(s.head) > s.limit/2 {
		s.before, s.head = "", ""
	}
}

// tableHead returns the head of the table that the draft is in once it includes this line, else "". The head is the table's first line
// and the line of dashes.
func tableHead(d draft, line string, kind FenceLine) string {
	switch {
	case kind != OutsideFence || !strings.Contains(line, "|"):
		return ""
	case d.head == "" && isDashes(line) && strings.Contains(d.last, "|"):
		return strings.TrimRight(d.last, "\r\n") + "\n" + strings.TrimRight(line, "\r\n") + "\n"
	}
	return d.head
}

// isDashes reports whether a line separates a table's head from its rows.
func isDashes(line string) bool {
	line = strings.TrimSpace(line)
	return strings.Contains(line, "-") && strings.Contains(line, "|") && strings.Trim(line, "-:| \t") == ""
}

// line returns the line that begins at an offset of the rest. A line that is too long for a part is cut, but stays too long.
func (s *splitter) line(at int) string {
	const bytes = utf8.UTFMax // per unit, at most
	text := s.rest[at:]
	if most := (s.limit + 1) * bytes; len(text) > most {
		for most < len(text) && !utf8.RuneStart(text[most]) {
			most++
		}
		text = text[:most]
	}
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// Units counts UTF-16 code units. A byte that is not valid UTF-8 counts as the one character that will replace it.
func Units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
