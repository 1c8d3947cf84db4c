package llmtest

import "gatehouse/core/strictjson"

// events are those of the Messages API: the message without its content, each block in pieces, why the model stopped,
// with the usage, and the end.
func (s *Anthropic) events(_ Received, answer *strictjson.Value) (all []Event) {
	add := func(kind string, more map[string]any) {
		more["type"] = kind
		all = append(all, Event{kind, string(encode(more))})
	}
	message := map[string]any{}
	for _, m := range members(answer) {
		message[m.Key] = m.Value.Any()
	}
	message["content"], message["stop_reason"], message["usage"] = []any{}, nil,
		map[string]any{"input_tokens": 10, "output_tokens": 1}
	add("message_start", map[string]any{"message": message})
	add("ping", map[string]any{})
	for i, block := range items(answer, "content") {
		s.blockEvents(i, block, add)
	}
	end := map[string]any{"delta": map[string]any{"stop_reason": anyOf(answer, "stop_reason"), "stop_sequence": nil}}
	if usage := anyOf(answer, "usage"); usage != nil {
		end["usage"] = usage
	}
	add("message_delta", end)
	add("message_stop", map[string]any{})
	return all
}

// inPieces are the fields of a block that come in pieces, and the kind and the field of such a piece.
var inPieces = map[string][2]string{
	"text": {"text_delta", "text"}, "thinking": {"thinking_delta", "thinking"},
	"signature": {"signature_delta", "signature"},
}

func (s *Anthropic) blockEvents(index int, block *strictjson.Value, add func(string, map[string]any)) {
	start := map[string]any{}
	var deltas []map[string]any
	for _, m := range members(block) {
		piece, cut := inPieces[m.Key]
		switch {
		case cut && m.Value.Kind == strictjson.String:
			start[m.Key] = ""
			for _, part := range pieces(m.Value.String) {
				deltas = append(deltas, map[string]any{"type": piece[0], piece[1]: part})
			}
		case m.Key == "input":
			start[m.Key] = map[string]any{}
			for _, part := range pieces(string(encode(m.Value.Any()))) {
				deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": part})
			}
		default:
			start[m.Key] = m.Value.Any()
		}
	}
	add("content_block_start", map[string]any{"index": index, "content_block": start})
	for _, delta := range deltas {
		add("content_block_delta", map[string]any{"index": index, "delta": delta})
	}
	add("content_block_stop", map[string]any{"index": index})
}

func anyOf(v *strictjson.Value, key string) any {
	if member := v.Get(key); member != nil {
		return member.Any()
	}
	return nil
}
