package openai_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"gatehouse/adapters/openai"
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
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"extra_content\":{}," +
			"\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},7]},\"finish_reason\":\"tool_calls\"}]}\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":\"f\"}],\"content\":[1]}},[]]}\n\ndata: " +
			"{\"error\":{\"code\":1e999}}\n",
		"event: response.output_item.done\ndata: " +
			"{\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":7}}\n\n" +
			"event: response.completed\ndata: " +
			"{\"response\":{\"output\":[{\"type\":\"reasoning\",\"summary\":[7]}," +
			"{\"type\":\"message\",\"content\":\"x\"}]}}\n\n",
		"event: response.completed\ndata: {\"response\":7}\n\nevent: error\ndata: 7\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, api := range []string{openai.Chat, openai.Responses} {
			p, err := openai.New("gpt-test", openai.Config{APIKey: "k", API: api, Transport: events(data)})
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.Complete(t.Context(),
				llm.Request{Messages: question.Messages, Stream: true, OnToken: func(llm.Token) {}})
			var known *core.Error
			if err != nil && !errors.As(err, &known) {
				t.Errorf("an error without a category: %v", err)
			}
			if err != nil || r.Finish != llm.FinishStop && r.Finish != llm.FinishCalls {
				continue
			}
			if fault := r.Message.Validate(); fault != nil {
				t.Errorf("a message that is not valid: %v", fault)
			}
			back := append(question.Messages[:1:1], r.Message)
			for _, c := range r.Message.ToolCalls {
				back = append(back, core.Result(c.ID, "done"))
			}
			if _, err := p.Complete(t.Context(),
				llm.Request{Messages: append(back, text(core.User, "more"))}); err != nil && !errors.As(err, &known) {
				t.Errorf("an error without a category: %v", err)
			}
		}
	})
}
