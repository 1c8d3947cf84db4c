package tool_test

import (
	"encoding/json"
	"testing"

	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
)

// What a model was shown in place of a secret is no value: every tool refuses it, wherever it is in the arguments, and
// says why. Other bullets are text.
func TestLaw6_TheMarkIsNoArgument(t *testing.T) {
	pay := tool.Tool{
		Name: "bank.pay", Mutating: true, Summarize: func(json.RawMessage) string { return "Pay" }, Do: tool.Calc().Do,
		Schema: json.RawMessage(`{"type":"object","properties":{"env":{"enum":["prod","test"]}}}`),
	}
	r := tool.NewRegistry(pay, tool.NoteAdd(nil), tool.AskPeople())
	for _, c := range []struct{ tool, args, at string }{
		{"bank.pay", `{"env":"••••••"}`, "env"},
		{"bank.pay", `{"to":"https://x.example/••••••/browse"}`, "to"},
		{"bank.pay", `{"to":"•••••• (40 characters hidden)"}`, "to"},
		{"bank.pay", `{"to":"\u2022\u2022\u2022\u2022\u2022\u2022"}`, "to"},
		{"bank.pay", `{"to":"••••••••"}`, "to"},
		{"bank.pay", `{"a":[{"b":1},{"b":["x",{"c":"••••••"}]}]}`, "a/b/c"},
		{"bank.pay", `{"a":{"x••••••":1}}`, "a/x••••••"},
		{"note.add", `{"text":"the key is ••••••"}`, "text"},
		{"people.ask", `{"question":"Is it ••••••?"}`, "question"},
	} {
		_, err := r.Bind(core.ToolCall{Name: c.tool, Arguments: json.RawMessage(c.args)})
		want := "The arguments of " + c.tool + " can't be used: " + c.at + " holds " + mask.Mark +
			", the mark in place of a value that is hidden, and not the value itself. " +
			"Leave it out, or say that you can't see the value."
		if core.CategoryOf(err) != core.ToolArguments || core.MessageOf(err) != want {
			t.Errorf("%s: %v, want %q", c.args, err, want)
		}
	}
	for _, args := range []string{`{"to":"•"}`, `{"to":"••• •••"}`, `{"to":"*****"}`, `{}`, `{"env":"prod"}`} {
		if _, err := r.Bind(core.ToolCall{Name: "bank.pay", Arguments: json.RawMessage(args)}); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}
