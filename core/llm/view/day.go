package view

import (
	"slices"

	"gatehouse/core"
)

// dated is a person's message with the day that has begun before it.
func (o Options) dated(row int, m core.Message) core.Message {
	i := slices.IndexFunc(o.Epoch.Days, func(d core.EpochDay) bool { return d.Row == row })
	if i < 0 {
		return m
	}
	line := "It is now " + o.Epoch.Days[i].Day + "."
	if m.Content.IsList() {
		first := core.Block{Type: core.TextBlock, Text: line}
		m.Content = core.Blocks(append([]core.Block{first}, m.Content.Blocks()...)...)
	} else {
		m.Content = core.Text(line + "\n" + m.Content.String())
	}
	return m
}
