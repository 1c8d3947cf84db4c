package console

import (
	"strings"

	"github.com/rivo/uniseg"

	"gatehouse/adapters/internal/unfinished"
)

// writing is the answer that a turn writes, as far as it is. It is a view, which the reply takes the place of: a secret
// in it is hidden, wherever its pieces are cut.
type writing struct {
	text  unfinished.Text
	shown string
}

// takes takes the text so far.
func (w *writing) takes(raw string) { w.shown = w.text.Shown(raw) }

// mostTail is how many bytes of a text its end is looked for in.
const mostTail = 2048

// tail is the end of the text in at most so many columns, on one line; "" if there is none.
func (w *writing) tail(columns int) string {
	text := w.shown
	text = strings.ToValidUTF8(text[max(0, len(text)-mostTail):], "")
	if text = strings.TrimSpace(oneLine(text)); uniseg.StringWidth(text) <= columns {
		return text
	}
	cells := (line{{text: text}}).cells()
	from := len(cells)
	for left := columns - 1; from > 0 && left >= cells[from-1].width; from-- {
		left -= cells[from-1].width
	}
	return "…" + (line{{text: text}}).of(cells[from:]).text()
}

// text is a line without its looks.
func (l line) text() string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(p.text)
	}
	return b.String()
}
