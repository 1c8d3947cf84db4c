package doc

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

func (r reader) table(n *table.Table) Block {
	b := Block{Kind: Table}
	for _, a := range n.Alignments {
		b.Align = append(b.Align,
			map[table.Alignment]Align{
				table.AlignLeft: AlignLeft, table.AlignCenter: AlignCenter, table.AlignRight: AlignRight,
			}[a])
	}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		b.Rows = append(b.Rows, r.row(row))
	}
	return b
}

// row is a row of a table. The parser would end a cell within code, at a bar, and drop what is more than the head has:
// so it is divided here.
func (r reader) row(n ast.Node) (cells []Cell) {
	line, _, _ := strings.Cut(string(r.source[n.Pos():]), "\n")
	for _, cell := range divide(line) {
		var spans []Span
		if p := inline.Parse(text.NewReader([]byte(cell))).FirstChild(); p != nil {
			spans = reader{[]byte(cell)}.spans(p)
		}
		cells = append(cells, spans)
	}
	for len(cells) < n.ChildCount() {
		cells = append(cells, nil)
	}
	return cells
}

// divide divides a row at its bars, but for escaped ones and those in code.
func divide(row string) (cells []string) {
	if row = strings.TrimPrefix(strings.TrimSpace(row), "|"); !strings.HasSuffix(row, `\|`) {
		row = strings.TrimSuffix(row, "|")
	}
	var cell strings.Builder
	for i := 0; i < len(row); {
		switch {
		case strings.HasPrefix(row[i:], `\|`):
			cell.WriteByte('|')
			i += 2
		case row[i] == '|':
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
			i++
		case row[i] == '`':
			code := codeAt(row[i:])
			cell.WriteString(strings.ReplaceAll(code, `\|`, "|"))
			i += len(code)
		default:
			cell.WriteByte(row[i])
			i++
		}
	}
	return append(cells, strings.TrimSpace(cell.String()))
}

// codeAt returns the code that a text begins with, with its backticks, or the backticks alone if nothing ends it.
func codeAt(s string) string {
	run := s[:len(s)-len(strings.TrimLeft(s, "`"))]
	for at := len(run); ; {
		next := strings.Index(s[at:], run)
		if next < 0 {
			return run
		}
		at += next
		n := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		if at += n; n == len(run) {
			return s[:at]
		}
	}
}
