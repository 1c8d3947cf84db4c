package openai

import (
	"cmp"
	"encoding/json"
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
	r.Message, err = p.readMessage(message, r.Finish, names)
	return r, err
}

func (p *Provider) readMessage(v *strictjson.Value, finish llm.Finish, names llm.Names) (core.Message, error) {
	m := core.Message{Role: core.Assistant}
	for _, key := range []string{"content", "refusal"} { // a model that refuses says so in place of its content
		switch text := v.Get(key); {
		case text == nil || text.Kind == strictjson.Null:
		case text.Kind != strictjson.String:
			return m, p.api.Malformed("its %s is %s", key, text.Kind)
		case m.Content.IsZero():
			m.Content = core.Text(text.String)
		}
	}
	calls := v.Get("tool_calls")
	if calls != nil && calls.Kind != strictjson.Null && calls.Kind != strictjson.Array {
		return m, p.api.Malformed("its tool_calls are %s", calls.Kind)
	}
	if calls != nil {
		for _, item := range calls.Items {
			call, object := readCall(item, names)
			if err := p.api.CheckCall(call, finish, object); err != nil {
				return m, err
			}
			m.ToolCalls = append(m.ToolCalls, call)
		}
	}
	return m, p.api.CheckMessage(m, finish)
}

// readCall reads what there is of a call, and whether its arguments are the text of an object; if not, they are null. Some servers write
// an empty text where there are none.
func readCall(v *strictjson.Value, names llm.Names) (c core.ToolCall, object bool) {
	function := v.Get("function")
	c = core.ToolCall{ID: modelapi.Text(v, "id"), Name: names.Ours(modelapi.Text(function, "name")), Arguments: json.RawMessage("null")}
	written := function.Get("arguments")
	if written == nil || written.Kind != strictjson.String {
		return c, false
	}
	text := cmp.Or(strings.TrimSpace(written.String), "{}")
	if args, err := strictjson.Parse([]byte(text)); err != nil || args.Kind != strictjson.Object {
		return c, false
	}
	c.Arguments = json.RawMessage(text)
	return c, true
}

func readUsage(v *strictjson.Value) llm.Usage {
	return llm.Usage{Prompt: modelapi.Counter(v, "prompt_tokens"), Completion: modelapi.Counter(v, "completion_tokens"), Total: modelapi.Counter(v, "total_tokens")}
}
