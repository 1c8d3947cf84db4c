package openai

import (
	"cmp"
	"encoding/json"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// incomplete are the reasons why an answer of the Responses API is not whole.
var incomplete = map[string]llm.Finish{"max_output_tokens": llm.FinishLength, "content_filter": llm.FinishFilter}

// readResponses makes a Response of a successful answer of the Responses API.
func (p *Provider) readResponses(a modelapi.Answer, names llm.Names) (llm.Response, error) {
	v, err := p.api.Parse(a)
	if err != nil {
		return llm.Response{}, err
	}
	output := v.Get("output")
	if fault := v.Get("error"); fault != nil && fault.Kind != strictjson.Null || output == nil ||
		output.Kind != strictjson.Array {
		if fault == nil || fault.Kind == strictjson.Null {
			return llm.Response{}, p.api.Malformed("it has no output")
		}
		a.Status = modelapi.StatusIn(fault)
		return llm.Response{}, p.refusal(p.api.Complaint(a), false)
	}
	usage := v.Get("usage")
	r := llm.Response{
		Model: cmp.Or(modelapi.Text(v, "model"), p.api.Model),
		Usage: llm.Usage{
			Prompt:     modelapi.Counter(usage, "input_tokens"),
			Completion: modelapi.Counter(usage, "output_tokens"),
			Total:      modelapi.Counter(usage, "total_tokens"),
			Cached:     modelapi.Counter(usage.Get("input_tokens_details"), "cached_tokens"),
		},
		Raw: json.RawMessage(a.Body),
	}
	r.Message = readItems(output, names, a.Body)
	switch reason := modelapi.Text(v.Get("incomplete_details"), "reason"); {
	case reason != "" || modelapi.Text(v, "status") == "incomplete":
		r.Finish = cmp.Or(incomplete[reason], llm.FinishUnknown)
	case len(r.Message.ToolCalls) > 0:
		r.Finish = llm.FinishCalls
	default:
		r.Finish = llm.FinishStop
	}
	return p.api.Checked(r)
}

// readItems makes a message of the items of an answer. All of them are kept, since the model wants them back as they
// came; what of reasoning can be read is thinking.
func readItems(output *strictjson.Value, names llm.Names, raw []byte) core.Message {
	m := core.Message{Role: core.Assistant}
	var blocks []core.Block
	add := func(kind core.BlockType, text string) {
		if text != "" {
			blocks = append(blocks, core.Block{Type: kind, Text: text})
		}
	}
	for _, item := range output.Items {
		switch modelapi.Text(item, "type") {
		case "reasoning":
			for _, part := range itemsOf(item, "summary") {
				add(core.ThinkingBlock, modelapi.Text(part, "text"))
			}
		case "message":
			for _, part := range itemsOf(item, "content") {
				add(core.TextBlock, modelapi.Text(part, "text"))
				add(core.TextBlock, modelapi.Text(part, "refusal"))
			}
		case "function_call":
			m.ToolCalls = append(m.ToolCalls, readResponsesCall(item, names))
		}
	}
	m.Content = modelapi.Content(blocks)
	if len(output.Items) > 0 {
		m.Kept = &core.Kept{Data: output.Raw(raw)}
	}
	return m
}

func readResponsesCall(item *strictjson.Value, names llm.Names) core.ToolCall {
	text := cmp.Or(modelapi.Text(item, "arguments"), "{}")
	return core.ToolCall{
		ID:   cmp.Or(modelapi.Text(item, "call_id"), modelapi.Text(item, "id")),
		Name: names.Ours(modelapi.Text(item, "name")), Arguments: modelapi.ReadArguments(text),
	}
}

func itemsOf(v *strictjson.Value, key string) []*strictjson.Value {
	if member := v.Get(key); member != nil {
		return member.Items
	}
	return nil
}

// responseEvents make the answer of a stream of the Responses API: its last event has all of it. The items of the
// output are those of the events that said each was done, which the vendor names as the ones to send back.
type responseEvents struct {
	tokens llm.Tokens
	last   *strictjson.Value
	items  []any
}

// Event takes an event. Those of other types are passed over.
func (e *responseEvents) Event(name string, v *strictjson.Value) error {
	switch cmp.Or(modelapi.Text(v, "type"), name) {
	case "response.output_text.delta", "response.refusal.delta":
		e.tokens.Say(llm.TokenContent, modelapi.Text(v, "delta"))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		e.tokens.Say(llm.TokenReasoning, modelapi.Text(v, "delta"))
	case "response.output_item.done":
		if item := v.Get("item"); item != nil {
			e.items = append(e.items, item.Any())
		}
	case "response.completed", "response.incomplete", "response.failed":
		e.last = v.Get("response")
	case "error":
		fault := v.Get("error")
		if fault == nil {
			fault = v
		}
		return streamError(fault)
	}
	return nil
}

// Body is the answer. It is whole once the last event has come.
func (e *responseEvents) Body() ([]byte, bool) {
	if e.last == nil {
		return nil, false
	}
	answer, ok := e.last.Any().(object)
	if !ok {
		return nil, false
	}
	if output, _ := answer["output"].([]any); len(e.items) >= len(output) && e.items != nil {
		answer["output"] = e.items
	}
	body, err := json.Marshal(answer)
	return body, err == nil
}
