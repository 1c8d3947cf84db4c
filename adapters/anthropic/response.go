package anthropic

import (
	"cmp"
	"encoding/json"
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// finishes are the reasons why the model stopped (llm-provider §8.2). Any other one, or none, is llm.FinishUnknown.
var finishes = map[string]llm.Finish{
	"end_turn":                      llm.FinishStop,
	"stop_sequence":                 llm.FinishStop,
	"pause_turn":                    llm.FinishStop,
	"max_tokens":                    llm.FinishLength,
	"model_context_window_exceeded": llm.FinishLength,
	"tool_use":                      llm.FinishCalls,
	"refusal":                       llm.FinishFilter,
}

// read decodes an answer. Blocks of types that were never asked for, such as those of server tools, are only in Raw. Errors:
// provider_invalid_response.
func (p *Provider) read(a modelapi.Answer, sent payload) (llm.Response, error) {
	v, err := p.api.Parse(a)
	if err != nil {
		return llm.Response{}, err
	}
	content := v.Get("content")
	if content == nil || content.Kind != strictjson.Array {
		return llm.Response{}, p.api.Malformed("it has no list of content")
	}
	r := llm.Response{
		Model:  cmp.Or(modelapi.Text(v, "model"), p.api.Model),
		Finish: cmp.Or(finishes[modelapi.Text(v, "stop_reason")], llm.FinishUnknown),
		Usage:  readUsage(v.Get("usage")),
		Raw:    json.RawMessage(a.Body),
	}
	r.Message.Role = core.Assistant
	var blocks []core.Block
	for _, item := range content.Items {
		if modelapi.Text(item, "type") != "tool_use" {
			blocks = append(blocks, readBlock(item)...)
			continue
		}
		r.Message.ToolCalls = append(r.Message.ToolCalls, sent.readCall(item, a.Body))
	}
	r.Message.Content = contentOf(blocks)
	return p.api.Checked(r)
}

// readBlock gives the block of an item, none for an empty text or another type.
func readBlock(item *strictjson.Value) []core.Block {
	switch modelapi.Text(item, "type") {
	case "text":
		if s := modelapi.Text(item, "text"); s != "" {
			return []core.Block{{Type: core.TextBlock, Text: s}}
		}
	case "thinking":
		return []core.Block{{Type: core.ThinkingBlock, Text: modelapi.Text(item, "thinking"), Signature: modelapi.Text(item, "signature")}}
	case "redacted_thinking":
		if data := modelapi.Text(item, "data"); data != "" {
			return []core.Block{{Type: core.RedactedThinkingBlock, Data: data}}
		}
	}
	return nil
}

// readCall reads what there is of a call. Arguments that are no object are null.
func (p *payload) readCall(item *strictjson.Value, raw []byte) core.ToolCall {
	c := core.ToolCall{ID: modelapi.Text(item, "id"), Name: p.names.Ours(modelapi.Text(item, "name")), Arguments: json.RawMessage("null")}
	if input := item.Get("input"); input != nil && input.Kind == strictjson.Object {
		c.Arguments = p.arguments.convert(c.Name, input.Raw(raw), llm.Names.Ours)
	}
	return c
}

// contentOf gives a plain text if there is nothing but text: the API may cut one text into several blocks.
func contentOf(blocks []core.Block) core.Content {
	var plain strings.Builder
	for _, b := range blocks {
		if b.Type != core.TextBlock {
			return core.Blocks(blocks...)
		}
		plain.WriteString(b.Text)
	}
	return core.Text(plain.String())
}
