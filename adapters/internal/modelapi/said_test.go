package modelapi_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/internal/modelapi"
)

func isTool(name string) bool { return name == "note__add" }

// What local models leave in a text: the thinking and the calls are taken out, whatever the model's template calls
// them.
func TestThinkingAndCallsAreNoText(t *testing.T) {
	for text, want := range map[string]modelapi.Said{
		"<think>\nhm\n</think>\n\nYes.":                        {Thinking: "hm", Text: "Yes."},
		" \n<THINK>hm</THINK>Yes.":                             {Thinking: "hm", Text: "Yes."},
		"<thinking>a</thinking>\n<thinking>b</thinking>Yes.":   {Thinking: "a\n\nb", Text: "Yes."},
		"<think></think>Yes.":                                  {Text: "Yes."},
		"<think>\nThey greet me":                               {Thinking: "They greet me"},
		"They greet me.\n</think>\n\nHello!":                   {Thinking: "They greet me.", Text: "Hello!"},
		"They greet me.</think>Hello!":                         {Thinking: "They greet me.", Text: "Hello!"},
		"</think>Hello!":                                       {Text: "Hello!"},
		"[THINK]hm[/THINK]Yes.":                                {Thinking: "hm", Text: "Yes."},
		"◁think▷hm◁/think▷Yes.":                                {Thinking: "hm", Text: "Yes."},
		"<seed:think>hm</seed:think>Yes.":                      {Thinking: "hm", Text: "Yes."},
		"<|channel|>analysis<|message|>hm<|end|>" + final:      {Thinking: "hm", Text: "Yes."},
		"<|START_THINKING|>hm<|END_THINKING|>" + response:      {Thinking: "hm", Text: "Yes."},
		"<think>hm</think>\n<tool_call>\n" + call:              {Thinking: "hm", Typed: true},
		"Let me see.\n<tool_call>\n" + call + "\n</tool_call>": {Text: "Let me see.", Typed: true},
		"<tool_call>" + call + "</tool_call>\nI noted it.":     {Text: "I noted it.", Typed: true},
		"<tool_call>note__add\n<arg_key>text</arg_key>":        {Typed: true},
		"<tool_call>\n<function=note__add>\n</function>":       {Typed: true},
		"<function=note__add>{\"text\":\"a\"}</function>":      {Typed: true},
		"<function_calls>\n<invoke name=\"note__add\">":        {Typed: true},
		"<minimax:tool_call>\n<invoke name=\"x\"></invoke>":    {Typed: true},
		"<|python_tag|>" + call:                                {Typed: true},
		"I note it.[TOOL_CALLS][" + call + "]":                 {Text: "I note it.", Typed: true},
		"[TOOL_CALLS]note__add[ARGS]{\"text\":\"a\"}":          {Typed: true},
		"<|tool_call|>[" + call + "]<|/tool_call|>":            {Typed: true},
		"<|tool_calls_section_begin|>x<|tool_call_end|>":       {Typed: true},
		"<｜tool▁calls▁begin｜>x<｜tool▁calls▁end｜>":              {Typed: true},
		"<|START_ACTION|>[]<|END_ACTION|>":                     {Typed: true},
		"<|channel|>commentary to=functions.x<|message|>{}":    {Typed: true},
		call:             {Typed: true},
		"[" + call + "]": {Typed: true},
	} {
		if got := modelapi.Say(text, isTool); got != want {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}

const (
	call     = `{"name":"note__add","arguments":{"text":"a"}}`
	final    = "<|start|>assistant<|channel|>final<|message|>Yes.<|return|>"
	response = "<|START_RESPONSE|>Yes.<|END_RESPONSE|>"
)

// What is written about thinking and calls is a text like any other.
func TestATextAboutTagsIsLeftAsItIs(t *testing.T) {
	for _, text := range []string{
		"", " two spaces ", "Yes.\n", "a < b", "<b>bold</b>",
		"Qwen writes `<think>` before its thoughts and `</think>` behind them.",
		"First comes <think>, then </think>.\n</think>\n",
		"Models end their thoughts with </think> and then answer.",
		"```\n<think>hm</think>\n```", "An example:\n```\nhm.\n</think>\nYes.\n```\n",
		"```xml\n<tool_call>\n" + call + "\n</tool_call>\n```", "~~~\n<|python_tag|>x\n~~~",
		"The tag is `<|python_tag|>`, and Mistral's is [TOOL_CALLS] in brackets.",
		"<tool_call> is the tag that Hermes uses.", "Hermes writes <tool_call>{} for it.",
		"```json\n" + call + "\n```", `{"name":"Ann","arguments":{"a":1}}`, `{"name":"note__add","text":"a"}`,
		`{"note__add":{}}`, `["note__add"]`, "[]", "7",
	} {
		if got := modelapi.Say(text, isTool); got != (modelapi.Said{Text: text}) {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// A vendor may send anything: taking it apart ends, soon, and adds nothing.
func FuzzSay(f *testing.F) {
	f.Add("<think>a</think><think>")
	f.Add(strings.Repeat("<tool_call>{", 9) + "```" + strings.Repeat("[TOOL_CALLS][", 9))
	f.Fuzz(func(t *testing.T, text string) {
		got := modelapi.Say(text, isTool)
		if len(got.Text)+len(got.Thinking) > len(text)+len("\n\n")*strings.Count(text, ">") {
			t.Errorf("%q is %+v", text, got)
		}
	})
}
