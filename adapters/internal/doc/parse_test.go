package doc_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/internal/doc"
)

// TestRowsKeepTheirCells: a bar within code ends no cell, and no cell beyond the head's is dropped.
func TestRowsKeepTheirCells(t *testing.T) {
	blocks := doc.Parse("| a | b |\n|---|---|\n| `x|y` | c | d |\n| \\| | `` e`|f `` |\n")
	var rows []string
	for _, row := range blocks[0].Rows {
		var cells []string
		for _, cell := range row {
			text := ""
			for _, s := range cell {
				text += s.Text
			}
			cells = append(cells, text)
		}
		rows = append(rows, strings.Join(cells, " / "))
	}
	if got, want := strings.Join(rows, "\n"), "a / b\nx|y / c / d\n| / e`|f"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
