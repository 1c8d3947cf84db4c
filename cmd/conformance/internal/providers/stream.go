package providers

import (
	"context"
	"encoding/json"
	"maps"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

// unstreamed is a mapping that does not implement streaming (llm-provider §5): no vendor of ours is one.
type unstreamed struct{ llm.Provider }

// Complete refuses a stream before anything is sent.
func (u unstreamed) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	if r.Stream {
		return llm.Response{},
			core.Errorf(core.ProviderInvalidRequest, "The mapping %s does not support streaming.", stub)
	}
	return u.Provider.Complete(ctx, r)
}

// chunksOf reads the events of a streamed response, and gives them and what they carry.
func chunksOf(d *fixture.Node) (events []llmtest.Event, chunks []map[string]any) {
	for _, item := range d.Items() {
		if !item.IsMapping() {
			events = append(events, llmtest.Event{Data: item.Text()})
			continue
		}
		event := llmtest.Event{Name: item.Peek("type").Name(), Data: string(ordered(item))}
		events = append(events, event)
		chunk, _ := fixture.Plain(json.RawMessage(event.Data)).(map[string]any)
		chunks = append(chunks, chunk)
	}
	return events, chunks
}

// whole is the answer that a server would give at once in place of a stream: what it is compared with is made here, and
// not by the adapter.
func whole(chunks []map[string]any) map[string]any {
	answer := map[string]any{"object": "chat.completion"}
	message := map[string]any{"role": "assistant", "content": nil}
	var finish any
	calls := map[float64]map[string]any{}
	var order []float64
	for _, chunk := range chunks {
		for _, key := range []string{"id", "model", "created", "usage"} {
			if chunk[key] != nil {
				answer[key] = chunk[key]
			}
		}
		choice := first(chunk["choices"])
		if choice["finish_reason"] != nil {
			finish = choice["finish_reason"]
		}
		delta, _ := choice["delta"].(map[string]any)
		for _, key := range []string{"content", "reasoning_content", "reasoning"} {
			if piece, isText := delta[key].(string); isText {
				before, _ := message[key].(string)
				message[key] = before + piece
			}
		}
		list, _ := delta["tool_calls"].([]any)
		for _, item := range list {
			part, _ := item.(map[string]any)
			index, _ := part["index"].(float64)
			if calls[index] == nil {
				calls[index] = map[string]any{"type": "function", "name": "", "arguments": ""}
				order = append(order, index)
			}
			function, _ := part["function"].(map[string]any)
			if part["id"] != nil {
				calls[index]["id"] = part["id"]
			}
			for _, key := range []string{"name", "arguments"} {
				piece, _ := function[key].(string)
				calls[index][key] = calls[index][key].(string) + piece
			}
		}
	}
	var all []any
	for _, index := range order {
		c := calls[index]
		all = append(all,
			map[string]any{
				"id": c["id"], "type": "function",
				"function": map[string]any{"name": c["name"], "arguments": c["arguments"]},
			})
	}
	if all != nil {
		message["tool_calls"] = all
	}
	answer["choices"] = []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}
	return answer
}

func first(v any) map[string]any {
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil
	}
	one, _ := list[0].(map[string]any)
	return maps.Clone(one)
}

// pieces joins what the deltas of a stream carry under a name.
func pieces(chunks []map[string]any, keys ...string) (joined string) {
	for _, chunk := range chunks {
		delta, _ := first(chunk["choices"])["delta"].(map[string]any)
		for _, key := range keys {
			text, _ := delta[key].(string)
			joined += text
		}
	}
	return joined
}

// streamOf are the chunks that a call was answered with; nil: it was not with a stream.
func (s *scope) streamOf(c *call) []map[string]any {
	last := c.first + len(c.sent) - 1
	if len(c.sent) == 0 || last >= len(s.mock.chunks) {
		return nil
	}
	return s.mock.chunks[last]
}

// atOnce is the response that the same provider makes of the same answer where it does not come as a stream.
func (s *scope) atOnce(c *call) (llm.Response, error) {
	body, err := json.Marshal(whole(s.streamOf(c)))
	if err != nil {
		return llm.Response{}, err
	}
	s.mock.server.Then(llmtest.Answer{Body: body})
	r := c.request
	r.Stream, r.OnToken = false, nil
	r.Config.Extra = maps.Clone(r.Config.Extra)
	delete(r.Config.Extra, "stream")
	return s.mock.provider.Complete(s.ctx, r)
}
