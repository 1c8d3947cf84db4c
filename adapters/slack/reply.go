package slack

import (
	"strconv"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
)

// replyForms are Slack's forms of what a reply has. Slack parses nothing in any of them, so all text is in them as it is.
var replyForms = doc.Forms{Rules: true, Tables: isTable, Columns: maxColumns}

// reply draws a reply or, if it could be taken for a card, its characters in paragraphs, with boxes around its code.
func reply(text string) (all []message) {
	blocks := doc.Parse(text)
	if chat.LooksLikeCard(text) {
		blocks = doc.Literal(text)
	}
	if whole := drawReply(blocks); len(blocks) > 0 && whole.fits() {
		return []message{whole.message(blocks)}
	}
	for _, part := range doc.Split(blocks, func(part []doc.Block) bool { return drawReply(part).fits() }) {
		all = append(all, drawReply(part).message(part))
	}
	return all
}

// message returns the message of a part that is drawn.
func (w *richWriter) message(part []doc.Block) message {
	return message{Text: excerpt(doc.Text(part, false)), Blocks: w.blocks, reply: part}
}

// withoutForms returns a reply as plain text, for when Slack refuses it as it was drawn: it may meet a rule that is not known here.
func withoutForms(m message, late bool) message {
	text := shorten(doc.Text(m.reply, true), maxMessageText-maxExcerpt)
	m.Blocks = []api.Block{rich(literal(text))}
	if late {
		m.Blocks = append([]api.Block{smallLine(chat.LateNote)}, m.Blocks...)
	}
	return m
}

// richWriter draws the blocks of a reply.
type richWriter struct {
	blocks   []api.Block
	elements []api.RichTextElement // of the block of rich text that is being drawn
	section  []piece               // of the section that is being drawn
	border   int                   // 1 inside a quotation
	units    int                   // of all texts
	tables   int
}

func drawReply(blocks []doc.Block) *richWriter {
	w := &richWriter{}
	for _, b := range replyForms.Drawable(blocks) {
		w.block(b)
	}
	w.endBlock()
	return w
}

// fits reports whether the reply fits a message.
func (w *richWriter) fits() bool {
	return w.units <= maxReply && len(w.blocks) <= maxReplyBlocks && w.tables <= 1
}

func (w *richWriter) block(b doc.Block) {
	switch b.Kind {
	case doc.Paragraph:
		if len(w.section) > 0 {
			w.words("\n\n")
		}
		w.spans(b.Spans)
	case doc.CodeBlock:
		w.endSection()
		code := doc.CodeLines(b.Code)
		w.units += chat.Units(code)
		w.elements = append(w.elements, preformatted(code[:len(code)-1]))
	case doc.List:
		w.endSection()
		w.list(b, 0)
	case doc.Quote:
		w.endSection()
		w.border = 1
		for _, in := range b.Items[0] {
			w.block(in)
		}
		w.endSection()
		w.border = 0
	case doc.Table:
		w.endBlock()
		w.tables++
		w.blocks = append(w.blocks, w.table(b))
	case doc.Rule:
		w.endBlock()
		w.blocks = append(w.blocks, api.NewDividerBlock())
	}
}

// endSection ends the section that is being drawn, as Slack's own editor does in front of anything else: with a line end.
func (w *richWriter) endSection() {
	switch {
	case len(w.section) == 0:
		return
	case w.border > 0:
		w.elements = append(w.elements, &api.RichTextQuote{Type: api.RTEQuote, Elements: w.section})
	default:
		w.words("\n")
		w.elements = append(w.elements, api.NewRichTextSection(w.section...))
	}
	w.section = nil
}

// endBlock ends the block of rich text that is being drawn.
func (w *richWriter) endBlock() {
	if len(w.section) > 0 {
		w.elements = append(w.elements, api.NewRichTextSection(w.section...))
	}
	if len(w.elements) > 0 {
		w.blocks = append(w.blocks, api.NewRichTextBlock("", w.elements...))
	}
	w.elements, w.section = nil, nil
}

// list draws a list. Slack's lists hold sections alone, so a list in an item interrupts its list, which goes on counting after it.
func (w *richWriter) list(b doc.Block, depth int) {
	var list *api.RichTextList
	begin := func(index int) {
		list = api.NewRichTextList(api.RTEListBullet, min(depth, maxIndent))
		if list.Border = w.border; b.First > 0 {
			list.Style, list.Offset = api.RTEListOrdered, b.First-1+index
		}
	}
	end := func() {
		if len(list.Elements) > 0 {
			w.elements = append(w.elements, list)
		}
	}
	begin(0)
	for i, item := range b.Items {
		if b.First == 0 { // from which Slack does not count
			w.words(strconv.Itoa(i) + ". ")
		}
		begun := false
		for _, in := range item {
			if in.Kind == doc.Paragraph {
				if len(w.section) > 0 {
					w.words("\n")
				}
				w.spans(in.Spans)
				continue
			}
			w.endItem(list, begun)
			end()
			w.list(in, depth+1)
			begin(i + 1)
			begun = true
		}
		if len(w.section) > 0 || !begun {
			w.endItem(list, begun)
		}
	}
	end()
}

// endItem ends an item. What stands after a list in it is a section of its own, since it would look like another item.
func (w *richWriter) endItem(list *api.RichTextList, begun bool) {
	switch {
	case begun:
		w.endSection()
		return
	case len(w.section) == 0:
		w.words(" ") // Slack takes no empty section
	}
	list.Elements = append(list.Elements, api.NewRichTextSection(w.section...))
	w.section = nil
}

// words adds text to the section.
func (w *richWriter) words(text string) { w.spans([]doc.Span{{Kind: doc.Words, Text: text}}) }

// spans adds spans to the section. Neighbours that look the same are joined.
func (w *richWriter) spans(spans []doc.Span) {
	for _, s := range doc.Shown(spans) {
		if s.Kind == doc.Break {
			s.Text = "\n"
		}
		w.units += chat.Units(s.Text)
		style := api.RichTextSectionTextStyle{Bold: s.Style&doc.Bold != 0, Italic: s.Style&doc.Italic != 0, Strike: s.Style&doc.Struck != 0, Code: s.Kind == doc.Code}
		look := &style
		if style == (api.RichTextSectionTextStyle{}) {
			look = nil
		}
		if isWeb(s.To) {
			w.section = append(w.section, api.NewRichTextSectionLinkElement(s.To, "", look))
			continue
		}
		if n := len(w.section); n > 0 && look == nil {
			if last, ok := w.section[n-1].(*api.RichTextSectionTextElement); ok && last.Style == nil {
				w.section[n-1] = literal(last.Text + s.Text)
				continue
			}
		}
		w.section = append(w.section, api.NewRichTextSectionTextElement(s.Text, look))
	}
}

// isWeb reports whether Slack makes a link of an address.
func isWeb(address string) bool {
	return len(address) <= maxURL && webAddress.MatchString(address)
}
