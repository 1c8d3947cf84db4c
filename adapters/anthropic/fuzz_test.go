package anthropic_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"gatehouse/adapters/anthropic"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// events is a transport that gives this body to every call, as a stream of events.
type events []byte

func (e events) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(bytes.NewReader(e)), Request: r,
	}, nil
}

// FuzzStream: whatever comes, an answer is valid, goes back to its server, or the error has a category.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"event: message_start\ndata: {\"message\":{\"model\":\"m\",\"usage\":7}}\n\nevent: " +
			"content_block_start\ndata: {\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			"event: content_block_delta\ndata: " +
			"{\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\nevent: message_delta\ndata: " +
			"{\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {}\n\n",
		"event: message_start\ndata: {\"message\":{}}\n\nevent: content_block_start\ndata: " +
			"{\"index\":1e99,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":7}}\n\n" +
			"event: content_block_delta\ndata: " +
			"{\"index\":1e99,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\nevent: " +
			"message_delta\ndata: {\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n",
		"event: message_start\ndata: {\"message\":{\"content\":7}}\n\nevent: content_block_start\ndata: " +
			"{\"content_block\":{\"type\":\"server_tool_use\",\"text\":7}}\n\nevent: message_delta\ndata: " +
			"{\"delta\":{\"stop_reason\":\"pause_turn\"}}\n\n",
		"event: error\ndata: {\"error\":7}\n\n",
		"event: error\ndata: {}\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := anthropic.New("claude-opus-5-5", anthropic.Config{APIKey: "k", Transport: events(data)})
		if err != nil {
			t.Fatal(err)
		}
		q := hello()
		q.Stream, q.OnToken = true, func(llm.Token) {}
		r, err := p.Complete(t.Context(), q)
		var known *core.Error
		if err != nil && !errors.As(err, &known) {
			t.Errorf("an error without a category: %v", err)
		}
		if err != nil || r.Finish != llm.FinishStop && r.Finish != llm.FinishCalls {
			return
		}
		if fault := r.Message.Validate(); fault != nil {
			t.Errorf("a message that is not valid: %v", fault)
		}
		q.Messages = append(q.Messages, r.Message)
		for _, c := range r.Message.ToolCalls {
			q.Messages = append(q.Messages, core.Result(c.ID, "done"))
		}
		q.Messages = append(q.Messages, user("more"))
		if _, err := p.Complete(t.Context(), q); err != nil && !errors.As(err, &known) {
			t.Errorf("an error without a category: %v", err)
		}
	})
}
