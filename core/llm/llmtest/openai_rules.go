package llmtest

import (
	"slices"
	"strings"

	"gatehouse/core/strictjson"
)

// checkChat checks what models and servers of chat completions refuse beyond the API.
func (s *OpenAI) checkChat(c *checker, model string, body *strictjson.Value) {
	version := gptVersion(model)
	effort, set := text(body, "reasoning_effort"), body.Get("reasoning_effort") != nil
	needs := version >= 5.4 && set && effort != "none" || version >= 5.6 && !set || version >= 6
	switch {
	case needs && body.Get("tools") != nil:
		c.fault("", "Function tools with reasoning_effort are not supported for %s in /v1/chat/completions. Please "+
			"use /v1/responses instead.", model)
	case version >= 5 && body.Get("max_tokens") != nil:
		c.fault("", "Unsupported parameter: 'max_tokens' is not supported with this model. Use "+
			"'max_completion_tokens' instead.")
	case version >= 5 && body.Get("stop") != nil:
		c.fault("", "Unsupported parameter: 'stop' is not supported with this model.")
	case version >= 5 && body.Get("temperature") != nil && body.Get("temperature").Number.String() != "1":
		c.fault("", "Unsupported value: 'temperature' does not support this value with this model. Only the default "+
			"(1) value is supported.")
	case s.Strict && body.Get("stream_options") != nil:
		c.fault("stream_options", "Extra inputs are not permitted")
	}
	all := items(body, "messages")
	for i, m := range all {
		s.checkArguments(c, at("messages", i), m)
		if !s.DeepSeek && m.Get("reasoning_content") != nil {
			c.fault(at("messages", i), "unknown field %q", "reasoning_content")
		}
		if call := slices.IndexFunc(items(m, "tool_calls"), func(v *strictjson.Value) bool {
			return v.Get("extra_content") != nil
		}); call >= 0 && !s.Gemini {
			c.fault(at("messages", i), "unknown field %q", "extra_content")
		}
	}
	if s.Gemini {
		s.checkSignatures(c, all)
	}
	if s.DeepSeek {
		s.checkThoughts(c, strings.Contains(model, "reasoner"), all)
	}
}

// checkArguments requires that arguments are the text of an object, or what the model itself wrote.
func (s *OpenAI) checkArguments(c *checker, path string, m *strictjson.Value) {
	for i, call := range items(m, "tool_calls") {
		written := text(call.Get("function"), "arguments")
		v, err := strictjson.Parse([]byte(written))
		if known, ours := s.issued.calls[text(call, "id")]; (err != nil || v.Kind != strictjson.Object) &&
			(!ours || known.arguments != written) {
			c.fault(at(path+".tool_calls", i)+".function.arguments", "must be the text of a JSON object")
		}
	}
}

// checkSignatures requires the signature of the first of the calls of a message where it was, and none on its siblings.
func (s *OpenAI) checkSignatures(c *checker, all []*strictjson.Value) {
	for i, m := range all {
		for n, call := range items(m, "tool_calls") {
			path := at(at("messages", i)+".tool_calls", n)
			known, ours := s.issued.calls[text(call, "id")]
			extra := call.Get("extra_content")
			got := ""
			if extra != nil && extra.Get("google") != nil {
				got = text(extra.Get("google"), "thought_signature")
			}
			switch {
			case !known.signed && n == 0 && got == "skip_thought_signature_validator":
			case ours && n > 0 && known.signature != "":
				c.fault(path, "this call was the first of its message")
			case ours && got != known.signature, !ours && n == 0 && got == "", !ours && n > 0 && got != "":
				c.fault(path, "Function call is missing a thought_signature in functionCall parts, or has one that "+
					"is not its own: %q, and not %q", known.signature, got)
			}
		}
	}
}

// checkThoughts requires the reasoning of each message of a turn with tools; R1 refuses any.
func (s *OpenAI) checkThoughts(c *checker, r1 bool, all []*strictjson.Value) {
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && text(all[end], "role") != "user" {
			end++
		}
		tools := slices.ContainsFunc(all[i:end], func(m *strictjson.Value) bool { return m.Get("tool_calls") != nil })
		for n, m := range all[i:end] {
			if text(m, "role") != "assistant" {
				continue
			}
			message, _ := m.Any().(map[string]any)
			got := text(m, "reasoning_content")
			want := s.issued.thoughts[keysOf(message)[0]]
			switch {
			case r1 && m.Get("reasoning_content") != nil:
				c.fault(at("messages", i+n), "reasoning_content must not be passed to this model")
			case !r1 && tools && got != want:
				c.fault(at("messages", i+n),
					"The reasoning_content in the thinking mode must be passed back to the API: %q, and not %q.", want,
					got)
			}
		}
		i = end
	}
}
