package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fieldCase is what a server answered in the field, as fixtures/field/models/answers.json has it.
type fieldCase struct {
	Name   string
	Wire   string
	Body   json.RawMessage
	Then   json.RawMessage
	After  string
	Expect string

	stream string // the body as a stream of events; "": it comes at once
}

// What people read, and what the model is shown next, by what a case expects.
var expectations = map[string]struct{ reads, shown []string }{
	"the text is shown":               {reads: []string{"The answer."}},
	"the call runs":                   {reads: []string{"That is all."}, shown: []string{"[No output.]"}},
	"the call runs without arguments": {reads: []string{"That is all."}, shown: []string{"[No output.]"}},
	`"Done: …"; nobody is told to adjust their message`: {reads: []string{"Done: Add “milk” to the note book."}},
	"the text with \"(cut off at the model's limit)\"; never that no tool was run": {reads: []string{
		"Added mi", "(cut off at the model's limit)",
	}},
	"asked again once; the second answer is shown": {reads: []string{"The answer."}},
	"the model is shown its call as it wrote it, and what is wrong": {
		reads: []string{"That is all."}, shown: []string{"must be a JSON object"},
	},
	"nothing runs; the text is shown with the mark": {reads: []string{"Let me", "(cut off at the model's limit)"}},
}

// refusals are the cases that are no answers but errors: what becomes of those is tested where calls are repeated.
var refusals = []string{
	"error_beside_null_choices", "error_is_a_text", "error_flat", "error_inside_the_choice", "context_as_200",
	"context_as_500", "insufficient_quota",
	"groq_tool_use_failed_once", "wall_403", "max_tokens_refused", "anthropic_overloaded_as_200",
	"anthropic_signature_of_another_model",
}

// TestAnswersFromTheField: what servers have answered is shown to people as it was meant.
func TestAnswersFromTheField(t *testing.T) {
	t.Parallel()
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		t.Skip("SKIPPED: no answers from the field were tried. Set GATEHOUSE_FIXTURES to the folder that holds field.")
	}
	text, err := os.ReadFile(filepath.Join(root, "field", "models", "answers.json"))
	noErr(t, err)
	var cases []fieldCase
	noErr(t, json.Unmarshal(text, &cases))
	tried := 0
	for _, c := range cases {
		if !slices.Contains(refusals, c.Name) {
			tried++
			c.run(t)
		}
	}
	if tried < 14 {
		t.Errorf("only %d answers were tried", tried)
	}
}

