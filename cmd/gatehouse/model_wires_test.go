package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core/llm/llmtest"
)

// modelWire is a fake of a vendor, and the model that models.yaml names of it.
type modelWire struct {
	fakeVendor
	model   string // its lines of models.yaml, without stream
	refuses int    // how many requests it refuses before its forms are known
}

func openAIWire(model, more string, set func(*llmtest.OpenAI)) func(t *testing.T) modelWire {
	return func(t *testing.T) modelWire {
		s := llmtest.NewOpenAI()
		t.Cleanup(s.Close)
		if set != nil {
			set(s)
		}
		lines := fmt.Sprintf("vendor: openai, model: %s, base_url: %q%s", model, s.URL+"/v1", more)
		return modelWire{fakeVendor: fakeVendor{
			&s.Server, nil, llmtest.OpenAISay, llmtest.OpenAICall, llmtest.OpenAIFault,
		}, model: lines}
	}
}

func anthropicWire(model string, set func(*llmtest.Anthropic)) func(t *testing.T) modelWire {
	return func(t *testing.T) modelWire {
		s := llmtest.NewAnthropic()
		t.Cleanup(s.Close)
		if s.Thinks = true; set != nil {
			set(s)
		}
		lines := fmt.Sprintf("vendor: anthropic, model: %s, base_url: %q", model, s.URL)
		return modelWire{fakeVendor: fakeVendor{
			&s.Server, nil, llmtest.AnthropicSay, llmtest.AnthropicCall, llmtest.AnthropicFault,
		}, model: lines}
	}
}

func refusing(n int, start func(t *testing.T) modelWire) func(t *testing.T) modelWire {
	return func(t *testing.T) modelWire {
		w := start(t)
		w.refuses = n
		return w
	}
}

// wires start a fake of each API and of its kinds.
var wires = map[string]func(t *testing.T) modelWire{
	"chat":               openAIWire("gpt-test", "", nil),
	"chat, a strict one": openAIWire("qwen", "", func(s *llmtest.OpenAI) { s.Strict = true }),
	"Gemini":             openAIWire("gemini-3-pro", "", func(s *llmtest.OpenAI) { s.Gemini = true }),
	"DeepSeek V4":        openAIWire("deepseek-chat", "", func(s *llmtest.OpenAI) { s.DeepSeek = true }),
	"DeepSeek R1":        openAIWire("deepseek-reasoner", "", func(s *llmtest.OpenAI) { s.DeepSeek = true }),
	"Responses":          openAIWire("gpt-6-sol", ", api: responses", nil),
	"Responses, behind":  refusing(1, openAIWire("gpt-5.6-mini", "", nil)),
	"Anthropic":          anthropicWire("claude-opus-5-5", nil),
	"Anthropic, before":  anthropicWire("claude-sonnet-4-5", nil),
	"Anthropic, binding": anthropicWire("claude-fable-5-1", func(s *llmtest.Anthropic) { s.Binds = true }),
	"Anthropic, no header": refusing(1, anthropicWire("claude-sonnet-5-5", func(s *llmtest.Anthropic) {
		s.NoBeta = true
	})),
}

