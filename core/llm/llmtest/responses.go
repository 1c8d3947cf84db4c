package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core/strictjson"
)

// issued is what a fake has sent and wants back.
type issued struct {
	count    int
	calls    map[string]issuedCall // by their id
	phases   map[string]string     // of messages of the Responses API, by owner and text
	thoughts map[string]string     // DeepSeek's reasoning, by the ids of calls or the text that it led to
}

// issuedCall is what belongs to a call.
type issuedCall struct {
	owner     string // the model and the account
	reasoning string // the id of the item of the Responses API before it
	signature string // Gemini's; "" for a sibling of the signed one
	signed    bool   // it is Gemini's
	arguments string // as the model wrote them
}

func (i *issued) next(prefix string) string {
	i.count++
	return prefix + strconv.Itoa(i.count)
}

const responsesPath = "/v1/responses"

// issue gives the answer in the form of the API that was asked, and remembers what is to come back.
func (s *OpenAI) issue(c Received, a Answer) Answer {
	answer := map[string]any{}
	if a.Status >= 300 || a.Events != nil || json.Unmarshal(a.Body, &answer) != nil {
		return a
	}
	request, err := strictjson.Parse(c.Body)
	choices, _ := answer["choices"].([]any)
	if err != nil || len(choices) == 0 {
		return a
	}
	if s.issued.calls == nil {
		s.issued = issued{calls: map[string]issuedCall{}, phases: map[string]string{}, thoughts: map[string]string{}}
	}
	choice := choices[0].(map[string]any)
	message, _ := choice["message"].(map[string]any)
	calls, _ := message["tool_calls"].([]any)
	for _, call := range calls {
		function, _ := call.(map[string]any)["function"].(map[string]any)
		s.issued.calls[fmt.Sprint(call.(map[string]any)["id"])] = issuedCall{arguments: fmt.Sprint(
			function["arguments"])}
	}
	switch {
	case c.Path == responsesPath:
		answer = s.asResponse(c, request, message, choice["finish_reason"])
	case s.Gemini:
		s.sign(message)
	case s.DeepSeek:
		thought := s.issued.next("thought ")
		message["reasoning_content"] = thought
		for _, key := range keysOf(message) {
			s.issued.thoughts[key] = thought
		}
	default:
		return a
	}
	a.Body = encode(answer)
	return a
}

// keysOf are what a message is known by: its calls, or its text.
func keysOf(message map[string]any) (all []string) {
	calls, _ := message["tool_calls"].([]any)
	for _, call := range calls {
		all = append(all, fmt.Sprint(call.(map[string]any)["id"]))
	}
	if all == nil {
		all = append(all, fmt.Sprint(message["content"]))
	}
	return all
}

// sign gives the first of the calls a signature, and makes the others known as its siblings.
func (s *OpenAI) sign(message map[string]any) {
	calls, _ := message["tool_calls"].([]any)
	for i, call := range calls {
		call := call.(map[string]any)
		known := s.issued.calls[fmt.Sprint(call["id"])]
		known.signed = true
		if i == 0 {
			known.signature = s.issued.next("signature+/=")
			call["extra_content"] = map[string]any{"google": map[string]any{"thought_signature": known.signature}}
		}
		s.issued.calls[fmt.Sprint(call["id"])] = known
	}
}

// owner is the model and the account of a request: what they have encrypted nobody else can read.
func owner(c Received, request *strictjson.Value) string {
	return text(request, "model") + " " + bearer(c.Header) + " " + c.Header.Get("OpenAI-Organization")
}

// asResponse is an answer of chat completions as one of the Responses API: reasoning, if the model reasons, a message,
// and calls.
func (s *OpenAI) asResponse(c Received, request *strictjson.Value, message map[string]any, finish any) map[string]any {
	output := []any{}
	who, reasoning := owner(c, request), ""
	if gptVersion(text(request, "model")) >= 5 {
		reasoning = s.issued.next("rs_")
		item := map[string]any{"id": reasoning, "type": "reasoning", "summary": []any{}}
		if slices.ContainsFunc(items(request, "include"), func(v *strictjson.Value) bool {
			return v.String == "reasoning.encrypted_content"
		}) {
			item["encrypted_content"] = base64.StdEncoding.EncodeToString([]byte(who + " " + reasoning))
		}
		output = append(output, item)
	}
	calls, _ := message["tool_calls"].([]any)
	if said, _ := message["content"].(string); said != "" {
		phase := "final_answer"
		if len(calls) > 0 {
			phase = "commentary"
		}
		s.issued.phases[who+said] = phase
		output = append(output,
			map[string]any{
				"id": s.issued.next("msg_"), "type": "message", "role": "assistant", "status": "completed",
				"phase": phase,
				"content": []any{map[string]any{
					"type": "output_text", "text": said, "annotations": []any{}, "logprobs": []any{},
				}},
			})
	}
	for _, call := range calls {
		call := call.(map[string]any)
		function := call["function"].(map[string]any)
		id := s.issued.next("fc_")
		for _, key := range []string{id, fmt.Sprint(call["id"])} {
			s.issued.calls[key] = issuedCall{owner: who, reasoning: reasoning}
		}
		output = append(output,
			map[string]any{"id": id, "type": "function_call", "status": "completed", "call_id": call["id"],
				"name": function["name"], "arguments": function["arguments"]})
	}
	response := map[string]any{
		"id": s.issued.next("resp_"), "object": "response", "created_at": 1700000000, "status": "completed",
		"model":  text(request, "model"),
		"output": output, "error": nil, "incomplete_details": nil, "store": false,
		"usage": map[string]any{
			"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
			"input_tokens_details":  map[string]any{"cached_tokens": 0},
			"output_tokens_details": map[string]any{"reasoning_tokens": 0},
		},
	}
	if reason := map[string]string{
		"length": "max_output_tokens", "content_filter": "content_filter",
	}[fmt.Sprint(finish)]; reason != "" {
		response["status"], response["incomplete_details"] = "incomplete", map[string]any{"reason": reason}
	}
	return response
}

var gptName = regexp.MustCompile(`^gpt-(\d+)(\.\d+)?`)

// gptVersion is 5.6 for gpt-5.6-mini; 0 for another name.
func gptVersion(model string) float64 {
	m := gptName.FindStringSubmatch(model)
	if m == nil {
		return 0
	}
	version, _ := strconv.ParseFloat(m[1]+m[2], 64)
	return version
}

// readable reports whether encrypted content is that of an item, and of the owner.
func readable(content, who, item string) bool {
	plain, err := base64.StdEncoding.DecodeString(content)
	return err == nil && strings.TrimSpace(string(plain)) == who+" "+item
}
