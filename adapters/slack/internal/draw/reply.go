package draw

import (
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
)

// replyForms are Slack's forms of what a reply has. Slack parses nothing in any of them, so all text is in them as it
// is.
var replyForms = doc.Forms{Rules: true, Tables: tables{}, Columns: maxColumns}

// reply draws a reply or, if it could be taken for a card, its characters in paragraphs, with boxes around its code.
func reply(text string, t *wording.Texts) (all []Message) {
	blocks := doc.Parse(text)
	if outbound.LooksLikeCard(text, t) {
		blocks = doc.Literal(text)
	}
	if whole := drawReply(blocks); len(blocks) > 0 && whole.fits() {
		return []Message{whole.message(blocks)}
	}
	for _, part := range doc.Split(blocks, func(some []doc.Block) bool { return drawReply(some).fits() }) {
		all = append(all, drawReply(part).message(part))
	}
	return all
}

// replyWriter draws the blocks of a reply.
type replyWriter struct {
	blocks   []api.Block
	elements []element  // of the block of rich text that is being drawn
	spans    []doc.Span // of the element that is being drawn
	border   int        // 1 inside a quotation
	depth    int        // of lists
	units    int        // of all texts
	tables   int
}

// drawReply draws blocks, or so many that they don't fit a message.
func drawReply(blocks []doc.Block) *replyWriter {
	w := &replyWriter{}
	w.all(replyForms.Drawable(blocks))
	w.endBlock()
	return w
}

// fits reports whether the reply fits a message.
func (w *replyWriter) fits() bool {
	return w.units <= maxReply && len(w.blocks) <= maxReplyBlocks && w.tables <= 1
}

// message returns the message of a part that is drawn.
func (w *replyWriter) message(part []doc.Block) Message {
	return Message{Text: excerpt(doc.Text(part, false)), Blocks: w.blocks, reply: part}
}

func (w *replyWriter) all(blocks []doc.Block) {
	for i, b := range blocks {
		switch b.Kind {
		case doc.Paragraph:
			if len(w.spans) > 0 {
				w.words(strings.Repeat("\n", max(1, 2-w.depth)))
			}
			w.spans = append(w.spans, b.Spans...)
		case doc.CodeBlock:
			w.endSection()
			code := doc.CodeLines(b.Code)
			w.units += safetext.Units(code)
			w.elements = append(w.elements, preformatted(code[:len(code)-1]))
		case doc.List:
			w.endSection()
			w.list(b, blocks[i+1:])
		case doc.Quote:
			w.endSection()
			w.border = 1
			w.all(b.Items[0])
			w.endSection()
			w.border = 0
		case doc.Table:
			w.endBlock()
			w.tables++
			w.blocks = append(w.blocks, w.table(b))
		case doc.Rule:
			w.endBlock()
			w.blocks = append(w.blocks, element{Type: "divider"})
		}
		if w.units > maxReply {
			return
		}
	}
}

func (w *replyWriter) words(text string) { w.spans = append(w.spans, own(text)) }

// taken returns an element with the spans that were added.
func (w *replyWriter) taken(kind string) element {
	if len(w.spans) == 0 {
		w.words(" ") // Slack takes no empty section
	}
	e := element{Type: kind, Elements: pieces(w.spans)}
	for _, p := range e.Elements {
		w.units += safetext.Units(p.Text + p.URL)
	}
	w.spans = nil
	return e
}

// endSection ends the section that is being drawn, as Slack's own editor does in front of anything else: with a line
// end.
func (w *replyWriter) endSection() {
	if len(w.spans) == 0 {
		return
	}
	kind := quoteType
	if w.border == 0 {
		w.words("\n")
		kind = sectionType
	}
	w.elements = append(w.elements, w.taken(kind))
}

// endBlock ends the block of rich text that is being drawn.
func (w *replyWriter) endBlock() {
	if len(w.spans) > 0 {
		w.elements = append(w.elements, w.taken(sectionType))
	}
	if len(w.elements) > 0 {
		w.blocks = append(w.blocks, rich(w.elements...))
	}
	w.elements = nil
}
