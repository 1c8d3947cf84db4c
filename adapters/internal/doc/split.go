package doc

import (
	"slices"
	"sort"
	"strings"
)

// Split cuts blocks into parts that fit. It cuts between blocks where that does not leave a part mostly empty, else
// within one: code between its lines, a list between its items, a table between its rows, words at a line end, at white
// space, and at last between characters. A heading, a bold line and words before a colon stay with what follows them.
// The next part of a list goes on counting.
//
// Nothing is lost but the white space at a cut in words, and nothing is doubled but the head of a table. The same
// blocks yield the same parts. If something fits, so must each piece of it.
func Split(blocks []Block, fits func([]Block) bool) (parts [][]Block) {
	for len(blocks) > 0 {
		part, rest := cut(blocks, fits, true)
		parts, blocks = append(parts, part), rest
	}
	return parts
}

// cut cuts blocks in two, of which the first fits. It may be empty, unless all is forced: then a piece is cut off,
// whether it fits or not.
func cut(blocks []Block, fits func([]Block) bool, forced bool) (part, rest []Block) {
	n := most(len(blocks), func(n int) bool { return !isHuge(blocks[n-1]) && fits(blocks[:n]) })
	if n == len(blocks) {
		return blocks, nil
	}
	whole := n
	for whole > 0 && leads(blocks[whole-1]) {
		whole--
	}
	with := func(more []Block) []Block { return append(blocks[:n:n], more...) }
	head, tail := cutBlock(blocks[n], func(more []Block) bool { return fits(with(more)) }, forced && n == 0)
	full := sizeOf(blocks[:n])
	if !isHuge(blocks[n]) && fits(blocks[n:n+1]) {
		full *= 2
	}
	switch {
	case len(head) > 0 && (whole == 0 && forced || full < sizeOf(head)):
		return with(head), slices.Concat(tail, blocks[n+1:])
	case whole == 0 && forced: // headings alone, or what can't be cut
		whole = max(n, 1)
	}
	return blocks[:whole], blocks[whole:]
}

// leads reports whether a block says what follows it: a heading, a bold line, or words before a colon.
func leads(b Block) bool {
	if b.Kind != Paragraph || len(b.Spans) == 0 {
		return b.Kind == Heading
	}
	last := b.Spans[len(b.Spans)-1]
	return strings.HasSuffix(last.Text, ":") || !slices.ContainsFunc(b.Spans, func(s Span) bool {
		return s.Style&Bold == 0
	})
}

// isHuge reports whether a paragraph is too long for any part. It is not drawn to find that out.
func isHuge(b Block) bool { return b.Kind == Paragraph && sizeOf([]Block{b}) > 32<<10 }

// cutBlock cuts a block in two, of which the first fits. Either may be of another kind, and the second may be several.
func cutBlock(b Block, fits func([]Block) bool, forced bool) (part, rest []Block) {
	switch b.Kind {
	case Paragraph, Heading:
		return cutWords(b, fits, forced)
	case CodeBlock:
		return cutCode(b, fits, forced)
	case List:
		return cutList(b, fits, forced)
	case Quote:
		quoted := func(in []Block) []Block {
			if len(in) == 0 {
				return nil
			}
			return []Block{{Kind: Quote, Items: [][]Block{in}}}
		}
		head, tail := cut(b.Items[0], func(in []Block) bool { return fits(quoted(in)) }, forced)
		return quoted(head), quoted(tail)
	case Table:
		return cutTable(b, fits, forced)
	}
	return nil, []Block{b}
}

// cutList cuts a list between items, or in its first one that does not fit. What is left of that stands in front of the
// other items.
func cutList(b Block, fits func([]Block) bool, forced bool) (part, rest []Block) {
	list := func(from, to int, more []Block) []Block {
		l := b
		if l.Items = b.Items[from:to:to]; more != nil {
			l.Items = append(l.Items, more)
		}
		if l.First != NoNumbers {
			l.First += from
		}
		return []Block{l}
	}
	n := most(len(b.Items), func(n int) bool { return fits(list(0, n, nil)) })
	if n == len(b.Items) {
		return []Block{b}, nil
	}
	head, tail := cut(b.Items[n], func(in []Block) bool { return fits(list(0, n, in)) }, forced && n == 0)
	switch {
	case len(head) > 0 && (n == 0 || sizeOf(list(0, n, nil)) < sizeOf(head)):
		if n+1 < len(b.Items) {
			tail = slices.Concat(tail, list(n+1, len(b.Items), nil))
		}
		return list(0, n, head), tail
	case n == 0:
		return nil, []Block{b}
	}
	return list(0, n, nil), list(n, len(b.Items), nil)
}

// cutTable cuts a table between rows, and repeats its head. One whose rows don't fit becomes a list of them.
func cutTable(b Block, fits func([]Block) bool, forced bool) (part, rest []Block) {
	rows := func(from, to int) []Block {
		t := b
		t.Rows = append(b.Rows[:1:1], b.Rows[from:to]...)
		return []Block{t}
	}
	n := 1
	if len(b.Rows) > 1 {
		n += most(len(b.Rows)-1, func(n int) bool { return fits(rows(1, n+1)) })
	}
	switch {
	case n > 1 && n < len(b.Rows):
		return rows(1, n), rows(n, len(b.Rows))
	case n > 1:
		return []Block{b}, nil
	case forced:
		return cutList(Rows(b), fits, true)
	}
	return nil, []Block{b}
}

// most returns the largest n up to limit for which fits holds, 0 if it does for none. Its cost is that of what fits,
// not of all.
func most(limit int, fits func(int) bool) int {
	low, high := 0, 1
	for high <= limit && fits(high) {
		low, high = high, 2*high
	}
	high = min(high, limit+1)
	return low + sort.Search(high-low-1, func(i int) bool { return !fits(low + i + 1) })
}

// sizeOf is roughly how much people see of blocks.
func sizeOf(blocks []Block) (n int) {
	for _, b := range blocks {
		n += len(b.Code) + 2
		for _, s := range b.Spans {
			n += len(s.Text) + 1
		}
		for _, item := range b.Items {
			n += sizeOf(item)
		}
		for _, row := range b.Rows {
			for _, cell := range row {
				n += sizeOf([]Block{{Spans: cell}})
			}
		}
	}
	return n
}
