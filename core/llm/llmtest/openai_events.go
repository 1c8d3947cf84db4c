package llmtest

import "gatehouse/core/strictjson"

// events are chunks: a text and the arguments of calls come in pieces, then why the model stopped, then, if that was
// asked for, the usage.
func (s *OpenAI) events(c Received, answer *strictjson.Value) (all []Event) {
	if c.Path == responsesPath {
		return responsesEvents(answer)
	}
	chunk := func(choices []any, more map[string]any) {
		body := map[string]any{
			"id": text(answer, "id"), "object": "chat.completion.chunk", "created": 1700000000,
			"model": text(answer, "model"), "choices": choices,
		}
		for key, value := range more {
			body[key] = value
		}
		all = append(all, Event{Data: string(encode(body))})
	}
	delta := func(d map[string]any, finish any) {
		chunk([]any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}}, nil)
	}
	var finish any
	for _, choice := range items(answer, "choices") {
		message := choice.Get("message")
		delta(map[string]any{"role": "assistant", "content": nil}, nil)
		for _, m := range members(message) {
			switch {
			case m.Key == "role" || m.Key == "tool_calls" || m.Value.Kind == strictjson.Null:
			case m.Value.Kind == strictjson.String:
				for _, piece := range pieces(m.Value.String) {
					delta(map[string]any{m.Key: piece}, nil)
				}
			default:
				delta(map[string]any{m.Key: m.Value.Any()}, nil)
			}
		}
		for i, call := range items(message, "tool_calls") {
			s.callEvents(i, call, delta)
		}
		if reason := choice.Get("finish_reason"); reason != nil {
			finish = reason.Any()
		}
	}
	delta(map[string]any{}, finish)
	if request, err := strictjson.Parse(c.Body); err == nil && request.Get("stream_options") != nil &&
		answer.Get("usage") != nil {
		chunk([]any{}, map[string]any{"usage": answer.Get("usage").Any()})
	}
	return append(all, Event{Data: "[DONE]"})
}

func (s *OpenAI) callEvents(index int, call *strictjson.Value, delta func(map[string]any, any)) {
	part := map[string]any{"index": index}
	for _, m := range members(call) {
		if m.Key != "function" {
			part[m.Key] = m.Value.Any()
		}
	}
	function := map[string]any{}
	var arguments []string
	for _, m := range members(call.Get("function")) {
		if m.Key == "arguments" && m.Value.Kind == strictjson.String {
			arguments = pieces(m.Value.String)
			continue
		}
		function[m.Key] = m.Value.Any()
	}
	part["function"] = function
	delta(map[string]any{"tool_calls": []any{part}}, nil)
	for _, piece := range arguments {
		delta(
			map[string]any{"tool_calls": []any{map[string]any{
				"index": index, "function": map[string]any{"arguments": piece},
			}}}, nil)
	}
}

// pieces cuts a text into some pieces, between characters.
func pieces(s string) (all []string) {
	letters := []rune(s)
	for n := max(1, (len(letters)+2)/3); len(letters) > 0; letters = letters[min(n, len(letters)):] {
		all = append(all, string(letters[:min(n, len(letters))]))
	}
	return all
}

func text(v *strictjson.Value, key string) string {
	if member := v.Get(key); member != nil {
		return member.String
	}
	return ""
}

func items(v *strictjson.Value, key string) []*strictjson.Value {
	if v == nil || v.Get(key) == nil {
		return nil
	}
	return v.Get(key).Items
}

func members(v *strictjson.Value) []strictjson.Member {
	if v == nil {
		return nil
	}
	return v.Members
}
