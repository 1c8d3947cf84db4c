package modelapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gatehouse/adapters/anthropic"
	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// odd is what a server answers, and what becomes of it: a text or calls, or else a class of error with words of the
// log.
type odd struct {
	name, wire, kind, body string
	status                 int
	unasked                bool // no stream was asked for

	says, calls string
	class       llm.Class
	reason      core.Category
	words       string
}

const (
	eventsKind = "text/event-stream"
	jsonKind   = "application/json"
)

func eventsOf(data ...string) string {
	return "data: " + strings.Join(data, "\n\ndata: ") + "\n\ndata: [DONE]\n\n"
}

func delta(delta, finish string) string {
	return `{"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`
}

func choice(message, finish string) string {
	return `{"choices":[{"index":0,"message":` + message + `,"finish_reason":` + finish + `}]}`
}

func fault(message, code string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"code":%s}}`, message, code)
}

func (o odd) asked(t *testing.T) (r llm.Response, n int, log string, err error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n++
		w.Header()["Content-Type"] = []string{o.kind}
		w.WriteHeader(max(o.status, http.StatusOK))
		_, _ = w.Write([]byte(o.body))
	}))
	defer server.Close()
	var p llm.Provider
	if o.wire == "messages" {
		most := int64(100)
		p, err = anthropic.New("claude-test", anthropic.Config{APIKey: key, BaseURL: server.URL})
		p = llm.WithDefaults(p, llm.Config{MaxTokens: &most})
	} else {
		p, err = openai.New("gpt-test", openai.Config{APIKey: key, BaseURL: server.URL})
	}
	if err != nil {
		t.Fatal(err)
	}
	request := hello
	request.Tools = []llm.Tool{{Name: "note.add", Parameters: []byte(`{"type":"object"}`)}}
	var failed []error
	r, err = chained(streaming(p, !o.unasked), &failed).Complete(t.Context(), request)
	return r, n, fmt.Sprint(failed), err
}

func (o odd) check(t *testing.T) {
	t.Helper()
	r, n, log, err := o.asked(t)
	calls := ""
	for _, c := range r.Message.ToolCalls {
		calls += c.Name + string(c.Arguments)
	}
	if o.says+o.calls != "" {
		if err != nil || r.Message.Content.String() != o.says || calls != o.calls {
			t.Errorf("%s: %q, calls %q, %v", o.name, r.Message.Content, calls, err)
		}
		return
	}
	want := 1
	if o.class == llm.AskAgain {
		want = 2
	}
	if err == nil || llm.ClassOf(err) != o.class || core.ReasonOf(err) != o.reason || n != want ||
		!strings.Contains(log, o.words) {
		t.Errorf("%s: %d requests, %q, %q, %v, log %s", o.name, n, llm.ClassOf(err), core.ReasonOf(err), err, log)
	}
}

// TestAStreamIsKnownByItsBeginning: proxies give it the type of another text, and an answer at once the type of a
// stream.
func TestAStreamIsKnownByItsBeginning(t *testing.T) {
	good := eventsOf(delta(`{"role":"assistant","content":"The "}`, "null"), delta(`{"content":"answer."}`, `"stop"`))
	for _, o := range []odd{
		{name: "a text", kind: "text/plain; charset=utf-8", body: good},
		{name: "JSON, and a comment first", kind: jsonKind, body: ": PROCESSING\n\n" + good},
		{name: "in capitals", kind: "Text/Event-Stream", body: good},
		{name: "none", body: good},
		{name: "a byte order mark", kind: eventsKind, body: "\ufeff" + good},
		{name: "an answer at once", kind: eventsKind, body: choice(`{"content":"The answer."}`, `"stop"`)},
		{name: "the other wire", wire: "messages", kind: jsonKind,
			body: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\"}}\n\n" +
				"event: content_block_start\ndata: " +
				"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"The " +
				"answer.\"}}\n\n" +
				"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
	} {
		o.says = "The answer."
		o.check(t)
		o.unasked = true
		o.check(t)
	}
	odd{
		name: "an error at once", kind: eventsKind, body: fault("Slow down", "429"), class: llm.AskAgain,
		words: "Slow down",
	}.check(t)
}

// TestAnAnswerThatBrokeOffIsAskedForAgain, and never shown as if it were whole, nor do its calls run.
func TestAnAnswerThatBrokeOffIsAskedForAgain(t *testing.T) {
	call := `{"content":"","tool_calls":[{"id":"a","function":{"name":"note__add","arguments":"{}"}}]}`
	beside := func(text string) string {
		return `{"error":{"code":502,"message":"upstream gone"},` +
			strings.TrimPrefix(choice(`{"content":"`+text+`"}`, `"error"`), "{")
	}
	for _, o := range []odd{
		{name: "at once", kind: jsonKind, body: choice(`{"content":"The ans"}`, `"error"`), words: "error"},
		{name: "in a stream", kind: eventsKind,
			body:  eventsOf(delta(`{"content":"The ans"}`, "null"), delta("{}", `"network_error"`)),
			words: "network_error"},
		{name: "DeepSeek's", kind: jsonKind,
			body:  choice(`{"content":"The ans"}`, `"insufficient_system_resource"`),
			words: "insufficient_system_resource"},
		{name: "a call", kind: jsonKind, body: choice(call, `"abort"`), words: "abort"},
		{name: "words beside nothing", kind: jsonKind, body: beside(""), words: "upstream gone"},
		{name: "words beside a part", kind: jsonKind, body: beside("The ans"), words: "upstream gone"},
		{name: "llama.cpp's line", kind: eventsKind,
			body: "error: {\"code\":500,\"message\":\"no slot\"}\n\n", words: "no slot"},
		{name: "a text, on the other wire", wire: "messages", kind: jsonKind,
			body: `{"type":"error","error":"Overloaded"}`, words: "Overloaded"},
		{name: "flat, on the other wire", wire: "messages", kind: jsonKind,
			body: `{"message":"Too many connections, please wait before trying again."}`, words: "connections"},
	} {
		o.class = llm.AskAgain
		o.check(t)
	}
	odd{name: "an empty error", kind: eventsKind, says: "The answer.",
		body: eventsOf(`{"error":"",` + strings.TrimPrefix(delta(`{"content":"The answer."}`, `"stop"`), "{"))}.check(t)
}

// TestPartsOfAnAnswerAreKept, in whatever form each comes.
func TestPartsOfAnAnswerAreKept(t *testing.T) {
	part := func(part string) string { return delta(`{"tool_calls":[{`+part+`}]}`, "null") }
	end := delta("{}", `"tool_calls"`)
	for _, o := range []odd{
		{name: "Mistral's thinking", says: "The answer.", body: eventsOf(
			delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]}`, "null"),
			delta(`{"content":[{"type":"text","text":"The "}]}`, "null"), delta(`{"content":"answer."}`, `"stop"`))},
		{name: "a text, then a list", says: "The answer.",
			body: eventsOf(delta(`{"content":"The "}`, "null"),
				delta(`{"content":[{"type":"text","text":"answer."}]}`, `"stop"`))},
		{name: "parts of the Responses API", says: "The answer.",
			body: choice(`{"content":[{"type":"output_text","text":"The "},"answer."]}`, `"stop"`)},
		{name: "no calls, as a text", says: "The answer.",
			body: choice(`{"content":"The answer.","tool_calls":""}`, `"stop"`)},
		{name: "an id for each part", calls: `note.add{"n":1}`, body: eventsOf(
			part(`"index":0,"id":"a","function":{"name":"note__add","arguments":""}`),
			part(`"index":0,"id":"b","function":{"arguments":"{\"n\":"}`),
			part(`"index":0,"id":"c","function":{"name":null,"arguments":"1}"}`), end)},
		{name: "no ids, one index", calls: `note.add{"n":1}note.add{"n":2}`, body: eventsOf(
			part(`"index":0,"id":"","function":{"name":"note__add","arguments":"{\"n\":1}"}`),
			part(`"index":0,"id":"","function":{"name":"note__add","arguments":"{\"n\":2}"}`), end)},
		{name: "the name in each part", calls: `note.add{"n":1}`, body: eventsOf(
			part(`"index":0,"id":"a","function":{"name":"note__add","arguments":"{\"n\":"}`),
			part(`"index":0,"function":{"name":"note__add","arguments":"1}"}`), end)},
	} {
		o.kind = eventsKind
		o.check(t)
	}
}

