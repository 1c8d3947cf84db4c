package openai

import (
	"encoding/json"
	"strings"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// finishes are the finish reasons of the API; function_call is from before tools.
var finishes = map[string]llm.Finish{"stop": llm.FinishStop, "length": llm.FinishLength, "tool_calls": llm.FinishCalls,
	"function_call": llm.FinishCalls, "content_filter": llm.FinishFilter}

// read makes a Response of a successful answer.
func (p *Provider) read(a answer, names llm.Names) (llm.Response, error) {
	v, err := strictjson.Parse(a.body, strictjson.Repeats, strictjson.Replace)
	if err != nil {
		return llm.Response{}, p.failed(core.ProviderInvalidResponse, err, "%s gave an answer that is not JSON.", p.place())
	}
	choices := v.Get("choices")
	if fault := v.Get("error"); choices == nil && fault != nil && fault.Kind == strictjson.Object { // some gateways answer 200 with an error in it
		return llm.Response{}, p.refusal(answer{status: statusIn(fault), header: a.header, body: a.body}, false)
	}
	if choices == nil || choices.Kind != strictjson.Array || len(choices.Items) == 0 {
		return llm.Response{}, p.malformed("it has no choices")
	}
	message := choices.Items[0].Get("message")
	if message == nil || message.Kind != strictjson.Object {
		return llm.Response{}, p.malformed("its choice has no message")
	}
	r := llm.Response{Model: p.model, Finish: llm.FinishUnknown, Usage: usage(v.Get("usage")), Raw: json.RawMessage(a.body)}
	if model := v.Get("model"); model != nil && model.String != "" {
		r.Model = model.String
	}
	if reason := choices.Items[0].Get("finish_reason"); reason != nil && finishes[reason.String] != "" {
		r.Finish = finishes[reason.String]
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
			return m, p.malformed("its %s is %s", key, text.Kind)
		case m.Content.IsZero():
			m.Content = core.Text(text.String)
		}
	}
	calls := v.Get("tool_calls")
	if calls != nil && calls.Kind != strictjson.Null && calls.Kind != strictjson.Array {
		return m, p.malformed("its tool_calls are %s", calls.Kind)
	}
	if calls != nil {
		for _, item := range calls.Items {
			call, fault := readCall(item, names)
			if fault != "" && finish != llm.FinishUnknown {
				return m, p.malformed("the call %s", fault)
			}
			m.ToolCalls = append(m.ToolCalls, call)
		}
	}
	if m.Content.IsZero() && len(m.ToolCalls) == 0 && (finish == llm.FinishStop || finish == llm.FinishCalls) {
		return m, p.malformed("there is nothing in it")
	}
	return m, nil
}

// readCall reads what there is of a call, and says what is wrong with it; "": nothing.
func readCall(v *strictjson.Value, names llm.Names) (c core.ToolCall, fault string) {
	text := func(from *strictjson.Value, key string) string {
		if s := from.Get(key); s != nil {
			return s.String
		}
		return ""
	}
	function := v.Get("function")
	c.ID, c.Name = text(v, "id"), names.Ours(text(function, "name"))
	c.Arguments = json.RawMessage("null")
	written := function.Get("arguments")
	blank := written != nil && written.Kind == strictjson.String && strings.TrimSpace(written.String) == ""
	if written != nil && !blank {
		if args, err := strictjson.Parse([]byte(written.String)); err == nil && args.Kind == strictjson.Object {
			c.Arguments = json.RawMessage(strings.TrimSpace(written.String))
			blank = true
		}
	} else if blank && c.ID != "" && c.Name != "" {
		c.Arguments = json.RawMessage("{}") // some servers write no arguments so
	}
	switch {
	case c.ID == "":
		return c, "of " + c.Name + " has no id"
	case c.Name == "":
		return c, c.ID + " names no tool"
	case !blank:
		return c, c.ID + " has arguments that are not the text of a JSON object"
	}
	return c, ""
}

// usage reads the counters. What is not a whole number, zero or more, is not reported.
func usage(v *strictjson.Value) llm.Usage {
	counter := func(key string) *int64 {
		c := v.Get(key)
		if c == nil || c.Kind != strictjson.Number {
			return nil
		}
		n, err := c.Number.Int64()
		if err != nil || n < 0 {
			return nil
		}
		return &n
	}
	return llm.Usage{Prompt: counter("prompt_tokens"), Completion: counter("completion_tokens"), Total: counter("total_tokens")}
}

func (p *Provider) malformed(format string, args ...any) error {
	return p.failed(core.ProviderInvalidResponse, nil, "%s gave an answer that can't be used: "+format+".", append([]any{p.place()}, args...)...)
}
