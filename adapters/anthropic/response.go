package anthropic

import (
	"cmp"
	"encoding/json"
	"strings"

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
func (p *Provider) read(raw []byte, names llm.Names) (llm.Response, error) {
	v, err := strictjson.Parse(raw, strictjson.Repeats, strictjson.Replace)
	if err != nil {
		return llm.Response{}, p.failed(core.ProviderInvalidResponse, err, "%s gave an answer that is not JSON.", p.place())
	}
	content := v.Get("content")
	if content == nil || content.Kind != strictjson.Array {
		return llm.Response{}, p.malformed("it has no list of content")
	}
	r := llm.Response{Finish: llm.FinishUnknown, Usage: readUsage(v.Get("usage")), Model: cmp.Or(text(v, "model"), p.model), Raw: raw}
	if f, known := finishes[text(v, "stop_reason")]; known {
		r.Finish = f
	}
	r.Message.Role = core.Assistant
	var blocks []core.Block
	for _, item := range content.Items {
		if text(item, "type") != "tool_use" {
			blocks = append(blocks, readBlock(item)...)
			continue
		}
		call, fault := readCall(item, raw, names)
		if fault != "" && r.Finish != llm.FinishUnknown {
			return llm.Response{}, p.malformed(fault)
		}
		r.Message.ToolCalls = append(r.Message.ToolCalls, call)
	}
	r.Message.Content = contentOf(blocks)
	if r.Message.Content.IsZero() && len(r.Message.ToolCalls) == 0 && (r.Finish == llm.FinishStop || r.Finish == llm.FinishCalls) {
		return llm.Response{}, p.malformed("there is nothing in it")
	}
	return r, nil
}

func (p *Provider) malformed(fault string) error {
	return p.failed(core.ProviderInvalidResponse, nil, "%s gave an answer that can't be used: %s.", p.place(), fault)
}

// readBlock gives the block of an item, none for an empty text or another type.
func readBlock(item *strictjson.Value) []core.Block {
	switch text(item, "type") {
	case "text":
		if s := text(item, "text"); s != "" {
			return []core.Block{{Type: core.TextBlock, Text: s}}
		}
	case "thinking":
		return []core.Block{{Type: core.ThinkingBlock, Text: text(item, "thinking"), Signature: text(item, "signature")}}
	case "redacted_thinking":
		if data := text(item, "data"); data != "" {
			return []core.Block{{Type: core.RedactedThinkingBlock, Data: data}}
		}
	}
	return nil
}

// readCall reads what there is of a call, and says what is wrong with it; "": nothing. Input that is no object is null.
func readCall(item *strictjson.Value, raw []byte, names llm.Names) (c core.ToolCall, fault string) {
	c = core.ToolCall{ID: text(item, "id"), Name: names.Ours(text(item, "name")), Arguments: json.RawMessage("null")}
	input := item.Get("input")
	if input != nil && input.Kind == strictjson.Object {
		c.Arguments = input.Raw(raw)
	}
	switch {
	case c.ID == "":
		return c, "the call of " + c.Name + " has no id"
	case c.Name == "":
		return c, "the call " + c.ID + " names no tool"
	case input == nil || input.Kind != strictjson.Object:
		return c, "the arguments of the call " + c.ID + " are not an object"
	}
	return c, ""
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

// text is the text of a member; "" if there is none.
func text(v *strictjson.Value, key string) string {
	if member := v.Get(key); member != nil {
		return member.String
	}
	return ""
}
