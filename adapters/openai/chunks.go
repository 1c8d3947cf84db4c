package openai

import (
	"encoding/json"
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// chunks make the answer of a stream of chat.completion.chunk objects (llm-provider §8.1.6).
type chunks struct {
	tokens  llm.Tokens
	root    object // of the answer, all but its choice
	message object
	calls   []*streamedCall
	finish  any
}

// streamedCall is a call whose parts have come so far.
type streamedCall struct {
	index string // as the server numbers it; "": it does not
	call  object
}

func newChunks(hear func(llm.Token)) *chunks {
	return &chunks{
		tokens: llm.Tokens{Hear: hear}, root: object{"object": "chat.completion"}, message: object{"role": "assistant"},
	}
}

// Event takes a chunk.
func (c *chunks) Event(_ string, v *strictjson.Value) error {
	v = modelapi.Unlisted(v)
	if fault := v.Get("error"); filled(fault) {
		return streamError(fault)
	}
	if fault := faultIn(v, itemsOf(v, "choices")); fault != nil && c.message["content"] == nil {
		return streamError(fault)
	}
	for _, m := range v.Members {
		if m.Key != "object" && m.Key != "choices" && m.Value.Kind != strictjson.Null {
			c.root[m.Key] = m.Value.Any()
		}
	}
	choices := v.Get("choices")
	if choices == nil || len(choices.Items) == 0 {
		return nil
	}
	choice := choices.Items[0]
	if reason := choice.Get("finish_reason"); reason != nil && reason.Kind != strictjson.Null {
		c.finish = reason.Any()
	}
	delta := choice.Get("delta")
	if delta == nil { // a server that sends a whole answer as one chunk
		delta = choice.Get("message")
	}
	if delta != nil {
		c.delta(delta)
	}
	return nil
}

// delta adds to the message.
func (c *chunks) delta(delta *strictjson.Value) {
	for _, m := range delta.Members {
		switch text := m.Value.String; {
		case m.Key == "tool_calls":
			for _, part := range m.Value.Items {
				extend(c.callOf(part), part)
			}
		case m.Value.Kind == strictjson.Null || m.Key == "role":
		case m.Value.Kind == strictjson.String, m.Key == "content" && m.Value.Kind == strictjson.Array:
			if m.Key == "content" { // Mistral sends a part of it as a text, and another one as a list
				text, _ = readText(m.Value)
			}
			before, _ := c.message[m.Key].(string)
			c.message[m.Key] = before + text
			switch m.Key {
			case "content":
				c.tokens.Say(llm.TokenContent, text)
			case "reasoning_content", "reasoning":
				c.tokens.Say(llm.TokenReasoning, text)
			}
		case m.Value.Kind == strictjson.Array:
			before, _ := c.message[m.Key].([]any)
			c.message[m.Key] = append(before, m.Value.Any().([]any)...)
		default:
			c.message[m.Key] = m.Value.Any()
		}
	}
}

// callOf is the call that a part belongs to: the one of its index or, from servers that give none or always the same
// one, the one of its id. A part that names no tool goes on with the call before, although some servers give each part
// an id of its own. One that names a tool begins another call if there are no ids to compare and the call before is
// whole.
func (c *chunks) callOf(part *strictjson.Value) object {
	index, id := "", modelapi.Text(part, "id")
	if n := part.Get("index"); n != nil {
		index = n.Number.String()
	}
	for i := len(c.calls) - 1; i >= 0; i-- {
		known := c.calls[i]
		was, _ := known.call["id"].(string)
		same := id == was && id != ""
		more := modelapi.Text(part.Get("function"), "name") == "" || (id == "" || was == "") && !known.whole()
		if known.index == index && (same || more) {
			return known.call
		}
	}
	added := &streamedCall{index, object{"type": "function"}}
	c.calls = append(c.calls, added)
	return added.call
}

// whole reports whether the arguments of the call have come.
func (c *streamedCall) whole() bool {
	function, _ := c.call["function"].(object)
	text, _ := function["arguments"].(string)
	return json.Valid([]byte(text))
}

// extend adds a part to a call: its arguments are a text in pieces, all else comes at once.
func extend(call object, part *strictjson.Value) {
	for _, m := range part.Members {
		switch {
		case m.Key == "index" || m.Value.Kind == strictjson.Null:
		case m.Value.Kind == strictjson.Object && m.Key == "function":
			function, _ := call["function"].(object)
			if function == nil {
				function = object{}
				call["function"] = function
			}
			extend(function, m.Value)
		case m.Key == "arguments" && m.Value.Kind == strictjson.String:
			before, _ := call["arguments"].(string)
			call["arguments"] = before + m.Value.String
		case m.Value.Kind != strictjson.String || strings.TrimSpace(m.Value.String) != "":
			call[m.Key] = m.Value.Any()
		}
	}
}

// Body is the answer. It is whole once the model has said why it stopped.
func (c *chunks) Body() ([]byte, bool) {
	if _, said := c.message["content"]; !said {
		c.message["content"] = nil
	}
	var calls []any
	for _, known := range c.calls {
		calls = append(calls, known.call)
	}
	if calls != nil {
		c.message["tool_calls"] = calls
	}
	c.root["choices"] = []any{object{"index": 0, "message": c.message, "finish_reason": c.finish}}
	body, err := json.Marshal(c.root)
	return body, err == nil && c.finish != nil
}