// TestRefusalsThatSayOneThingAndMeanAnother by their status.
func TestRefusalsThatSayOneThingAndMeanAnother(t *testing.T) {
	const throttled = "Too many tokens, please wait before trying again."
	for _, o := range []odd{
		{name: "Bedrock's throttling", status: 400,
			body: `{"message":"` + throttled + `"}`, class: llm.AskAgain, words: "asks to wait"},
		{name: "that by a proxy", status: 500,
			body: fault("BedrockException - "+throttled, "500"), class: llm.AskAgain, words: "asks to wait"},
		{name: "Groq's full tier", status: 498,
			body: fault("capacity", "498"), class: llm.AskAgain, words: "can't answer now"},
		{name: "a call given up", status: 499,
			body: fault("cancelled", "499"), class: llm.AskAgain, words: "can't answer now"},
		{name: "Bedrock's model", status: 424,
			body: `{"message":"Try your request again."}`, class: llm.AskAgain, words: "can't answer now"},
		{name: "OpenAI's minute", status: 429, class: llm.AskAnother, reason: core.ConversationTooLong,
			body: fault("Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000.",
				`"rate_limit_exceeded"`)},
		{name: "Together's size", status: 422, class: llm.AskAnother, reason: core.ConversationTooLong,
			body: fault("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 "+
				"`inputs` tokens", "null")},
		{name: "Gemini's key", status: 400,
			body: `[` + fault("API key not valid. Please pass a valid API key.", "400") + `]`, class: llm.TellAdmin,
			words: "refuses the API key"},
		{name: "xAI's key", status: 400,
			body: `{"error":"Incorrect API key provided: xa***yz."}`, class: llm.TellAdmin,
			words: "refuses the API key"},
		{
			name: "Azure's deployment", status: 404,
			body:  fault("The API deployment for this resource does not exist.", `"DeploymentNotFound"`),
			class: llm.TellAdmin, words: "does not know the model",
		},
		{name: "OpenRouter's route", status: 404,
			body: fault("No endpoints found that support tool use.", "404"), class: llm.TellAdmin,
			words: "refuses the request: No endpoints"},
		{
			name:  "MiniMax's account",
			body:  `{"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`,
			class: llm.TellAdmin, reason: core.QuotaUsedUp, words: "insufficient balance",
		},
		{name: "OpenRouter's moderation", status: 403,
			body: fault(`Your input was flagged for "violence"`, "403"), class: llm.OfPerson,
			reason: core.AnswerDeclined},
	} {
		o.kind = jsonKind
		o.check(t)
	}
}
