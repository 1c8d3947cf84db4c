package manual

import (
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
	table "github.com/yuin/goldmark/extension/ast"
)

var escapes = regexp.MustCompile("\x1b\\[[0-9]*m")

// columns is how many columns a text takes.
func columns(text string) int { return uniseg.StringWidth(escapes.ReplaceAllString(text, "")) }

func (w *printer) line(text string) { w.out.WriteString(strings.TrimRight(text, " ") + "\n") }

// wrapped writes a text in lines of at most the page's width: the first begins with first, the others with indent.
func (w *printer) wrapped(text, first, indent string) {
	for i, line := range wrap(text, w.style.Width-columns(indent)) {
		if i == 0 {
			w.line(first + line)
		} else {
			w.line(indent + line)
		}
	}
}

// wrap breaks a text between words. A word that is longer than a line gets one of its own.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// table writes a table: with its columns, the last one wrapped, where the others leave half of the width to it;
// otherwise a row as its first cell, and the others below it.
func (w *printer) table(t *table.Table, indent string) {
	var rows [][]string
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			text := strings.Join(strings.Fields(w.inline(cell)), " ")
			if len(rows) == 0 {
				text = w.styled(bold, text)
			}
			cells = append(cells, text)
		}
		rows = append(rows, cells)
	}
	last := len(t.Alignments) - 1
	widths, taken := make([]int, last), len(indent)
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], columns(row[i]))
		}
		taken += widths[i] + 2
	}
	if taken > w.style.Width/2 {
		w.stacked(rows, indent)
		return
	}
	for _, row := range rows {
		first := indent
		for i, cell := range row[:last] {
			first += cell + strings.Repeat(" ", widths[i]-columns(cell)+2)
		}
		w.wrapped(row[last], first, strings.Repeat(" ", taken))
	}
}

// stacked writes each row of a table as a list; with more than two columns, what stands in a cell begins with its head.
func (w *printer) stacked(rows [][]string, indent string) {
	heads := rows[0]
	for _, row := range rows[1:] {
		w.wrapped(row[0], indent, indent)
		for i, cell := range row[1:] {
			if cell == "" {
				continue
			}
			if len(row) > 2 && heads[i+1] != "" {
				cell = heads[i+1] + ": " + cell
			}
			w.wrapped(cell, indent+"    ", indent+"    ")
		}
	}
}
