package llmtest

import (
	"net/http"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Anthropic is a fake of Anthropic's Messages API. Its base URL is URL.
type Anthropic struct {
	Server
	Key    string   // the one it accepts; "": any that is not empty. Set it before the first call
	Models []string // which models it knows; none: every model. Set it before the first call
	// its answers begin with thinking, which belongs to the conversation before it. Set it before the first call
	Thinks bool
	// it refuses thinking whose conversation has changed also where it is told to drop it. Set it before the first call
	Binds  bool
	NoBeta bool // it takes no beta headers, as some proxies. Set it before the first call
}

// NewAnthropic starts a fake with scripted answers. Close ends it.
func NewAnthropic(answers ...Answer) *Anthropic {
	s := &Anthropic{}
	s.answers = answers
	s.start(s)
	return s
}

// AnthropicSay is the answer of a text.
func AnthropicSay(text string) Answer {
	return AnthropicAnswer("end_turn", map[string]any{"type": "text", "text": text})
}

// AnthropicCall is the answer of calls. Their names are those on the wire, and their arguments are sent as they are.
func AnthropicCall(calls ...core.ToolCall) Answer {
	var blocks []map[string]any
	for _, c := range calls {
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": c.Arguments})
	}
	return AnthropicAnswer("tool_use", blocks...)
}

// AnthropicAnswer is the answer of blocks of content, with the reason why the model stopped.
func AnthropicAnswer(stop string, blocks ...map[string]any) Answer {
	content := append([]map[string]any{}, blocks...)
	return Answer{Header: map[string]string{"Request-Id": "req_fake"}, Body: encode(map[string]any{
		"id": "msg_fake", "type": "message", "role": "assistant", "model": "claude-fake", "content": content,
		"stop_reason":   stop,
		"stop_sequence": nil, "usage": map[string]any{"input_tokens": 10, "output_tokens": 5},
	})}
}

// AnthropicFault is an error as Anthropic words it, such as 429 rate_limit_error or 529 overloaded_error.
func AnthropicFault(status int, kind, message string) Answer {
	return Answer{Status: status, Header: map[string]string{"Request-Id": "req_fake"}, Body: encode(map[string]any{
		"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_fake",
	})}
}

func (s *Anthropic) fault(status int, kind, message string) Answer {
	return AnthropicFault(status, kind, message)
}

func (s *Anthropic) refuse(status int, kind, message string) *Answer {
	a := AnthropicFault(status, kind, message)
	a.reason = message
	return &a
}

func (s *Anthropic) knows(model string) bool {
	return len(s.Models) == 0 || slices.Contains(s.Models, model)
}

// static answers a call without the right headers, and one for a model's description. Scripted answers come first for
// the latter.
func (s *Anthropic) static(c Received) *Answer {
	switch key := c.Header.Get("X-Api-Key"); {
	case key == "" || s.Key != "" && key != s.Key:
		return s.refuse(http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
	case c.Header.Get("Anthropic-Version") != "2023-06-01":
		return s.refuse(http.StatusBadRequest, "invalid_request_error", "anthropic-version: must be 2023-06-01")
	}
	model, asked := strings.CutPrefix(c.Path, "/v1/models/")
	switch {
	case !asked || c.Method != http.MethodGet || len(s.answers) > 0:
		return nil
	case !s.knows(model):
		a := AnthropicFault(http.StatusNotFound, "not_found_error", "model: "+model)
		return &a
	}
	return &Answer{Body: encode(
		map[string]any{"type": "model", "id": model, "display_name": model, "created_at": "2026-01-01T00:00:00Z"})}
}

func (s *Anthropic) check(c Received) *Answer {
	switch {
	case c.Method == http.MethodGet && strings.HasPrefix(c.Path, "/v1/models/"):
		return nil
	case c.Method != http.MethodPost || c.Path != "/v1/messages":
		return s.refuse(http.StatusNotFound, "not_found_error", c.Method+" "+c.Path)
	case c.Header.Get("Content-Type") != "application/json":
		return s.refuse(http.StatusBadRequest, "invalid_request_error",
			"the content type is "+c.Header.Get("Content-Type"))
	}
	body, err := strictjson.Parse(c.Body)
	if err != nil {
		return s.refuse(http.StatusBadRequest, "invalid_request_error", "the body is not JSON: "+err.Error())
	}
	var ch checker
	model := checkAnthropic(&ch, body)
	s.checkModel(&ch, c, model, body)
	if len(ch.faults) > 0 {
		return s.refuse(http.StatusBadRequest, "invalid_request_error", ch.text())
	}
	if !s.knows(model) {
		a := AnthropicFault(http.StatusNotFound, "not_found_error", "model: "+model)
		return &a
	}
	return nil
}
