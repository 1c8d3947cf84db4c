package draw

import (
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/doc"
)

func isList(b doc.Block) bool { return b.Kind == doc.List }

// styleOf is the style of a list of Slack's, or "" for one that Slack would number otherwise than the model did: it
// does not begin at 1, or something interrupts it.
func styleOf(b doc.Block, after []doc.Block) string {
	holdsList := func(item []doc.Block) bool { return slices.ContainsFunc(item, isList) }
	goesOn := func(next doc.Block) bool { return isList(next) && next.First == b.First+len(b.Items) }
	switch {
	case b.First == doc.NoNumbers:
		return "bullet"
	case b.First == 1 && !slices.ContainsFunc(b.Items[:len(b.Items)-1], holdsList) &&
		!slices.ContainsFunc(after, goesOn):
		return "ordered"
	}
	return ""
}

// list draws a list, or lines that begin with its numbers. Slack's lists hold sections alone, so a list in an item
// follows it. What stands after that in the item is a section of its own, since it would look like another item.
func (w *replyWriter) list(b doc.Block, after []doc.Block) {
	style, indent := styleOf(b, after), min(w.depth, maxIndent)
	for i, item := range b.Items {
		if style == "" {
			w.words(strings.Repeat("    ", indent) + strconv.Itoa(b.First+i) + ". ")
			if len(item) > 0 && !isList(item[0]) { // the words stand beside their number
				w.spans = append(w.spans, item[0].Spans...)
				item = item[1:]
			}
		}
		begin := slices.IndexFunc(item, isList)
		if begin < 0 {
			begin = len(item)
		}
		w.depth++
		w.all(item[:begin])
		w.item(style, indent, i)
		w.all(item[begin:])
		w.endSection()
		w.depth--
	}
}

// item adds an item to a list of Slack's, or its line.
func (w *replyWriter) item(style string, indent, place int) {
	if style == "" {
		w.endSection()
		return
	}
	list := element{Type: "rich_text_list", Style: style, Indent: indent, Border: w.border}
	if n := len(w.elements) - 1; place > 0 && w.elements[n].Style == style && w.elements[n].Indent == indent {
		list, w.elements = w.elements[n], w.elements[:n]
	}
	list.Elements = append(list.Elements, w.taken(sectionType))
	w.elements = append(w.elements, list)
}
