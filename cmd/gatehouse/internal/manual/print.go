package manual

import (
	"path"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
)

// Style is how a page is written.
type Style struct {
	Width   int  // columns, at least 40
	Colours bool // bold headings and coloured code, by escape sequences; otherwise code has its backticks
}

// The styles of a piece of text.
const (
	bold   = "\x1b[1m"
	code   = "\x1b[36m"
	normal = "\x1b[0m"
)

// Print returns the page as text.
func (p Page) Print(style Style) string {
	source := []byte(p.Text)
	w := printer{room: p.Room, source: source, style: style}
	w.blocks(parse(source), "", false)
	return strings.TrimLeft(w.out.String(), "\n")
}

// printer writes the blocks of one page.
type printer struct {
	room   string
	source []byte
	style  Style
	out    strings.Builder
}

// blocks writes the blocks below a node, each line after the indent; tight leaves out the empty lines between them.
func (w *printer) blocks(parent ast.Node, indent string, tight bool) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if _, html := n.(*ast.HTMLBlock); html {
			continue // a picture
		}
		if !tight || n.PreviousSibling() != nil && n.Kind() != ast.KindList {
			w.out.WriteString("\n")
		}
		switch n := n.(type) {
		case *ast.Heading:
			w.wrapped(w.styled(bold, w.inline(n)), indent, indent)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				w.line(indent + "    " + strings.TrimRight(string(line.Value(w.source)), "\n"))
			}
		case *ast.List:
			w.list(n, indent)
		case *table.Table:
			w.table(n, indent)
		default:
			w.wrapped(w.inline(n), indent, indent)
		}
	}
}

// list writes the items of a list, each with its mark.
func (w *printer) list(list *ast.List, indent string) {
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "- "
		if list.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		inner := indent + strings.Repeat(" ", len(mark))
		first := item.FirstChild()
		w.wrapped(w.inline(first), indent+mark, inner)
		rest := ast.NewDocument()
		for n := first.NextSibling(); n != nil; n = first.NextSibling() {
			rest.AppendChild(rest, n) // it leaves the item
		}
		w.blocks(rest, inner, list.IsTight)
		if rest.HasChildren() && item.NextSibling() != nil {
			w.out.WriteString("\n")
		}
	}
}

// inline is the text below a node on one line, with the styles of its parts.
func (w *printer) inline(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(w.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.CodeSpan:
			b.WriteString(w.code(n))
		case *ast.Emphasis:
			b.WriteString(w.styled(bold, w.inline(n)))
		case *ast.Link:
			b.WriteString(w.inline(n) + w.destination(n))
		case *ast.AutoLink:
			b.Write(n.URL(w.source))
		case *ast.RawHTML: // a line break in a picture
			b.WriteByte(' ')
		default:
			b.WriteString(w.inline(n))
		}
	}
	return b.String()
}

func (w *printer) code(n *ast.CodeSpan) string {
	var b strings.Builder
	for t := n.FirstChild(); t != nil; t = t.NextSibling() {
		b.Write(t.(*ast.Text).Segment.Value(w.source))
	}
	if w.style.Colours {
		return w.styled(code, b.String())
	}
	return "`" + b.String() + "`"
}

func (w *printer) styled(style, text string) string {
	if !w.style.Colours {
		return text
	}
	return style + strings.ReplaceAll(text, normal, normal+style) + normal
}

// destination says where a link leads: an address, or the command that prints the page. A file of the repository is
// named by the link's text.
func (w *printer) destination(n *ast.Link) string {
	to := string(n.Destination)
	if strings.Contains(to, ":") {
		if to == w.inline(n) {
			return ""
		}
		return " (" + to + ")"
	}
	file, section, _ := strings.Cut(to, "#")
	room := w.room
	if file != "" {
		if path.Base(file) != "README.md" {
			return ""
		}
		room = path.Dir(path.Join(w.room, file))
	}
	if section != "" {
		room += "#" + section
	}
	return " (" + w.styled(code, "gatehouse help "+room) + ")"
}
