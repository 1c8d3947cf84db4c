package doc

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

func (r reader) table(n *table.Table) Block {
	b := Block{Kind: Table}
	for _, a := range n.Alignments {
		b.Align = append(b.Align, map[table.Alignment]Align{table.AlignLeft: AlignLeft, table.AlignCenter: AlignCenter, table.AlignRight: AlignRight}[a])
	}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		b.Rows = append(b.Rows, r.row(row))
	}
	return b
}

// row is a row of a table. The parser would end a cell within code, at a bar, and drop what is more than the head has: such a row is
// divided here.
func (r reader) row(n ast.Node) (cells []Cell) {
	if line := r.lineOf(n); strings.Contains(line, "`") || strings.Count(line, "|") > n.ChildCount() {
		for _, cell := range divide(line) {
			in := inline.Parse(text.NewReader([]byte(cell)))
			var spans []Span
			if p := in.FirstChild(); p != nil {
				spans = reader{[]byte(cell)}.spans(p, Span{})
			}
			cells = append(cells, spans)
		}
		for len(cells) < n.ChildCount() {
			cells = append(cells, nil)
		}
		return cells
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		cells = append(cells, r.spans(c, Span{}))
	}
	return cells
}

// lineOf is a row's line of the source, without what is around the table.
func (r reader) lineOf(row ast.Node) string {
	first := row.FirstChild()
	if first == nil || first.Lines().Len() == 0 {
		return ""
	}
	start := first.Lines().At(0).Start
	for start > 0 && (r.source[start-1] == ' ' || r.source[start-1] == '\t') {
		start--
	}
	line := r.source[start:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return string(line)
}

// divide divides a row at its bars, but for escaped ones and those in code. The row has no bar before its first cell.
func divide(row string) (cells []string) {
	if row = strings.TrimSpace(row); !strings.HasSuffix(row, `\|`) {
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