// TestAnswersLikeThoseFromTheField: their sisters, by other servers and on the other wire.
func TestAnswersLikeThoseFromTheField(t *testing.T) {
	t.Parallel()
	chat := func(message, finish string) json.RawMessage {
		return json.RawMessage(`{"choices":[{"index":0,"message":` + message + `,"finish_reason":` + finish + `}]}`)
	}
	messages := func(content, stop string) json.RawMessage {
		return json.RawMessage(`{"type":"message","role":"assistant","content":` + content + `,"stop_reason":` + stop +
			`}`)
	}
	arguments := func(text string) string {
		return `{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"note__add","arguments":` +
			text + `}}]}`
	}
	answer := chat(`{"content":"The answer."}`, `"stop"`)
	const (
		list  = `[{"type":"tool_use","id":"toolu_a","name":"note__list","input":{}}]`
		begun = `{"content":"Let me","tool_calls":[{"id":"a","type":"function","function":{"name":"note__add",` +
			`"arguments":"{\"text\":\"rm\"}"}}]}`
		shown   = "the text is shown"
		runs    = "the call runs"
		mended  = "the model is shown its call as it wrote it, and what is wrong"
		again   = "asked again once; the second answer is shown"
		done    = `"Done: …"; nobody is told to adjust their message`
		nothing = "nothing runs; the text is shown with the mark"
	)
	for _, c := range []fieldCase{
		{
			Name: "a reason of the other wire", Wire: "messages",
			Body: messages(`[{"type":"text","text":"The answer."}]`, `"stop"`), Expect: shown,
		},
		{Name: "no reason, in a stream", Wire: "chat", Expect: shown,
			stream: `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"The answer."},` +
				`"finish_reason":null}]}` +
				"\n\ndata: [DONE]\n\n"},
		{Name: "an empty reason, in a stream", Wire: "chat", Expect: shown,
			stream: `data: {"choices":[{"delta":{"content":"The answer."}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{},"finish_reason":""}]}` + "\n\ndata: [DONE]\n\n"},
		{Name: "calls for no reason", Wire: "messages", Body: messages(list, `null`), Expect: runs},
		{Name: "calls for another reason", Wire: "chat", Expect: runs,
			Body: chat(
				`{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"note__list",`+
					`"arguments":"\"null\""}}]}`,
				`"TOOL_CALLS"`)},
		{
			Name: "thinking in the text", Wire: "chat",
			Body: chat(`{"content":"<think>\nThey ask.\n</think>\n\nThe answer."}`, `"stop"`), Expect: shown,
		},
		{
			Name: "the end of thinking alone", Wire: "chat",
			Body: chat(`{"content":"They ask.\n</think>\n\nThe answer."}`, `"stop"`), Expect: shown,
		},
		{
			Name: "thinking that does not end", Wire: "chat", Body: chat(`{"content":"<think>\nThey ask."}`, `"stop"`),
			Then: answer, Expect: again,
		},
		{Name: "a call in the text", Wire: "chat", Then: answer, Expect: again,
			Body: chat(
				`{"content":"<tool_call>\n{\"name\":\"note__add\",\"arguments\":{\"text\":\"a\"}}\n</tool_call>"}`,
				`"stop"`)},
		{Name: "a call that is the text", Wire: "chat", Then: answer, Expect: again,
			Body: chat(`{"content":"{\"name\":\"note__add\",\"parameters\":{\"text\":\"a\"}}"}`, `"stop"`)},
		{Name: "nothing", Wire: "chat", Body: chat(`{"content":null}`, `"stop"`), Then: answer, Expect: again},
		{
			Name: "nothing, on the other wire", Wire: "messages", Body: messages(`[]`, `"end_turn"`),
			Then: messages(`[{"type":"text","text":"The answer."}]`, `"end_turn"`), Expect: again,
		},
		{
			Name: "nothing after a change", Wire: "messages", Body: messages(`[]`, `"end_turn"`),
			After: "note__add approved", Expect: done,
		},
		{
			Name: "cut after a change, before a word", Wire: "chat", Body: chat(`{"content":""}`, `"length"`),
			After: "note__add approved", Expect: done,
		},
		{
			Name: "a filter after a change", Wire: "chat", Body: chat(`{"content":""}`, `"content_filter"`),
			After: "note__add approved", Expect: done,
		},
		{Name: "cut in a word of its own", Wire: "chat", Body: chat(begun, `"MAX_TOKENS"`), Expect: nothing},
		{
			Name: "arguments, encoded twice", Wire: "chat",
			Body: chat(arguments(`"\"{\\\"text\\\":\\\"a\\\"}\""`), `"tool_calls"`), Expect: mended,
		},
		{
			Name: "arguments that are a list", Wire: "chat", Body: chat(arguments(`"[\"a\"]"`), `"tool_calls"`),
			Expect: mended,
		},
		{
			Name: "arguments with something behind them", Wire: "chat",
			Body: chat(arguments(`"{\"text\":\"a\"}<|im_end|>"`), `"tool_calls"`), Expect: mended,
		},
		{Name: "arguments that are a text, on the other wire", Wire: "messages", Expect: mended,
			Body: messages(`[{"type":"tool_use","id":"toolu_a","name":"note__add","input":"{\"text\": \"a"}]`,
				`"tool_use"`)},
	} {
		c.run(t)
	}
}

// fieldServer answers with the case, after what happened before it, and then with a text. It keeps what it was asked.
type fieldServer struct {
	*httptest.Server

	mu      sync.Mutex
	answers []string
	asked   []string
}

