package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// OpenAI is a fake of OpenAI's chat completions API, and of those that follow it, and of the Responses API, where the
// same scripted answers take its form. Its base URL is URL + "/v1". What it is may be set before the first call.
type OpenAI struct {
	Server
	Key string // the one it accepts; "": any, or none. Set it before the first call
	// what GET /v1/models lists, and which models it knows; none: every model. Set it before the first call
	Models []string
	List   func() Answer // answers GET /v1/models instead; may be nil

	Strict   bool // it refuses stream_options
	Gemini   bool // it signs the first call of each answer
	DeepSeek bool // it reasons, and wants that back after a turn with tools; as deepseek-reasoner it refuses it
	ChatOnly bool // it has no Responses API

	issued issued
}

// NewOpenAI starts a fake with scripted answers. Close ends it.
func NewOpenAI(answers ...Answer) *OpenAI {
	s := &OpenAI{}
	s.answers = answers
	s.start(s)
	return s
}

// OpenAISay is the answer of a text.
func OpenAISay(text string) Answer {
	return openAIAnswer(map[string]any{"role": "assistant", "content": text, "refusal": nil}, "stop")
}

// OpenAICall is the answer of calls; their names are those on the wire, their arguments any text, well formed or not.
func OpenAICall(calls ...core.ToolCall) Answer {
	var list []any
	for _, c := range calls {
		list = append(list,
			map[string]any{
				"id": c.ID, "type": "function",
				"function": map[string]any{"name": c.Name, "arguments": string(c.Arguments)},
			})
	}
	return openAIAnswer(map[string]any{"role": "assistant", "content": nil, "tool_calls": list}, "tool_calls")
}

// OpenAIFault is an error as OpenAI words it.
func OpenAIFault(status int, kind, message string) Answer {
	return Answer{
		Status: status,
		Body: encode(
			map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": kind}}),
	}
}

func openAIAnswer(message map[string]any, finish string) Answer {
	return Answer{Body: encode(
		map[string]any{"id": "chatcmpl-fake", "object": "chat.completion", "created": 1700000000, "model": "fake-model",
			"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish, "logprobs": nil}},
			"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})}
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("llmtest: " + err.Error())
	}
	return data
}

func (s *OpenAI) fault(status int, kind, message string) Answer {
	return OpenAIFault(status, kind, message)
}

func (s *OpenAI) refuse(status int, kind, message string) *Answer {
	a := OpenAIFault(status, kind, message)
	a.reason = message
	return &a
}

func (s *OpenAI) static(c Received) *Answer {
	// OpenAI repeats the key that it refuses, masked; others repeat all of it
	if s.Key != "" && bearer(c.Header) != s.Key {
		return s.refuse(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+bearer(c.Header))
	}
	if c.Path != "/v1/models" {
		return nil
	}
	if s.List != nil {
		a := s.List()
		return &a
	}
	data := []any{}
	for _, id := range s.Models {
		data = append(data, map[string]any{"id": id, "object": "model", "created": 1700000000, "owned_by": "fake"})
	}
	return &Answer{Body: encode(map[string]any{"object": "list", "data": data})}
}

func (s *OpenAI) check(c Received) *Answer {
	responses := c.Path == responsesPath && !s.ChatOnly
	if c.Method != http.MethodPost || c.Path != "/v1/chat/completions" && !responses {
		return s.refuse(http.StatusNotFound, "unknown_url", fmt.Sprintf("Unknown request URL: %s %s", c.Method, c.Path))
	}
	if !strings.HasPrefix(c.Header.Get("Content-Type"), "application/json") {
		return s.refuse(http.StatusBadRequest, "invalid_request_error",
			"the content type is "+c.Header.Get("Content-Type"))
	}
	body, err := strictjson.Parse(c.Body)
	if err != nil {
		return s.refuse(http.StatusBadRequest, "invalid_request_error", "the body is not JSON: "+err.Error())
	}
	var ch checker
	model := ""
	if responses {
		model = s.checkResponses(&ch, c, body)
	} else {
		model = checkOpenAI(&ch, body)
		s.checkChat(&ch, model, body)
	}
	if len(ch.faults) > 0 {
		return s.refuse(http.StatusBadRequest, "invalid_request_error", ch.text())
	}
	for _, known := range s.Models {
		if known == model {
			return nil
		}
	}
	if len(s.Models) > 0 {
		return s.refuse(http.StatusNotFound,
			"model_not_found", fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model))
	}
	return nil
}
