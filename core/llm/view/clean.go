package view

import (
	"encoding/json"
	"strings"

	"gatehouse/core"
)

// user is a user's message as it is shown. It always has content.
func (o Options) user(m core.Message) core.Message {
	if !m.Content.IsList() {
		if text := m.Content.String(); !blank(text) {
			return core.Message{Role: core.User, Content: core.Text(text)}
		}
		return core.Message{Role: core.User, Content: core.Text(emptyText)}
	}
	var blocks []core.Block
	for _, b := range m.Content.Blocks() {
		switch {
		case b.Type == core.TextBlock && !blank(b.Text):
			blocks = append(blocks, core.Block{Type: core.TextBlock, Text: b.Text})
		case b.Type == core.ImageBlock && (o.TextOnly || b.Source == nil):
			blocks = append(blocks, core.Block{Type: core.TextBlock, Text: image(b)})
		case b.Type == core.ImageBlock:
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return core.Message{Role: core.User, Content: core.Text(emptyText)}
	}
	return core.Message{Role: core.User, Content: core.Blocks(blocks...)}
}

// assistant is an assistant's message as it is shown; ok is false if nothing of it is left. A message may not end with
// thinking, so that is not shown if neither text nor calls follow. That of an earlier epoch is bound to what was shown
// then.
func (o Options) assistant(m core.Message, old bool) (shown core.Message, ok bool) {
	shown.Role = core.Assistant
	var blocks []core.Block
	end := 0 // behind the last text
	for _, b := range m.Content.Blocks() {
		signature, data := own(o.Provider, b.Signature), own(o.Provider, b.Data)
		switch {
		case b.Type == core.TextBlock && !blank(b.Text):
			blocks = append(blocks, core.Block{Type: core.TextBlock, Text: b.Text, Signature: signature})
			end = len(blocks)
		case old && (b.Type == core.ThinkingBlock || b.Type == core.RedactedThinkingBlock):
		case b.Type == core.ThinkingBlock && signature != "":
			blocks = append(blocks, core.Block{Type: core.ThinkingBlock, Text: b.Text, Signature: signature})
		case b.Type == core.RedactedThinkingBlock && data != "":
			blocks = append(blocks, core.Block{Type: core.RedactedThinkingBlock, Data: data})
		}
	}
	if len(m.ToolCalls) == 0 {
		blocks = blocks[:end]
	}
	switch {
	case len(blocks) == 0:
	case !m.Content.IsList():
		shown.Content = core.Text(blocks[0].Text)
	default:
		shown.Content = core.Blocks(blocks...)
	}
	for _, c := range m.ToolCalls {
		c.Signature = own(o.Provider, c.Signature)
		if !isObject(c.Arguments) {
			c.Arguments = json.RawMessage(`{}`)
		}
		shown.ToolCalls = append(shown.ToolCalls, c)
	}
	if m.Kept != nil && (o.Provider == "" || m.Kept.Origin == o.Provider) {
		kept := *m.Kept
		kept.Old = kept.Old || old
		shown.Kept = &kept
	}
	return shown, len(blocks) > 0 || len(shown.ToolCalls) > 0
}

func note(text string) core.Message {
	return core.Message{Role: core.User, Content: core.Text(text)}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func isObject(raw json.RawMessage) bool {
	return strings.HasPrefix(strings.TrimLeft(string(raw), " \t\r\n"), "{") && json.Valid(raw)
}

// thinks reports whether a message has thinking in it.
func thinks(m core.Message) bool {
	for _, b := range m.Content.Blocks() {
		if b.Type == core.ThinkingBlock || b.Type == core.RedactedThinkingBlock {
			return true
		}
	}
	return false
}
