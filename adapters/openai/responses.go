package openai

import (
	"encoding/json"
	"slices"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// responsesBody gives the bytes of a call of the Responses API. The service stores nothing: the whole conversation goes
// each time, with the reasoning that came with it, encrypted.
func (p *Provider) responsesBody(r llm.Request, names llm.Names) ([]byte, error) {
	root := object{"model": p.api.Model, "store": false, "include": []string{"reasoning.encrypted_content"}}
	input := []any{}
	for _, m := range r.Messages {
		input = append(input, inputOf(m, names)...)
	}
	root["input"] = input
	if err := tools(root, r, names, flat); err != nil {
		return nil, err
	}
	set(root, "temperature", r.Config.Temperature)
	set(root, "top_p", r.Config.TopP)
	set(root, "max_output_tokens", r.Config.MaxTokens)
	if r.Stream {
		root["stream"] = true
	}
	if r.Cache != "" {
		root["prompt_cache_key"] = r.Cache
	}
	return modelapi.Encode(root, asResponses(r.Config.Extra), llm.TextList{})
}

// asResponses are extra settings of chat completions under the names that they have here.
func asResponses(extra map[string]json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for key, value := range extra {
		switch key {
		case "reasoning_effort":
			out["reasoning"] = json.RawMessage(`{"effort":` + string(value) + `}`)
		case "max_tokens", "max_completion_tokens":
			out["max_output_tokens"] = value
		case "stream_options": // the usage comes without asking
		default:
			out[key] = value
		}
	}
	return out
}

// inputOf is a message as items of the input.
func inputOf(m core.Message, names llm.Names) []any {
	switch {
	case m.Role == core.ToolRole:
		return []any{object{"type": "function_call_output", "call_id": m.ToolCallID, "output": m.Content.String()}}
	case m.Role == core.User && m.Content.IsList():
		return []any{object{"role": "user", "content": inputParts(m.Content.Blocks())}}
	case m.Role != core.Assistant:
		return []any{object{"role": string(m.Role), "content": m.Content.String()}}
	}
	if kept := keptItems(m, names); kept != nil {
		return kept
	}
	var all []any
	if text := m.Content.String(); text != "" {
		all = append(all, object{"role": "assistant", "content": text})
	}
	for _, c := range m.ToolCalls {
		all = append(all,
			object{
				"type": "function_call", "call_id": c.ID, "name": names.Wire(c.Name),
				"arguments": string(modelapi.Arguments(c)),
			})
	}
	return all
}

func inputParts(blocks []core.Block) []any {
	all := []any{}
	for _, b := range blocks {
		if b.Type == core.TextBlock {
			all = append(all, object{"type": "input_text", "text": b.Text})
			continue
		}
		all = append(all, object{"type": "input_image", "image_url": imageURL(b), "detail": detailOf(b)})
	}
	return all
}

func detailOf(b core.Block) string {
	if b.Detail == "" {
		return "auto"
	}
	return b.Detail
}

// keptItems are the items that the model answered with, as they came: reasoning before the call that followed from it,
// and the phase of each message. The ids and names of the calls are those that this request has for them. nil: they
// were not kept, or are another message's.
func keptItems(m core.Message, names llm.Names) []any {
	if m.Kept == nil {
		return nil
	}
	v, err := strictjson.Parse(m.Kept.Data, strictjson.Repeats)
	if err != nil || v.Kind != strictjson.Array {
		return nil
	}
	var all []any
	calls := m.ToolCalls
	for _, item := range v.Items {
		raw := item.Any()
		if modelapi.Text(item, "type") == "function_call" {
			if len(calls) == 0 {
				return nil
			}
			call := raw.(object)
			call["call_id"], call["name"] = calls[0].ID, names.Wire(calls[0].Name)
			calls = calls[1:]
		}
		all = append(all, raw)
	}
	if len(calls) > 0 {
		return nil
	}
	return all
}

// flat is a function as a tool of the Responses API, and as the choice of one.
func flat(function object) object {
	function["type"] = "function"
	if schema, isTool := function["parameters"].(object); isTool {
		function["strict"] = isStrict(schema)
	}
	return function
}

// isStrict reports whether a schema can be enforced: each object in it is closed, and all of its properties are
// required. What is not said is strict "where possible", by rules of the service's own, so it is said each time.
func isStrict(schema object) bool {
	text, err := json.Marshal(schema)
	if err != nil {
		return false
	}
	v, err := strictjson.Parse(text, strictjson.Repeats)
	return err == nil && closed(v)
}

// inStrict are the words that a strict schema may have.
var inStrict = []string{
	"type", "properties", "required", "additionalProperties", "description", "title", "enum", "const", "items", "anyOf",
}

func closed(v *strictjson.Value) bool {
	for _, m := range v.Members {
		if !slices.Contains(inStrict, m.Key) {
			return false
		}
	}
	if v.Kind != strictjson.Object {
		return false
	}
	if items := v.Get("items"); items != nil && !closed(items) {
		return false
	}
	if any := v.Get("anyOf"); any != nil && slices.ContainsFunc(any.Items, func(one *strictjson.Value) bool {
		return !closed(one)
	}) {
		return false
	}
	properties := v.Get("properties")
	if properties == nil {
		return modelapi.Text(v, "type") != "object"
	}
	var required []string
	if list := v.Get("required"); list != nil {
		for _, name := range list.Items {
			required = append(required, name.String)
		}
	}
	for _, m := range properties.Members {
		if !slices.Contains(required, m.Key) || !closed(m.Value) {
			return false
		}
	}
	additional := v.Get("additionalProperties")
	return additional != nil && additional.Kind == strictjson.Bool && !additional.Bool
}
