package openai

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// kept is what a server of chat completions sends with a message beyond the API: the signature of a thought (Gemini, on
// the first of the calls), reasoning that it wants back (DeepSeek). Calls has an object for each call.
type kept struct {
	Message map[string]json.RawMessage   `json:"message,omitempty"`
	Calls   []map[string]json.RawMessage `json:"calls,omitempty"`
}

// The members that the API has itself. Audio, annotations and the old function_call are answers to what is never asked
// for.
var (
	messageMembers = []string{"role", "content", "refusal", "tool_calls", "function_call", "annotations", "audio"}
	callMembers    = []string{"id", "type", "function", "index"}
)

// keep is what of an answer's message is to go back with it; nil: nothing. Of a call whose arguments are no object that
// is what the model wrote, so that it sees its mistake. written is a text with thinking in it, which the model's
// template takes apart itself; "": there is none.
func keep(v *strictjson.Value, calls []core.ToolCall, written string) *core.Kept {
	k := kept{Message: others(v, messageMembers)}
	if written != "" {
		k.Message["content"], _ = json.Marshal(written) // a text: can't fail
	}
	some := len(k.Message) > 0
	for i, item := range itemsOf(v, "tool_calls") {
		more := others(item, callMembers)
		if string(calls[i].Arguments) == "null" {
			more["arguments"], _ = json.Marshal(modelapi.Text(item.Get("function"), "arguments"))
		}
		some = some || len(more) > 0
		k.Calls = append(k.Calls, more)
	}
	if !some {
		return nil
	}
	data, err := json.Marshal(k)
	if err != nil {
		return nil // it was JSON
	}
	return &core.Kept{Data: data}
}

func others(v *strictjson.Value, known []string) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, m := range v.Members {
		if !slices.Contains(known, m.Key) && m.Value.Kind != strictjson.Null {
			all[m.Key], _ = json.Marshal(m.Value.Any()) // it was JSON
		}
	}
	return all
}

// giveBack adds to an assistant's message on the wire what its server sent with it.
func giveBack(wire object, calls []any, m core.Message, model string) {
	var k kept
	if m.Kept == nil || json.Unmarshal(m.Kept.Data, &k) != nil {
		return
	}
	for key, value := range k.Message {
		if key != "reasoning_content" || !deepseek.MatchString(model) { // which refuses its own reasoning
			wire[key] = value
		}
	}
	for i, more := range k.Calls {
		if i >= len(calls) {
			return
		}
		call := calls[i].(object)
		more = maps.Clone(more)
		if arguments, broken := more["arguments"]; broken {
			call["function"].(object)["arguments"] = arguments
			delete(more, "arguments")
		}
		for key, value := range more {
			call[key] = value
		}
	}
}

var aboutKept = regexp.MustCompile(`(?i)encrypted[ _]content`)

// withoutKept is a request without what the vendor sent with earlier answers, if it says that it can't verify that any
// more. ok is false if it does not, or if there is nothing of it.
func withoutKept(c modelapi.Complaint, r llm.Request) (without llm.Request, ok bool) {
	if c.Status != http.StatusBadRequest || !aboutKept.MatchString(c.Says()) {
		return r, false
	}
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		ok = ok || m.Kept != nil
		r.Messages[i].Kept = nil
	}
	return r, ok
}
