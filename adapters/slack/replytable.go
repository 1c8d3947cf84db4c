package slack

import (
	"cmp"
	"regexp"

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

// webAddress matches the addresses that become links. Slack shows them whole.
var webAddress = regexp.MustCompile(`^https?://[^\s<>|]+$`)

// isTable reports whether Slack takes a table as one.
func isTable(b doc.Block) bool { return len(b.Rows) <= maxTableRows && columnsOf(b) <= maxTableCells }

func columnsOf(b doc.Block) (n int) {
	for _, row := range b.Rows {
		n = max(n, len(row))
	}
	return n
}

// table draws a table, of which Slack takes one a message.
func (w *richWriter) table(b doc.Block) *api.TableBlock {
	table, columns := api.NewTableBlock(""), columnsOf(b)
	for _, a := range b.Align {
		align := map[doc.Align]api.ColumnAlignment{doc.AlignCenter: api.ColumnAlignmentCenter, doc.AlignRight: api.ColumnAlignmentRight}[a]
		table.ColumnSettings = append(table.ColumnSettings, api.ColumnSetting{Align: cmp.Or(align, api.ColumnAlignmentLeft), IsWrapped: true})
	}
	for _, row := range b.Rows {
		cells := make([]api.TableCell, columns)
		for i := range cells {
			if i < len(row) {
				w.spans(row[i])
			}
			cells[i] = cellOf(w.section)
			w.section = nil
		}
		table.AddRow(cells...)
	}
	return table
}

func cellOf(pieces []piece) api.TableCell {
	if len(pieces) == 0 {
		return api.NewTableRawTextCell(" ") // Slack takes no empty text
	}
	if text, ok := pieces[0].(*api.RichTextSectionTextElement); ok && len(pieces) == 1 && text.Style == nil {
		return api.NewTableRawTextCell(text.Text)
	}
	return api.NewTableRichTextCell(api.NewRichTextSection(pieces...))
}
