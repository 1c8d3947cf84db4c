package doc

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Grid returns a table as lines with aligned columns, and how wide the widest line is, as a terminal counts.
func Grid(table Block) (lines string, wide int) {
	var rows [][]string
	var widths []int
	for _, row := range table.Rows {
		var cells []string
		for i, cell := range row {
			text := OneLine(cell)
			if cells = append(cells, text); i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(text))
		}
		rows = append(rows, cells)
	}
	var b strings.Builder
	write := func(between string, cell func(column, width int) string) {
		all := make([]string, len(widths))
		for i, width := range widths {
			all[i] = cell(i, width)
		}
		line := strings.Join(all, between)
		wide = max(wide, uniseg.StringWidth(line))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for i, cells := range rows {
		write(" | ", func(c, width int) string {
			cell := ""
			if c < len(cells) {
				cell = cells[c]
			}
			left, before := width-uniseg.StringWidth(cell), 0
			if c < len(table.Align) {
				before = map[Align]int{AlignRight: left, AlignCenter: left / 2}[table.Align[c]]
			}
			return strings.Repeat(" ", before) + cell + strings.Repeat(" ", left-before)
		})
		if i == 0 {
			write("-|-", func(_, width int) string { return strings.Repeat("-", width) })
		}
	}
	return b.String(), wide
}

// maxLabel is the longest head of a column that is repeated before each of its cells, in bytes.
const maxLabel = 80

// Rows returns a table as a list of its rows: before each cell stands the head of its column, unless that is long.
func Rows(table Block) Block {
	list := Block{Kind: List, First: NoNumbers}
	head := table.Rows[0]
	long := len(table.Rows) == 1
	for _, cell := range head {
		long = long || len(OneLine(cell)) > maxLabel
	}
	rows := table.Rows
	if !long {
		rows = rows[1:]
	}
	for _, row := range rows {
		var spans []Span
		for i, cell := range row {
			if i > 0 {
				spans = append(spans, Span{Kind: Words, Text: " · "})
			}
			if !long && i < len(head) {
				spans = append(spans, Span{Kind: Words, Text: OneLine(head[i]) + ":", Style: Bold},
					Span{Kind: Words, Text: " "})
			}
			spans = append(spans, cell...)
		}
		list.Items = append(list.Items, []Block{{Kind: Paragraph, Spans: spans}})
	}
	return list
}
