package anthropic

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// stream makes the answer of the events of a streamed one: message_start has the message without its content, the
// blocks of which come in pieces, and message_delta says why the model stopped and what it took. A ping is only a sign
// of life.
type stream struct {
	tokens  *llm.Tokens
	message object
	blocks  map[int64]*streamedBlock // by their index
	whole   bool
}

// streamedBlock is a block whose pieces have come so far.
type streamedBlock struct {
	block object
	input strings.Builder // the arguments of a call, a text in pieces
}

// Event takes an event. Those of other types are passed over: the API adds some now and then.
func (s *stream) Event(name string, v *strictjson.Value) error {
	switch cmp.Or(modelapi.Text(v, "type"), name) {
	case "error":
		body, _ := json.Marshal(v.Any()) // it was JSON
		return &modelapi.StreamError{Status: modelapi.StatusIn(v.Get("error")), Body: body}
	case "message_start":
		s.message, _ = anyOf(v.Get("message")).(object)
	case "content_block_start":
		if block, ok := anyOf(v.Get("content_block")).(object); ok {
			s.start(indexOf(v), block)
		}
	case "content_block_delta":
		s.add(indexOf(v), v.Get("delta"))
	case "message_delta":
		s.end(v)
	case "message_stop":
		s.whole = true
	}
	return nil
}

func (s *stream) start(index int64, block object) {
	if s.blocks == nil {
		s.blocks = map[int64]*streamedBlock{}
	}
	s.blocks[index] = &streamedBlock{block: block}
	if text, _ := block["text"].(string); block["type"] == "text" {
		s.tokens.Say(llm.TokenContent, text)
	}
}

// add adds a piece to a block.
func (s *stream) add(index int64, delta *strictjson.Value) {
	b := s.blocks[index]
	if b == nil || delta == nil {
		return
	}
	more := func(key string) string {
		text := modelapi.Text(delta, key)
		before, _ := b.block[key].(string)
		b.block[key] = before + text
		return text
	}
	switch modelapi.Text(delta, "type") {
	case "text_delta":
		s.tokens.Say(llm.TokenContent, more("text"))
	case "thinking_delta":
		s.tokens.Say(llm.TokenReasoning, more("thinking"))
	case "signature_delta":
		more("signature")
	case "input_json_delta":
		b.input.WriteString(modelapi.Text(delta, "partial_json"))
	}
}

// end takes what is known of the answer as a whole. Counters of message_delta are those of all of it.
func (s *stream) end(v *strictjson.Value) {
	if s.message == nil {
		s.message = object{}
	}
	if delta, ok := anyOf(v.Get("delta")).(object); ok {
		maps.Copy(s.message, delta)
	}
	usage, _ := s.message["usage"].(object)
	last, _ := anyOf(v.Get("usage")).(object)
	all := object{}
	maps.Copy(all, usage)
	maps.Copy(all, last)
	s.message["usage"] = all
}

// Body is the answer. It is whole once the API has said so; some servers end the stream after the reason why the model
// stopped.
func (s *stream) Body() ([]byte, bool) {
	message := maps.Clone(s.message)
	if message == nil {
		return nil, false
	}
	content := []any{}
	for _, index := range slices.Sorted(maps.Keys(s.blocks)) {
		b := s.blocks[index]
		if b.input.Len() > 0 {
			b.block["input"] = written(b.input.String())
		}
		content = append(content, b.block)
	}
	message["content"] = content
	body, err := json.Marshal(message)
	return body, err == nil && (s.whole || message["stop_reason"] != nil)
}

// written gives the arguments of a call as they were written; a text that is no JSON, which a model broke off, stays a
// text.
func written(input string) any {
	if json.Valid([]byte(input)) {
		return json.RawMessage(input)
	}
	return input
}

func indexOf(v *strictjson.Value) int64 {
	n := v.Get("index")
	if n == nil {
		return 0
	}
	index, _ := n.Number.Int64()
	return index
}

func anyOf(v *strictjson.Value) any {
	if v == nil {
		return nil
	}
	return v.Any()
}
