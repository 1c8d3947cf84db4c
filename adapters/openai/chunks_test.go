package openai_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

// stream is an answer of these events.
func stream(data ...string) llmtest.Answer {
	var a llmtest.Answer
	for _, d := range data {
		a.Events = append(a.Events, llmtest.Event{Data: d})
	}
	return a
}

func delta(d string) string {
	return `{"choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]}`
}

const stopped = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

// TestStreamsOfOtherServers: what servers of this API stream in forms of their own, and streams that break.
func TestStreamsOfOtherServers(t *testing.T) {
	for name, c := range map[string]struct {
		answer llmtest.Answer
		want   string // the text and the calls
		fails  core.Category
	}{
		"no end but the connection's": {stream(delta(`{"content":"yes"}`), stopped), "yes", ""},
		"no reason but [DONE]":        {stream(delta(`{"content":"yes"}`), "[DONE]"), "yes", ""},
		"cut":                         {stream(delta(`{"content":"ye"}`)), "", core.ProviderUnavailable},
		"cut in an event": {
			stream(delta(`{"content":"ye"}`), `{"choices":[{"ind`), "", core.ProviderUnavailable,
		},
		"nothing": {stream("[DONE]"), "", core.ProviderInvalidResponse},
		"broken off": {
			stream(delta(`{"content":"yes"}`), stopped, "[DONE]").With(llmtest.Truncate), "", core.ProviderUnavailable,
		},
		"no list of choices": {stream(`{"choices":null}`, delta(`{"content":"yes"}`), stopped, "[DONE]"), "yes", ""},
		"a whole message": {
			stream(`{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]}`, "[DONE]"), "yes", "",
		},
		"an error in it": {
			stream(delta(`{"content":"ye"}`), `{"error":{"code":429,"message":"slow down"}}`),
			"", core.ProviderRateLimit,
		},
		"an error as a text": {stream(`{"error":"upstream"}`), "", core.ProviderUnavailable},
		"calls that all have the index 0": {stream(
			delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\":"}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`),
			delta(`{"tool_calls":[{"index":0,"id":"2","function":{"name":"g","arguments":"{}"}}]}`), stopped, "[DONE]"),
			`f{"a":1} g{}`, ""},
		"calls without an index": {stream(
			delta(`{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}`),
			delta(`{"tool_calls":[{"id":"2","function":{"name":"g","arguments":"{}"}}]}`), stopped), `f{} g{}`, ""},
		"a name that is sent again": {stream(
			delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{"}}]}`),
			delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"}"}}]}`), stopped), `f{}`,
			""},
		"calls in turn": {stream(
			delta(
				`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{"}},{"index":1,"id":"2",`+
					`"function":{"name":"g","arguments":"{"}}]}`),
			delta(`{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"}"}}]}`),
			stopped), `f{} g{}`, ""},
		"a call without arguments": {stream(delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f"}}]}`),
			stopped), `f{}`, ""},
	} {
		_, p := start(t, openai.Config{}, c.answer)
		r := question
		r.Stream = true
		got, err := p.Complete(t.Context(), r)
		said := []string{}
		if text := got.Message.Content.String(); text != "" {
			said = append(said, text)
		}
		for _, call := range got.Message.ToolCalls {
			said = append(said, call.Name+string(call.Arguments))
		}
		if core.CategoryOf(err) != c.fails || err == nil && strings.Join(said, " ") != c.want {
			t.Errorf("%s: %q, %v; want %q, %q", name, said, err, c.want, c.fails)
		}
	}
}

// TestTokensComeAsTheyAreMade: each piece is heard before the answer is whole, numbered from 0; calls are no tokens.
func TestTokensComeAsTheyAreMade(t *testing.T) {
	_, p := start(t, openai.Config{}, stream(
		delta(`{"reasoning_content":"Hm"}`), delta(`{"reasoning":"."}`), delta(`{"content":""}`),
		delta(`{"content":"y"}`), delta(`{"content":"es"}`),
		delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}}]}`), stopped, "[DONE]"))
	r := question
	var heard []llm.Token
	r.Stream, r.OnToken = true, func(token llm.Token) { heard = append(heard, token) }
	if _, err := p.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	want := []llm.Token{
		{Index: 0, Kind: llm.TokenReasoning, Text: "Hm"}, {Index: 1, Kind: llm.TokenReasoning, Text: "."},
		{Index: 2, Kind: llm.TokenContent, Text: "y"}, {Index: 3, Kind: llm.TokenContent, Text: "es"},
	}
	if len(heard) != len(want) {
		t.Fatalf("%+v", heard)
	}
	for i := range want {
		if heard[i] != want[i] {
			t.Errorf("%+v, not %+v", heard[i], want[i])
		}
	}
}

// TestASilentCallIsGivenUp: not because it takes long, but because not one byte comes.
func TestASilentCallIsGivenUp(t *testing.T) {
	for name, answer := range map[string]llmtest.Answer{"no answer": llmtest.OpenAISay("").With(llmtest.Stall)} {
		_, p := start(t, openai.Config{Silence: 20 * time.Millisecond}, answer)
		r := question
		r.Stream = true
		if _, err := p.Complete(t.Context(), r); core.CategoryOf(err) != core.ProviderUnavailable ||
			!strings.Contains(err.Error(), "nothing for 20ms") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestARefusedStreamIsMarked: by what the server says of it, and Complete itself asks once. NewStreamed asks again
// without.
func TestARefusedStreamIsMarked(t *testing.T) {
	refusal := func(code int, body string) llmtest.Answer { return llmtest.Answer{Status: code, Body: []byte(body)} }
	for name, c := range map[string]struct {
		answer          llmtest.Answer
		marked, options bool
	}{
		"the options": {refusal(400,
			`{"error":{"message":"Extra inputs are not permitted","param":"stream_options"}}`), true, true},
		"vLLM's": {refusal(422, `{"detail":"include_usage: unknown field"}`), true, true},
		"the stream": {refusal(400,
			`{"error":{"message":"Your organization must be verified to stream this model.","param":"stream"}}`), true,
			false},
		"streaming": {refusal(422, `{"error":"streaming is not supported"}`), true, false},
		"another thing": {
			refusal(400, `{"error":{"message":"temperature is too high","param":"temperature"}}`), false, false,
		},
		"another status":   {refusal(500, `{"error":{"message":"the stream broke"}}`), false, false},
		"a word's middle":  {refusal(400, `{"error":{"message":"the upstream is bad"}}`), false, false},
		"nothing, at last": {llmtest.OpenAISay("yes"), false, false},
	} {
		fake, p := start(t, openai.Config{}, c.answer)
		_, err := p.Complete(t.Context(), llm.Request{Messages: question.Messages, Stream: true})
		var refused llm.StreamRefused
		if marked := errors.As(err, &refused); marked != c.marked || refused.Options != c.options ||
			len(fake.Calls()) != 1 {
			t.Errorf("%s: marked %t, options %t, %d calls: %v", name, marked, refused.Options, len(fake.Calls()), err)
		}
	}
	fake, p := start(t, openai.Config{}, llmtest.OpenAISay("yes"))
	fake.Strict = true
	r, err := llm.NewStreamed(p, nil).Complete(t.Context(), question)
	if err != nil || r.Message.Content.String() != "yes" || len(fake.Calls()) != 2 {
		t.Errorf("%v, %+v, %d calls", err, r.Message, len(fake.Calls()))
	}
}
