package draw

import (
	"cmp"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/doc"
)

// Slack's limits of a reply's blocks.
const (
	maxReplyBlocks = 48  // of the 50 of a message: a note that it comes late is one more
	maxIndent      = 8   // of a list
	maxTableRows   = 100 // docs.slack.dev/reference/block-kit/blocks/table-block
	maxTableCells  = 20  // of a row (the same)
	maxColumns     = 120 // of a table that is drawn as code, in characters: ours
)

// tables are those that Slack takes.
type tables struct{}

func (tables) Fit(b doc.Block) bool {
	return len(b.Rows) <= maxTableRows && len(b.Align) <= maxTableCells
}

var aligned = map[doc.Align]api.ColumnAlignment{
	doc.AlignCenter: api.ColumnAlignmentCenter, doc.AlignRight: api.ColumnAlignmentRight,
}

// table draws a table, of which Slack takes one a message.
func (w *replyWriter) table(b doc.Block) element {
	table := element{Type: "table"}
	for _, a := range b.Align {
		align := cmp.Or(aligned[a], api.ColumnAlignmentLeft)
		table.Columns = append(table.Columns, api.ColumnSetting{Align: align, IsWrapped: true})
	}
	for _, row := range b.Rows {
		var cells []element
		for _, cell := range row {
			w.spans = cell
			cells = append(cells, rich(w.taken(sectionType)))
		}
		table.Rows = append(table.Rows, cells)
	}
	return table
}
