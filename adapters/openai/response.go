package openai

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// finishes are the finish reasons of the API; function_call is from before tools.
var finishes = map[string]llm.Finish{"stop": llm.FinishStop, "length": llm.FinishLength, "tool_calls": llm.FinishCalls,
	"function_call": llm.FinishCalls, "content_filter": llm.FinishFilter}

// read makes a Response of a successful answer.
func (p *Provider) read(a modelapi.Answer, names llm.Names) (llm.Response, error) {
	v, err := p.api.Parse(a)
	if err != nil {
		return llm.Response{}, err
	}
	choices := v.Get("choices")
	if fault := v.Get("error"); choices == nil && fault != nil && fault.Kind == strictjson.Object { // some gateways answer 200 with an error in it
		a.Status = statusIn(fault)
		return llm.Response{}, p.refusal(p.api.Complaint(a), false)
	}
	if choices == nil || choices.Kind != strictjson.Array || len(choices.Items) == 0 {
		return llm.Response{}, p.api.Malformed("it has no choices")
	}
	message := choices.Items[0].Get("message")
	if message == nil || message.Kind != strictjson.Object {
		return llm.Response{}, p.api.Malformed("its choice has no message")
	}
	r := llm.Response{
		Model:  cmp.Or(modelapi.Text(v, "model"), p.api.Model),
		Finish: cmp.Or(finishes[modelapi.Text(choices.Items[0], "finish_reason")], llm.FinishUnknown),
		Usage:  readUsage(v.Get("usage")),
		Raw:    json.RawMessage(a.Body),
	}
	if r.Message, err = p.readMessage(message, names, a.Body); err != nil {
		return r, err
	}
	return p.api.Checked(r)
}

func (p *Provider) readMessage(v *strictjson.Value, names llm.Names, raw []byte) (core.Message, error) {
	m := core.Message{Role: core.Assistant}
	for _, key := range []string{"content", "refusal"} { // a model that refuses says so in place of its content
		text, ok := readText(v.Get(key))
		if !ok {
			return m, p.api.Malformed("its %s is %s", key, v.Get(key).Kind)
		}
		if m.Content.IsZero() {
			m.Content = core.Text(text)
		}
	}
	calls := v.Get("tool_calls")
	if calls == nil || calls.Kind == strictjson.Null {
		return m, nil
	}
	if calls.Kind != strictjson.Array {
		return m, p.api.Malformed("its tool_calls are %s", calls.Kind)
	}
	for i, item := range calls.Items {
		call := readCall(item, names, raw)
		if call.ID == "" { // some servers give none; the view of a conversation tells equal ones apart
			call.ID = "call_" + strconv.Itoa(i+1)
		}
		m.ToolCalls = append(m.ToolCalls, call)
	}
	return m, nil
}

// readText reads a text. Some servers give the parts of one.
func readText(v *strictjson.Value) (text string, ok bool) {
	if v == nil || v.Kind == strictjson.Null {
		return "", true
	}
	for _, part := range v.Items {
		if modelapi.Text(part, "type") == "text" {
			text += modelapi.Text(part, "text")
		}
	}
	return text + v.String, v.Kind == strictjson.String || v.Kind == strictjson.Array
}

// readCall reads what there is of a call. Arguments that are not the text of an object are null. Some servers write an object itself, and where
// there are no arguments an empty text or nothing.
func readCall(v *strictjson.Value, names llm.Names, raw []byte) core.ToolCall {
	function := v.Get("function")
	c := core.ToolCall{ID: modelapi.Text(v, "id"), Name: names.Ours(modelapi.Text(function, "name")), Arguments: json.RawMessage("null")}
	written, text := function.Get("arguments"), "{}"
	switch {
	case written == nil || written.Kind == strictjson.Null:
	case written.Kind == strictjson.String:
		text = cmp.Or(strings.TrimSpace(written.String), "{}")
	default:
		text = string(written.Raw(raw))
	}
	if args, err := strictjson.Parse([]byte(text)); err == nil && args.Kind == strictjson.Object {
		c.Arguments = json.RawMessage(text)
	}
	return c
}

func readUsage(v *strictjson.Value) llm.Usage {
	return llm.Usage{Prompt: modelapi.Counter(v, "prompt_tokens"), Completion: modelapi.Counter(v, "completion_tokens"), Total: modelapi.Counter(v, "total_tokens")}
}
