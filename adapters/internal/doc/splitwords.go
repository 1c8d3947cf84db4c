package doc

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// cutWords cuts a paragraph or a heading: at the last line end or, failing that, white space in the second half of what
// fits, else between characters.
func cutWords(b Block, fits func([]Block) bool, forced bool) (part, rest []Block) {
	b.Spans = trimmed(slices.Clone(Shown(b.Spans))) // no address is shown twice
	upTo := func(n int) []Block {
		head := b
		head.Spans = slice(b.Spans, 0, n)
		return []Block{head}
	}
	all := 0
	for _, s := range b.Spans {
		all += lengthOf(s)
	}
	n := most(all, func(n int) bool { return fits(upTo(n)) })
	if n == all {
		return []Block{b}, nil
	}
	at := placeIn(b.Spans, n)
	if at == 0 && !forced {
		return nil, []Block{b}
	}
	if at == 0 {
		at = betweenCharacters(OneLine(b.Spans), n)
	}
	head, tail := b, b
	head.Spans, tail.Spans = trimmed(slice(b.Spans, 0, at)), trimmed(slice(b.Spans, at, all))
	if len(tail.Spans) == 0 {
		return []Block{head}, nil
	}
	return []Block{head}, []Block{tail}
}

// lengthOf is the length of a span: a line end counts as one character.
func lengthOf(s Span) int {
	if s.Kind == Break {
		return 1
	}
	return len(s.Text)
}

// slice returns the spans between two places in their text.
func slice(spans []Span, from, to int) (some []Span) {
	for _, s := range spans {
		n := lengthOf(s)
		if from < n && to > 0 && n > 0 {
			if s.Kind != Break && (from > 0 || to < n) {
				s.To = ""
				s.Text = strings.ToValidUTF8(s.Text[max(from, 0):min(to, n)], "") // without half a character
			}
			some = append(some, s)
		}
		if from, to = from-n, to-n; to <= 0 {
			break
		}
	}
	return some
}

// placeIn returns the best place for a cut in the second half of what fits; 0 if there is none.
func placeIn(spans []Span, fits int) int {
	line, word, at := 0, 0, 0
	for _, s := range spans {
		if at > fits {
			break
		}
		if s.Kind == Break {
			line = at
		} else if found := strings.LastIndexFunc(s.Text[:min(len(s.Text), fits-at+1)], unicode.IsSpace); found >= 0 &&
			s.Kind != Code {
			word = at + found
		}
		at += lengthOf(s)
	}
	switch {
	case line > fits/2:
		return line
	case word > fits/2:
		return word
	}
	return line
}

// betweenCharacters returns the last place up to n that is not within a character as people see it, or the first after
// n.
func betweenCharacters(text string, n int) (at int) {
	for state := -1; at == 0 || at < n; {
		character, _, _, next := uniseg.FirstGraphemeClusterInString(text[at:], state)
		if character == "" || at > 0 && at+len(character) > n {
			break
		}
		at, state = at+len(character), next
	}
	return at
}

// trimmed is spans without the white space and the line ends around them. Code keeps its own.
func trimmed(spans []Span) []Span {
	for len(spans) > 0 && spans[0].Kind != Code {
		if spans[0].Text = strings.TrimLeftFunc(spans[0].Text, unicode.IsSpace); spans[0].Text != "" {
			break
		}
		spans = spans[1:]
	}
	for n := len(spans) - 1; n >= 0 && spans[n].Kind != Code; n-- {
		if spans[n].Text = strings.TrimRightFunc(spans[n].Text, unicode.IsSpace); spans[n].Text != "" {
			break
		}
		spans = spans[:n]
	}
	return spans
}

// cutCode cuts code between lines, at a blank one if there is one in the second half of what fits, but so that neither
// piece is blank. A line that does not fit by itself is cut between characters.
func cutCode(b Block, fits func([]Block) bool, forced bool) (part, rest []Block) {
	code := func(text string) []Block {
		c := b
		c.Code = text
		return []Block{c}
	}
	ends := []int{0}
	for line := range strings.Lines(b.Code) {
		ends = append(ends, ends[len(ends)-1]+len(line))
	}
	last := len(ends) - 1
	blank := func(from, to int) bool { return strings.TrimSpace(b.Code[ends[from]:ends[to]]) == "" }
	n := most(last, func(n int) bool { return fits(code(b.Code[:ends[n]])) })
	if n == last {
		return []Block{b}, nil
	}
	if blank(0, n) {
		if !forced {
			return nil, []Block{b}
		}
		at := most(ends[n+1], func(n int) bool { return fits(code(strings.ToValidUTF8(b.Code[:n], ""))) })
		at = betweenCharacters(b.Code, at)
		return code(b.Code[:at]), code(b.Code[at:])
	}
	for i := n; i > n/2 && i > 1; i-- {
		if blank(i-1, i) {
			n = i
			break
		}
	}
	for n > 1 && blank(n, last) {
		n--
	}
	return code(b.Code[:ends[n]]), code(b.Code[ends[n]:])
}
