package llmtest

import "gatehouse/core/strictjson"

// responsesEvents are those of the Responses API: each item when it begins, its text or arguments in pieces, the item
// when it is done, and at the end the whole answer.
func responsesEvents(answer *strictjson.Value) (all []Event) {
	add := func(kind string, more map[string]any) {
		more["type"], more["sequence_number"] = kind, len(all)
		all = append(all, Event{kind, string(encode(more))})
	}
	begun := copied(answer)
	begun["output"], begun["status"], begun["usage"] = []any{}, "in_progress", nil
	add("response.created", map[string]any{"response": begun})
	add("response.in_progress", map[string]any{"response": begun})
	for i, item := range items(answer, "output") {
		at := func(more map[string]any) map[string]any {
			more["output_index"], more["item_id"] = i, text(item, "id")
			return more
		}
		first := copied(item)
		switch text(item, "type") {
		case "message":
			first["content"], first["status"] = []any{}, "in_progress"
		case "function_call":
			first["arguments"], first["status"] = "", "in_progress"
		}
		add("response.output_item.added", map[string]any{"output_index": i, "item": first})
		for n, part := range items(item, "content") {
			part := copied(part)
			whole, _ := part["text"].(string)
			part["text"] = ""
			add("response.content_part.added", at(map[string]any{"content_index": n, "part": part}))
			for _, piece := range pieces(whole) {
				add("response.output_text.delta",
					at(map[string]any{"content_index": n, "delta": piece, "logprobs": []any{}}))
			}
			add("response.output_text.done", at(map[string]any{"content_index": n, "text": whole, "logprobs": []any{}}))
		}
		if text(item, "type") == "function_call" {
			for _, piece := range pieces(text(item, "arguments")) {
				add("response.function_call_arguments.delta", at(map[string]any{"delta": piece}))
			}
			add("response.function_call_arguments.done", at(map[string]any{"arguments": text(item, "arguments")}))
		}
		add("response.output_item.done", map[string]any{"output_index": i, "item": item.Any()})
	}
	last := "response.completed"
	if text(answer, "status") == "incomplete" {
		last = "response.incomplete"
	}
	add(last, map[string]any{"response": answer.Any()})
	return all
}

func copied(v *strictjson.Value) map[string]any {
	all := map[string]any{}
	for _, m := range members(v) {
		all[m.Key] = m.Value.Any()
	}
	return all
}
