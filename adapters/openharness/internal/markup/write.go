package markup

import (
	"html"
	"strconv"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
	render "github.com/yuin/goldmark/renderer/html"
)

// node writes a node and all that is in it.
func (w *writer) node(n ast.Node, depth int) {
	if w.refused = w.refused || depth > maxDepth || w.Len() > maxHTML; w.refused {
		return
	}
	switch n := n.(type) {
	case *ast.Heading:
		w.element("h"+strconv.Itoa(min(6, n.Level+2)), "", n, depth)
	case *ast.Paragraph:
		w.element("p", "", n, depth)
	case *ast.TextBlock:
		w.children(n, depth)
		if n.NextSibling() != nil {
			w.WriteByte('\n')
		}
	case *ast.Blockquote:
		w.element("blockquote", "", n, depth)
	case *ast.List:
		w.list(n, depth)
	case *ast.ListItem:
		w.element("li", "", n, depth)
	case *ast.ThematicBreak:
		w.WriteString("<hr>\n")
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		w.code(n)
	case *table.Table:
		w.WriteString("<div class=\"table\" tabindex=\"0\">")
		w.element("table", "", n, depth)
		w.WriteString("</div>\n")
	case *table.TableHeader:
		w.WriteString("<thead>")
		w.element("tr", "", n, depth)
		w.WriteString("</thead>")
	case *table.TableRow:
		w.element("tr", "", n, depth)
	case *table.TableCell:
		w.cell(n, depth)
	default:
		w.inline(n, depth)
	}
}

func (w *writer) inline(n ast.Node, depth int) {
	switch n := n.(type) {
	case *ast.Text:
		w.text(n)
	case *ast.String:
		w.WriteString(html.EscapeString(string(n.Value)))
	case *ast.CodeSpan:
		w.WriteString("<code>" + html.EscapeString(w.plainOf(n, maxDepth)) + "</code>")
	case *ast.Emphasis:
		w.WriteString(emphases[n.Level == 2].open)
		w.children(n, depth)
		w.WriteString(emphases[n.Level == 2].end)
	case *table.Strikethrough:
		w.WriteString("<del>")
		w.children(n, depth)
		w.WriteString("</del>")
	case *table.TaskCheckBox:
		w.WriteString(map[bool]string{false: "☐ ", true: "☑ "}[n.IsChecked])
	case *ast.Link:
		w.link(string(n.Destination), true, func() { w.children(n, depth) })
	case *ast.AutoLink:
		w.autoLink(n)
	case *ast.Image:
		w.image(n)
	default: // the document
		w.children(n, depth)
	}
}

var emphases = map[bool]struct{ open, end string }{false: {"<em>", "</em>"}, true: {"<strong>", "</strong>"}}

// element writes a node as this element; attributes begin with a space.
func (w *writer) element(name, attributes string, n ast.Node, depth int) {
	w.WriteString("<" + name + attributes + ">")
	w.children(n, depth)
	w.WriteString("</" + name + ">\n")
}

func (w *writer) children(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil && !w.refused; c = c.NextSibling() {
		w.node(c, depth+1)
	}
}

// text writes a piece of text with its entities and escapes resolved. A line end is one that people see, as on chat platforms.
func (w *writer) text(n *ast.Text) {
	if n.IsRaw() {
		w.WriteString(html.EscapeString(string(n.Value(w.source))))
	} else {
		w.escaped(n.Value(w.source))
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		w.WriteString("<br>\n")
	}
}

func (w *writer) list(n *ast.List, depth int) {
	switch {
	case !n.IsOrdered():
		w.element("ul", "", n, depth)
	case n.Start != 1:
		w.element("ol", ` start="`+strconv.Itoa(n.Start)+`"`, n, depth)
	default:
		w.element("ol", "", n, depth)
	}
}

func (w *writer) code(n ast.Node) {
	w.WriteString("<pre tabindex=\"0\"><code>")
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		w.WriteString(html.EscapeString(string(line.Value(w.source))))
	}
	w.WriteString("</code></pre>\n")
}

func (w *writer) cell(n *table.TableCell, depth int) {
	name, attributes := "td", ""
	if _, head := n.Parent().(*table.TableHeader); head {
		name = "th"
	}
	switch n.Alignment {
	case table.AlignRight:
		attributes = ` class="right"`
	case table.AlignCenter:
		attributes = ` class="center"`
	}
	w.element(name, attributes, n, depth)
}

// escaped writes text that may have entities and escapes. The library's writer knows them; what it writes has no markup.
func (w *writer) escaped(value []byte) {
	b := bufferOf(w)
	render.DefaultWriter.Write(b, value)
	_ = b.Flush() // into memory
}