// lasting is what a server of a wire answers when nothing else is left.
var lasting = map[string]string{
	"chat": `{"choices":[{"index":0,"message":{"role":"assistant","content":"That is all."},` +
		`"finish_reason":"stop"}]}`,
	"messages": `{"type":"message","role":"assistant","content":[{"type":"text","text":"That is all."}],` +
		`"stop_reason":"end_turn"}`,
}

// changing is a call that people approve.
var changing = map[string]string{
	"chat": `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c",` +
		`"type":"function",` +
		`"function":{"name":"note__add","arguments":"{\"text\":\"milk\"}"}}]},"finish_reason":"tool_calls"}]}`,
	"messages": `{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_c",` +
		`"name":"note__add","input":{"text":"milk"}}],"stop_reason":"tool_use"}`,
}

func (c fieldCase) serve(t *testing.T) *fieldServer {
	t.Helper()
	s := &fieldServer{}
	for _, answer := range []string{changing[c.Wire], string(c.Body) + c.stream, string(c.Then)} {
		if answer != "" && (answer != changing[c.Wire] || c.After != "") {
			s.answers = append(s.answers, answer)
		}
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, string(body))
		answer := lasting[c.Wire]
		if len(s.answers) > 0 {
			answer, s.answers = s.answers[0], s.answers[1:]
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(answer, "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *fieldServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// written are the arguments of a case's call, as its model wrote them.
func (c fieldCase) written() string {
	var body struct {
		Choices []struct {
			Message struct {
				Calls []struct {
					Function struct{ Arguments string }
				} `json:"tool_calls"`
			}
		}
		Content []struct{ Input json.RawMessage }
	}
	if json.Unmarshal(c.Body, &body) != nil {
		return ""
	}
	for _, choice := range body.Choices {
		text, _ := json.Marshal(choice.Message.Calls[0].Function.Arguments)
		return `"arguments":` + strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text))
	}
	return `"input":{"INVALID_JSON":` + string(body.Content[0].Input) + `}`
}

func (c fieldCase) run(t *testing.T) {
	t.Run(c.Name, func(t *testing.T) {
		t.Parallel()
		want, known := expectations[c.Expect]
		if !known {
			t.Fatalf("nobody knows how to tell that %s", c.Expect)
		}
		server := c.serve(t)
		env := map[string]string{"GATEHOUSE_MODEL": "openai:local", "OPENAI_BASE_URL": server.URL + "/v1"}
		if c.Wire == "messages" {
			env = map[string]string{
				"GATEHOUSE_MODEL": "anthropic:local", "ANTHROPIC_API_KEY": "sk-test-0123456789",
				"ANTHROPIC_BASE_URL": server.URL,
			}
		}
		s := serveModel(t, fakeVendor{}, env)
		ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" please")
		requests := 1
		if c.After != "" {
			card := s.card("C1", ask.TS, "Add “milk” to the note book.")
			s.bob.Clicks("C1", card.TS, "approve")
			requests++
		}
		for _, text := range want.reads {
			s.reads("C1", ask.TS, text)
		}
		if c.Then != nil || want.shown != nil {
			requests++
		}
		asked := server.requests()
		if len(asked) != requests {
			t.Errorf("the server was asked %d times, not %d", len(asked), requests)
		}
		for _, text := range want.shown {
			if !strings.Contains(asked[len(asked)-1], text) {
				t.Errorf("the model was not shown %q: %s", text, asked[len(asked)-1])
			}
		}
		if strings.HasPrefix(c.Expect, "the model is shown its call") &&
			!strings.Contains(asked[len(asked)-1], c.written()) {
			t.Errorf("the model was not shown %s: %s", c.written(), asked[len(asked)-1])
		}
		for _, never := range []string{"adjust", "no tools were run", "think>", "tool_call"} {
			if strings.Contains(s.slack.Dump(), never) {
				t.Errorf("people read %q\n%s", never, s.slack.Dump())
			}
		}
	})
}