// writeModels writes a file of one model.
func writeModels(t *testing.T, file, lines string, stream bool) {
	t.Helper()
	key := filepath.Join(filepath.Dir(file), "key.txt")
	text := fmt.Sprintf("models:\n  - {name: it, %s, key_file: %q, stream: %t}\n", lines, key, stream)
	for name, text := range map[string]string{file: text, key: "sk-test-0123456789"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// talk is a conversation on Slack whose model is a wire.
type talk struct {
	*testGateway
	w      modelWire
	models string
	tools  string
	thread string
	asked  int
}

func newTalk(t *testing.T, w modelWire, stream bool) *talk {
	t.Helper()
	k := &talk{w: w, models: filepath.Join(t.TempDir(), "models.yaml"), tools: filepath.Join(t.TempDir(), "tools.yaml")}
	writeModels(t, k.models, w.model, stream)
	k.writeTools(t, "first.run")
	k.testGateway = serveModel(t, w.fakeVendor,
		map[string]string{"GATEHOUSE_MODEL": "it", "GATEHOUSE_MODELS": k.models, "GATEHOUSE_TOOLS": k.tools,
			"GATEHOUSE_RATE": "0", "GATEHOUSE_MODEL_CONTEXT": "0", "TZ": "Europe/Berlin"})
	return k
}

func (k *talk) writeTools(t *testing.T, name string) {
	t.Helper()
	yaml := "version: 1\ntools:\n  - name: " + name +
		"\n    description: Says nothing.\n    risk: read\n    command: [\"true\"]\n    env: [PATH]\n"
	if err := os.WriteFile(k.tools, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
}

// says posts to the thread, which the first message opens.
func (k *talk) says(text string) {
	if k.thread == "" {
		k.thread = k.ann.Posts("C1", k.slack.MentionOfBot()+" "+text).TS
		return
	}
	k.ann.Posts("C1", text, slacktest.InThread(k.thread))
}

// turns are turns with two calls at once, and then one.
func (k *talk) turns(n int) {
	k.t.Helper()
	for range n {
		k.asked++
		id := func(part string) string { return fmt.Sprintf("c%d%s", k.asked, part) }
		k.w.Then(
			k.w.call(toolCall(id("a"), "demo.calc", fmt.Sprintf(`{"expression":"1000+%d"}`, k.asked)),
				toolCall(id("b"), "note.list", `{}`)),
			k.w.call(toolCall(id("c"), "demo.calc", fmt.Sprintf(`{"expression":"2000+%d"}`, k.asked))),
			k.w.say(fmt.Sprintf("answer (%d)", k.asked)))
		k.says(fmt.Sprintf("question (%d)", k.asked))
		k.reads("C1", k.thread, fmt.Sprintf("answer (%d)", k.asked))
	}
}

// suspends asks for a change, and says something while it waits. approve goes on.
func (k *talk) suspends() (approve func()) {
	k.t.Helper()
	k.w.Then(k.w.call(toolCall("change", "note.add", `{"text":"milk"}`)), k.w.say("It waits."))
	k.says("note milk")
	card := k.card("C1", k.thread, "Add “milk” to the note book.")
	k.says("does it wait?")
	k.reads("C1", k.thread, "It waits.")
	return func() {
		k.w.Then(k.w.say("The milk is noted."))
		k.bob.Clicks("C1", card.TS, "approve")
		k.reads("C1", k.thread, "The milk is noted.")
	}
}

func (k *talk) restart() {
	k.stop()
	<-k.code
	k.start()
}

// midnight lets a day go by, with a restart: the prompt stays, and the next message tells the new day.
func (k *talk) midnight() {
	k.t.Helper()
	before := time.Now().In(zoneOf(k.t)).Format(time.DateOnly)
	k.settings.store = storeClock(func() time.Time { return time.Now().Add(24 * time.Hour) })
	k.restart()
	k.turns(1)
	body := k.w.lastBody()
	if now := "It is now " + time.Now().In(zoneOf(k.t)).AddDate(0, 0, 1).Format(time.DateOnly) +
		" (Europe/Berlin)."; strings.Count(body, now) != 1 ||
		strings.Contains(body, "Today is") && !strings.Contains(body, before) {
		k.t.Errorf("the model is not told that it is %s once: %s", now, body)
	}
}

func zoneOf(t *testing.T) *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// ends checks that the model was shown all of it, and that nothing more was refused than what had to be learned.
func (k *talk) ends() {
	k.t.Helper()
	body := k.w.lastBody()
	for i := 1; i < k.asked; i++ {
		for _, text := range []string{"question (%d)", "answer (%d)", "1000+%d", "2000+%d"} {
			if text = fmt.Sprintf(text, i); !strings.Contains(body, text) {
				k.t.Errorf("the model is not shown %q any more", text)
			}
		}
	}
	for _, text := range []string{"note milk", "does it wait?", "It waits.", "The milk is noted."} {
		if strings.Count(body, text) != 1 {
			k.t.Errorf("the model is shown %q %d times", text, strings.Count(body, text))
		}
	}
	if refused := k.w.Refused(); len(refused) != k.w.refuses || k.w.Left() != 0 {
		k.t.Errorf("%d answers are left; refused, want %d: %s", k.w.Left(), k.w.refuses, strings.Join(refused, "\n"))
	}
}

// TestALongConversation: seven turns with tools, forty if wide: a change that waits over midnight and over a restart
// with another list of tools. No vendor refuses a request, but for forms that it is asked for once in a process, and
// nothing is lost.
func TestALongConversation(t *testing.T) {
	for name, start := range wires {
		for _, stream := range []bool{true, false} {
			ofEach := []string{"chat", "Gemini", "DeepSeek R1", "Responses", "Anthropic"}
			if !wide(true, stream && slices.Contains(ofEach, name) || !stream && name == "Responses") {
				continue
			}
			t.Run(fmt.Sprintf("%s, streamed %t", name, stream), func(t *testing.T) {
				t.Parallel()
				w := start(t)
				if strings.Contains(name, "strict") && stream {
					w.refuses = 1
				}
				w.refuses *= 3 // a process learns anew
				k := newTalk(t, w, stream)
				k.turns(wide(15, 2))
				approve := k.suspends()
				k.turns(wide(4, 1))
				k.midnight()
				k.writeTools(t, "second.run")
				k.restart()
				k.turns(wide(5, 1))
				approve()
				k.turns(wide(15, 2))
				k.ends()
				if streamed := strings.Contains(w.lastBody(), `"stream":true`); streamed != stream {
					t.Errorf("the last request asks for a stream: %t", streamed)
				}
			})
		}
	}
}

// TestAConversationGoesOnElsewhere: one that was begun with one model, with a change that waits, goes on with another
// model, over another API, or with another key. Nobody is shown what only the other can read.
func TestAConversationGoesOnElsewhere(t *testing.T) {
	for name, c := range map[string]struct{ from, to func(t *testing.T) modelWire }{
		"to Gemini":                  {wires["chat"], wires["Gemini"]},
		"from Gemini to DeepSeek":    {wires["Gemini"], wires["DeepSeek V4"]},
		"from DeepSeek to Responses": {wires["DeepSeek V4"], wires["Responses"]},
		"from Responses to Claude":   {wires["Responses"], wires["Anthropic"]},
		"from Claude to chat":        {wires["Anthropic"], wires["chat"]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goesOn(t, c.from(t), c.to(t))
		})
	}
	for name, c := range map[string]struct {
		start    func(t *testing.T) modelWire
		old, new string
	}{
		"over Responses":        {openAIWire("gpt-5.1", ", api: chat", nil), "api: chat", "api: responses"},
		"another reasoner":      {wires["Responses"], "gpt-6-sol", "gpt-6-luna"},
		"another Claude":        {wires["Anthropic"], "claude-opus-5-5", "claude-sonnet-5-5"},
		"another key":           {wires["Responses"], "vendor", "headers: {OpenAI-Organization: other}, vendor"},
		"without the Responses": {openAIWire("gpt-5.1", ", api: responses", nil), "api: responses", "api: chat"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := c.start(t)
			to := from
			to.model = strings.Replace(from.model, c.old, c.new, 1)
			goesOn(t, from, to)
		})
	}
}

func goesOn(t *testing.T, from, to modelWire) {
	t.Helper()
	k := newTalk(t, from, true)
	k.turns(3)
	approve := k.suspends()
	writeModels(t, k.models, to.model, true)
	k.w = to
	k.restart()
	approve()
	k.turns(3)
	k.ends()
	if refused := from.Refused(); len(refused) > 0 {
		t.Errorf("refused before: %s", strings.Join(refused, "\n"))
	}
}

// TestMostOfALongConversationIsCached: eight turns with tools, a hundred if wide. What each vendor's cache knows of the
// requests after the first turns is billed for less.
func TestMostOfALongConversationIsCached(t *testing.T) {
	for name, start := range wires {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newTalk(t, start(t), true)
			k.turns(wide(10, 6))
			warm := len(k.w.Calls())
			k.turns(wide(90, 2))
			input, cached := 0, 0
			for _, c := range k.w.Calls()[warm:] {
				input, cached = input+c.Input, cached+c.Cached
			}
			if input == 0 || cached*100 < input*80 {
				t.Errorf("%d of %d input tokens are billed as cached", cached, input)
			}
		})
	}
}
