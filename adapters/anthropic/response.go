package anthropic

import (
	"cmp"
	"encoding/json"

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

// read decodes an answer. Blocks of types that were never asked for, such as those of server tools, are only in Raw.
// Errors: provider_invalid_response.
func (p *Provider) read(a modelapi.Answer, sent payload) (llm.Response, error) {
	v, err := p.api.Parse(a)
	if err != nil {
		return llm.Response{}, err
	}
	content := v.Get("content")
	fault := v.Get("error")
	if fault == nil && modelapi.Text(v, "message") != "" {
		fault = v
	}
	if content == nil && fault != nil && (len(fault.Members) > 0 || fault.String != "") {
		a.Status = modelapi.StatusIn(fault)
		return llm.Response{}, p.refusal(p.api.Complaint(a), false)
	}
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
		switch kind := modelapi.Text(item, "type"); {
		case kind == "text" && !p.own():
			said := modelapi.Say(modelapi.Text(item, "text"), sent.names.Known)
			r.Typed = r.Typed || said.Typed
			blocks = append(blocks, saidBlocks(said)...)
			continue
		case kind != "tool_use":
			blocks = append(blocks, readBlock(item)...)
			continue
		}
		r.Message.ToolCalls = append(r.Message.ToolCalls, sent.readCall(item, a.Body))
	}
	r.Message.Content, r.Message.Kept = modelapi.Content(blocks), keep(content, a.Body)
	return p.api.Checked(r)
}

// own reports whether the service is Anthropic's; other servers of its API may leave thinking and calls in a text.
func (p *Provider) own() bool { return p.api.Place == "api.anthropic.com" }

func saidBlocks(said modelapi.Said) (blocks []core.Block) {
	if said.Thinking != "" {
		blocks = append(blocks, core.Block{Type: core.ThinkingBlock, Text: said.Thinking})
	}
	if said.Text != "" {
		blocks = append(blocks, core.Block{Type: core.TextBlock, Text: said.Text})
	}
	return blocks
}

// readBlock gives the block of an item, none for one with nothing in it or another type.
func readBlock(item *strictjson.Value) []core.Block {
	switch modelapi.Text(item, "type") {
	case "text":
		if s := modelapi.Text(item, "text"); s != "" {
			return []core.Block{{Type: core.TextBlock, Text: s}}
		}
	case "thinking":
		b := core.Block{
			Type: core.ThinkingBlock, Text: modelapi.Text(item, "thinking"),
			Signature: modelapi.Text(item, "signature"),
		}
		if b.Text != "" || b.Signature != "" {
			return []core.Block{b}
		}
	case "redacted_thinking":
		if data := modelapi.Text(item, "data"); data != "" {
			return []core.Block{{Type: core.RedactedThinkingBlock, Data: data}}
		}
	}
	return nil
}

// readCall reads what there is of a call. Arguments that are no object are null; none are an empty one.
func (p *payload) readCall(item *strictjson.Value, raw []byte) core.ToolCall {
	c := core.ToolCall{
		ID: modelapi.Text(item, "id"), Name: p.names.Ours(modelapi.Text(item, "name")),
		Arguments: json.RawMessage("null"),
	}
	input := item.Get("input")
	switch {
	case isObject(input):
		c.Arguments = p.arguments.convert(c.Name, input.Raw(raw), llm.Names.Ours)
	case isNone(input):
		c.Arguments = json.RawMessage("{}")
	}
	return c
}
