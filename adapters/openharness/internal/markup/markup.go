// Package markup writes a model's reply as HTML that a page may insert as it is.
//
// It writes only the elements and attributes that it has in its text; whatever else a reply holds is written as text. Links lead to http,
// https and mailto only, open in a tab of their own, and tell the other site nothing. An image is never loaded, since that would tell its
// server who reads what: it is a link. Headings begin at the third level, below those of the page.
package markup

import (
	"html"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/doc"
)

// HTML returns a reply as HTML.
func HTML(blocks []doc.Block) string {
	w := &writer{}
	w.blocks(blocks)
	return w.String()
}

// writer writes HTML.
type writer struct{ strings.Builder }

func (w *writer) blocks(all []doc.Block) {
	for _, b := range all {
		w.block(b)
	}
}

func (w *writer) block(b doc.Block) {
	switch b.Kind {
	case doc.Paragraph:
		w.element("p", "", func() { w.spans(b.Spans) })
	case doc.Heading:
		w.element("h"+strconv.Itoa(min(6, b.Level+2)), "", func() { w.spans(b.Spans) })
	case doc.Quote:
		w.element("blockquote", "", func() { w.blocks(b.Items[0]) })
	case doc.List:
		w.list(b)
	case doc.Rule:
		w.WriteString("<hr>\n")
	case doc.CodeBlock:
		w.WriteString("<pre tabindex=\"0\"><code>" + html.EscapeString(b.Code) + "</code></pre>\n")
	case doc.Table:
		w.table(b)
	}
}

// element writes an element; attributes begin with a space.
func (w *writer) element(name, attributes string, inside func()) {
	w.WriteString("<" + name + attributes + ">")
	inside()
	w.WriteString("</" + name + ">\n")
}

func (w *writer) list(b doc.Block) {
	name, start := "ul", ""
	if b.First != doc.NoNumbers {
		name = "ol"
		if b.First != 1 {
			start = ` start="` + strconv.Itoa(b.First) + `"`
		}
	}
	w.element(name, start, func() {
		for _, item := range b.Items {
			w.element("li", "", func() { w.item(item) })
		}
	})
}

// item writes an item. Words at its beginning are a paragraph only if another one follows.
func (w *writer) item(blocks []doc.Block) {
	if len(blocks) == 0 || blocks[0].Kind != doc.Paragraph || len(blocks) > 1 && blocks[1].Kind == doc.Paragraph {
		w.blocks(blocks)
		return
	}
	w.spans(blocks[0].Spans)
	if len(blocks) > 1 {
		w.WriteByte('\n')
		w.blocks(blocks[1:])
	}
}

func (w *writer) table(b doc.Block) {
	w.WriteString("<div class=\"table\" tabindex=\"0\">")
	w.element("table", "", func() {
		w.WriteString("<thead>")
		w.row("th", b.Rows[0], b.Align)
		w.WriteString("</thead>")
		for _, row := range b.Rows[1:] {
			w.row("td", row, b.Align)
		}
	})
	w.WriteString("</div>\n")
}

func (w *writer) row(cell string, cells []doc.Cell, aligned []doc.Align) {
	w.element("tr", "", func() {
		for i, spans := range cells {
			class := ""
			if i < len(aligned) {
				class = map[doc.Align]string{doc.AlignRight: ` class="right"`, doc.AlignCenter: ` class="center"`}[aligned[i]]
			}
			w.element(cell, class, func() { w.spans(spans) })
		}
	})
}
