package doc

import (
	"slices"
	"strings"
)

// Forms says which forms a surface has for what Markdown has. What it lacks becomes something else, by this one table:
//
//	a heading that is too deep      bold words
//	a table                         code with aligned columns; or a list of its rows, if that is too wide or has three
//	                                backticks
//	a rule                          three dashes
//	a block in a list's item        stands below the item, at the margin, and the list goes on after it; but words and
//	                                lists stay
//	a block in a quotation          ends the quotation, which goes on after it; but words and lists stay
//	a quotation in a quotation      a quotation
//	a check box, an image           a sign; the word "image" and a link: Parse makes them so for all surfaces
//	a link that hides its address   its words, and the address behind them: see Shown
type Forms struct {
	Headings int    // how many levels of headings
	Rules    bool   // rules
	Tables   Tables // nil: none
	Columns  int    // how wide the aligned columns of a table may be
}

// Tables are those that a surface has a form for.
type Tables interface {
	Fit(table Block) bool
}

// Drawable returns blocks in the forms that a surface has: paragraphs, headings, rules, tables, code, and lists and
// quotations of nothing but paragraphs, headings and lists.
func (f Forms) Drawable(blocks []Block) (all []Block) {
	for _, b := range blocks {
		switch b.Kind {
		case Paragraph, CodeBlock:
			all = append(all, b)
		case Heading:
			all = append(all, f.heading(b))
		case Rule:
			if !f.Rules {
				b = Block{Kind: Paragraph, Spans: []Span{{Kind: Words, Text: "---"}}}
			}
			all = append(all, b)
		case Table:
			all = append(all, f.table(b)...)
		case Quote:
			all = append(all, f.quote(b)...)
		case List:
			all = append(all, f.list(b)...)
		}
	}
	return all
}

func (f Forms) heading(b Block) Block {
	if b.Level <= f.Headings {
		return b
	}
	b.Kind, b.Spans = Paragraph, slices.Clone(b.Spans)
	for i := range b.Spans {
		b.Spans[i].Style |= Bold
	}
	return b
}

func (f Forms) table(b Block) []Block {
	if f.Tables != nil && f.Tables.Fit(b) {
		return []Block{b}
	}
	if grid, width := Grid(b); width <= f.Columns && !strings.Contains(grid, "```") {
		return []Block{{Kind: CodeBlock, Code: grid}}
	}
	return f.Drawable([]Block{Rows(b)})
}

// stays reports whether a drawable block may stand in an item or a quotation.
func stays(b Block) bool { return b.Kind == Paragraph || b.Kind == Heading || b.Kind == List }

func (f Forms) quote(b Block) (all []Block) {
	f.Headings = 0
	var in []Block
	end := func() {
		if len(in) > 0 {
			all, in = append(all, Block{Kind: Quote, Items: [][]Block{in}}), nil
		}
	}
	for _, one := range f.Drawable(b.Items[0]) {
		if stays(one) {
			in = append(in, one)
			continue
		}
		end()
		all = append(all, one)
	}
	end()
	return all
}

// list takes out of its items what can't stand in them. What follows that in an item stands at the margin, too.
func (f Forms) list(b Block) (all []Block) {
	f.Headings = 0
	from, items := 0, [][]Block(nil)
	end := func(next int) {
		if len(items) > 0 {
			l := Block{Kind: List, First: b.First, Items: items}
			if b.First != NoNumbers {
				l.First += from
			}
			all = append(all, l)
		}
		from, items = next, nil
	}
	for i, item := range b.Items {
		in := f.Drawable(item)
		out := slices.IndexFunc(in, func(b Block) bool { return !stays(b) })
		if out < 0 {
			items = append(items, in)
			continue
		}
		items = append(items, in[:out])
		end(i + 1)
		all = append(all, in[out:]...)
	}
	end(0)
	return all
}
