package providers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/anthropic"
	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

const sdksKey = "GATEHOUSE_TEST_MODEL_SDKS"

// wire is a vendor's API whose requests are recorded.
type wire struct {
	server   *llmtest.Server
	provider llm.Provider
	call     func(...core.ToolCall) llmtest.Answer
	say      func(string) llmtest.Answer
	config   llm.Config
	forced   bool // it can be made to call a tool
}

func wires(t *testing.T) map[string]wire {
	t.Helper()
	most := int64(2000)
	one := func(p llm.Provider, err error) llm.Provider {
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	openAI := func(model, api string, c llm.Config) wire {
		s := llmtest.NewOpenAI()
		t.Cleanup(s.Close)
		p := one(openai.New(model, openai.Config{APIKey: "sk-0123456789", BaseURL: s.URL + "/v1", API: api}))
		return wire{&s.Server, p, llmtest.OpenAICall, llmtest.OpenAISay, c, true}
	}
	claude := func(model string, thinks bool, c llm.Config) wire {
		s := llmtest.NewAnthropic()
		s.Thinks = thinks
		t.Cleanup(s.Close)
		p := one(anthropic.New(model, anthropic.Config{APIKey: "sk-ant-0123456789", BaseURL: s.URL}))
		return wire{&s.Server, p, llmtest.AnthropicCall, llmtest.AnthropicSay, c, !thinks}
	}
	half := 0.5
	stops := llm.Config{MaxTokens: &most, StopSequences: []string{"END"}}
	sampling := stops
	sampling.Temperature, sampling.TopP, sampling.Seed, sampling.FrequencyPenalty = &half, &half, &most, &half
	return map[string]wire{
		"chat": openAI("gpt-4.1", openai.Chat, sampling),
		"chat-reasoning": openAI("gpt-5.1", openai.Chat,
			llm.Config{MaxTokens: &most, Extra: map[string]json.RawMessage{"reasoning_effort": []byte(`"low"`)}}),
		"responses": openAI("gpt-6.1-sol", openai.Responses,
			llm.Config{MaxTokens: &most, Extra: map[string]json.RawMessage{"reasoning": []byte(`{"effort":"low"}`)}}),
		"messages":       claude("claude-3-haiku", false, stops),
		"messages-bound": claude("claude-opus-5-5", true, llm.Config{MaxTokens: &most}),
	}
}

// converse has every kind of request made: tools, an image, reasoning and a call with its result given back, streams,
// and each choice of tools.
func (w wire) converse(t *testing.T) {
	t.Helper()
	tool := llm.Tool{Name: "weather.get", Description: "The weather of a city.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":["integer","null"]}},` +
			`"required":["city"]}`)}
	image := core.Block{
		Type: core.ImageBlock, MediaType: "image/png",
		Source: &core.ImageSource{Type: core.SourceInline, Base64Data: "iVBORw0KGgo="},
	}
	request := llm.Request{
		Tools: []llm.Tool{tool}, Config: w.config, Cache: "conversation", Stream: true,
		Messages: []core.Message{
			{Role: core.System, Content: core.Text("Be brief.")},
			{
				Role:    core.User,
				Content: core.Blocks(core.Block{Type: core.TextBlock, Text: "What is it like there?"}, image),
			},
		},
	}
	ask := func(a llmtest.Answer) core.Message {
		w.server.Then(a)
		answer, err := w.provider.Complete(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Message
	}
	called := ask(w.call(core.ToolCall{ID: "call_1", Name: "weather__get", Arguments: []byte(`{"city":"Rome"}`)}))
	request.Messages = append(request.Messages, called,
		core.Message{Role: core.ToolRole, ToolCallID: called.ToolCalls[0].ID, Content: core.Text("sunny")})
	said := ask(w.say("It is sunny."))
	request.Messages = append(request.Messages, said,
		core.Message{Role: core.User, Content: core.Text("And tomorrow?")})
	request.Stream = false
	choices := []llm.Choice{{Mode: llm.ChooseAuto}, {Mode: llm.ChooseNone}}
	if w.forced {
		choices = append(choices, llm.Choice{Mode: llm.ChooseRequired},
			llm.Choice{Mode: llm.ChooseTool, Tool: tool.Name})
	}
	for _, request.Choice = range choices {
		ask(w.say("Rain."))
	}
	request.Tools, request.Choice, request.Cache = nil, llm.Choice{}, ""
	request.Messages = []core.Message{{Role: core.User, Content: core.Text("Hi.")}}
	ask(w.say("Hi."))
}

// typeOf is the type that a vendor's SDK gives a request.
func typeOf(r llmtest.Received) string {
	switch {
	case strings.HasSuffix(r.Path, "/responses"):
		return "OpenAI.Responses.ResponseCreateParams"
	case strings.HasSuffix(r.Path, "/chat/completions"):
		return "OpenAI.Chat.ChatCompletionCreateParams"
	case r.Header.Get("Anthropic-Beta") != "":
		return "Anthropic.Beta.Messages.MessageCreateParams"
	}
	return "Anthropic.Messages.MessageCreateParams"
}

// TestRequestsHaveTheTypesOfTheVendorsSDKs: what the adapters send is what the vendors' own SDKs take, and a member
// that they don't know is found.
//
// Three things are not tried. What Gemini and DeepSeek want back on chat completions (extra_content, reasoning_content)
// is no part of OpenAI's API. Anthropic's SDK has no temperature and top_p any more, which its current models refuse;
// they are sent to older ones that take them.
func TestRequestsHaveTheTypesOfTheVendorsSDKs(t *testing.T) {
	sdks := os.Getenv(sdksKey)
	if sdks == "" {
		t.Skip("SKIPPED: no requests were compared with the vendors' types. Set " + sdksKey +
			" to what .ci/model-sdks prints.")
	}
	var file strings.Builder
	file.WriteString("import OpenAI from 'openai';\nimport Anthropic from '@anthropic-ai/sdk';\n")
	seen := map[string]bool{}
	all := wires(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		w := all[name]
		w.converse(t)
		if refused := w.server.Refused(); len(refused) > 0 {
			t.Errorf("%s: %q", name, refused)
		}
		for _, r := range w.server.Calls() {
			kind := typeOf(r)
			seen[kind] = true
			fmt.Fprintf(&file, "// %s\nexport const r%d: %s =\n%s satisfies %s;\n", name, file.Len(), kind, r.Body,
				kind)
		}
	}
	for kind := range seen {
		fmt.Fprintf(&file, "// @ts-expect-error a member that is not there\nexport const bad%d: %s = {model: 'm', "+
			"messages: [], input: '', max_tokens: 5, surely_not: 1};\n", file.Len(), kind)
	}
	if len(seen) != 4 {
		t.Errorf("requests of %v", seen)
	}
	dir := t.TempDir()
	err := os.Symlink(filepath.Join(sdks, "node_modules"), filepath.Join(dir, "node_modules"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "requests.mts"), []byte(file.String()), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	compile := exec.CommandContext(t.Context(), "node_modules/.bin/tsc", "--noEmit", "--strict", "--skipLibCheck",
		"--target", "es2022",
		"--module", "nodenext", "--moduleResolution", "nodenext", "requests.mts")
	compile.Dir = dir
	if out, err := compile.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
