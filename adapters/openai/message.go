package openai

import (
	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// message is a message on the wire.
func (p *Provider) message(m core.Message, names llm.Names) object {
	wire := object{"role": string(m.Role)}
	switch {
	case m.Role == core.Assistant:
		p.assistant(wire, m, names)
	case m.Role == core.User && m.Content.IsList():
		wire["content"] = parts(m.Content.Blocks())
	default:
		wire["content"] = m.Content.String()
	}
	if m.Role == core.ToolRole {
		wire["tool_call_id"] = m.ToolCallID
	}
	return wire
}

// parts are the blocks of a user's message, in their order.
func parts(blocks []core.Block) []any {
	all := []any{}
	for _, b := range blocks {
		if b.Type == core.TextBlock {
			all = append(all, textPart(b.Text))
			continue
		}
		image := object{"url": imageURL(b)}
		if b.Detail != "" {
			image["detail"] = b.Detail
		}
		all = append(all, object{"type": "image_url", "image_url": image})
	}
	return all
}

func textPart(text string) object { return object{"type": "text", "text": text} }

func imageURL(b core.Block) string {
	if b.Source.Type == core.SourceInline {
		return "data:" + b.MediaType + ";base64," + b.Source.Base64Data
	}
	return b.Source.URL
}

// assistant leaves out thinking and signatures, but for what the server itself sent with the message.
func (p *Provider) assistant(wire object, m core.Message, names llm.Names) {
	var texts []any
	for _, b := range m.Content.Blocks() {
		if b.Type == core.TextBlock {
			texts = append(texts, textPart(b.Text))
		}
	}
	switch {
	case len(texts) > 1:
		wire["content"] = texts
	case len(texts) == 1:
		wire["content"] = texts[0].(object)["text"]
	case len(m.ToolCalls) > 0:
		wire["content"] = nil
	default:
		wire["content"] = ""
	}
	var calls []any
	for _, c := range m.ToolCalls {
		function := object{"name": names.Wire(c.Name), "arguments": string(modelapi.Arguments(c))}
		calls = append(calls, object{"id": c.ID, "type": "function", "function": function})
	}
	if calls != nil {
		wire["tool_calls"] = calls
	}
	giveBack(wire, calls, m, p.api.Model)
	if p.family.gemini && calls != nil {
		signed(calls[0].(object))
	}
}

// noSignature is what Gemini takes for the first call of a message that another model wrote: one of the two texts that
// skip the check (ai.google.dev/gemini-api/docs/thought-signatures, FAQs).
const noSignature = "skip_thought_signature_validator"

func signed(call object) {
	for _, key := range []string{"extra_content", "thought_signature"} {
		if call[key] != nil {
			return
		}
	}
	call["extra_content"] = object{"google": object{"thought_signature": noSignature}}
}
