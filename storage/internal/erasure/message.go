package erasure

import (
	"bytes"
	"encoding/json"

	"gatehouse/core"
)

// Message is one message of a history, and whose it is.
type Message struct {
	Body []byte // as it is stored
	// the person wrote it, or it is of a turn that they began
	Theirs bool
	// what the bot said to them goes, too: its replies, and the results of its tools
	Replies bool
}

// Message is the message as it is stored once the person is erased. own reports that it was the person's own, whose
// images go.
func (w *Words) Message(m Message) (body []byte, own, changed bool) {
	var msg core.Message
	if json.Unmarshal(m.Body, &msg) != nil || msg.Fault() != nil {
		body, changed = w.Fields(m.Body)
		return body, false, changed
	}
	switch {
	case msg.Role == core.User && m.Theirs:
		speaker, several := msg.Content.Speaker()
		if several {
			speaker = core.Speaker{ID: speaker.ID}
		}
		msg.Content, own = core.Said(speaker, Erased, nil), true
	case msg.Role == core.Assistant:
		w.answer(&msg, m)
	case m.Theirs && m.Replies && msg.Role == core.ToolRole:
		msg.Content = core.Text(Erased)
	default:
		body, changed = w.Fields(m.Body)
		return body, false, changed
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(msg) != nil {
		return m.Body, false, false
	}
	body = bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	return body, own, !bytes.Equal(body, m.Body)
}

// answer erases in what the model said. What it answered the person stays unless replies go; its thinking, which
// repeats what it was told, and what it told others of the person's words, do not.
func (w *Words) answer(msg *core.Message, m Message) {
	var blocks []core.Block
	for _, b := range msg.Content.Blocks() {
		switch {
		case m.Theirs && (b.Type == core.ThinkingBlock || b.Type == core.RedactedThinkingBlock):
			continue
		case b.Type == core.TextBlock && m.Replies && m.Theirs:
			b.Text, b.Signature = Erased, ""
		case !m.Theirs && (b.Type == core.TextBlock || b.Type == core.ThinkingBlock):
			if text := w.Text(b.Text); text != b.Text {
				b.Text, b.Signature = text, ""
			}
		}
		blocks = append(blocks, b)
	}
	if msg.Content.IsList() {
		msg.Content = core.Blocks(blocks...)
		if len(blocks) == 0 && len(msg.ToolCalls) == 0 {
			msg.Content = core.Text(Erased)
		}
	} else if len(blocks) > 0 {
		msg.Content = core.Text(blocks[0].Text)
	}
	for i, c := range msg.ToolCalls {
		if arguments, changed := w.JSON(c.Arguments); changed {
			msg.ToolCalls[i].Arguments = arguments
		}
		if m.Theirs && m.Replies {
			msg.ToolCalls[i].Arguments = json.RawMessage(`{}`)
		}
	}
}
