package core

import (
	"encoding/base64"
	"slices"
)

// Validate checks one message by itself (harness-chat §3.1, llm-provider §3): its role, the shape that its role
// requires, its blocks. The error is an *Error of category chat_message_shape_invalid whose message states what to
// change. The provider view checks what depends on other messages (does a tool message answer a call?).
func (m Message) Validate() error {
	if f := m.check(); f != nil {
		return Errorf(ChatMessageShapeInvalid, "%s", f.reason)
	}
	return nil
}

// Validate checks one block of a user's message by itself; the error is as Message.Validate's.
func (b Block) Validate() error {
	if f := b.check([]BlockType{TextBlock, ImageBlock}); f != nil {
		return Errorf(ChatMessageShapeInvalid, "%s", f.reason)
	}
	return nil
}

func (m Message) check() *fault {
	if m.fault != nil {
		return m.fault
	}
	if m.Role != Assistant && len(m.ToolCalls) > 0 {
		return faultf("only an assistant message may carry tool_calls")
	}
	if m.Role != ToolRole && m.ToolCallID != "" {
		return faultf("only a tool message may carry tool_call_id")
	}
	switch m.Role {
	case System:
		if m.Content.IsList() || m.Content.text == "" {
			return faultf("a system message needs a text that is not empty")
		}
	case User:
		return m.Content.check(TextBlock, ImageBlock)
	case Assistant:
		return m.checkAssistant()
	case ToolRole:
		if m.Content.IsList() {
			return faultf("a tool message's content must be a text")
		}
		if m.Content.text == "" {
			return faultf("a tool message needs content; that of a tool without output is %q", NoOutput)
		}
		if m.ToolCallID == "" {
			return faultf("a tool message needs a tool_call_id")
		}
	case "":
		return faultf("a message needs a role: system, user, assistant or tool")
	default:
		return faultf("unknown role %q: use system, user, assistant or tool", m.Role)
	}
	return nil
}

func (m Message) checkAssistant() *fault {
	for i, c := range m.ToolCalls {
		if c.ID == "" || c.Name == "" {
			return faultf("tool_calls[%d] needs an id and a name", i)
		}
	}
	if m.Content.IsZero() || m.Content.IsList() && len(m.Content.blocks) == 0 {
		if len(m.ToolCalls) == 0 {
			return faultf("an assistant message needs content or tool_calls")
		}
		return nil
	}
	return m.Content.check(TextBlock, ThinkingBlock, RedactedThinkingBlock)
}

// check requires content that is not empty and has only blocks of the allowed types.
func (c Content) check(allowed ...BlockType) *fault {
	if !c.IsList() {
		if c.text == "" {
			return faultf("content must not be empty")
		}
		return nil
	}
	if len(c.blocks) == 0 {
		return faultf("a list of content blocks must not be empty")
	}
	for i, b := range c.blocks {
		if f := b.check(allowed); f != nil {
			return faultf("content[%d]: %s", i, f.reason)
		}
	}
	return nil
}

func (b Block) check(allowed []BlockType) *fault {
	if !slices.Contains(allowed, b.Type) {
		return faultf("a block of type %q is not allowed here", b.Type)
	}
	switch b.Type {
	case TextBlock:
		if b.Text == "" {
			return faultf("a text block needs a text")
		}
	case ThinkingBlock:
		if b.Text == "" && b.Signature == "" {
			return faultf("a thinking block needs a text or a signature")
		}
	case ImageBlock:
		return b.checkImage()
	case RedactedThinkingBlock:
		if b.Data == "" {
			return faultf("a redacted_thinking block needs data")
		}
	}
	return nil
}

func (b Block) checkImage() *fault {
	switch {
	case b.Source == nil:
		return faultf("an image block needs a source")
	case b.Source.Type == SourceURL && b.Source.URL == "":
		return faultf("an image source of type url needs a url")
	case b.Source.Type == SourceInline && b.Source.Base64Data == "":
		return faultf("an image source of type inline needs base64_data")
	case b.Source.Type == SourceStored && !isDigest(b.Source.Digest):
		return faultf("an image source of type stored needs a digest: sha256 and 64 hexadecimal digits")
	case b.Source.Type == SourceStored && b.Source.Size <= 0:
		return faultf("an image source of type stored needs a size")
	case (b.Source.Type == SourceInline || b.Source.Type == SourceStored) && b.MediaType == "":
		return faultf("an image source of type %s needs a media_type, such as image/png", b.Source.Type)
	case b.Source.Type != SourceURL && b.Source.Type != SourceInline && b.Source.Type != SourceStored:
		return faultf("unknown image source type %q: use url or inline", b.Source.Type)
	}
	if b.Source.Type == SourceInline {
		if _, err := base64.StdEncoding.DecodeString(b.Source.Base64Data); err != nil {
			return faultf("base64_data is not base64")
		}
	}
	switch b.Detail {
	case "", "auto", "low", "high":
		return nil
	}
	return faultf("unknown image detail %q: use auto, low or high", b.Detail)
}
