package anthropic_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"

	"pgregory.net/rapid"
)

// Of any history that is valid by itself and has each result next to its call, the API's rules hold for the body.
func TestAnyValidHistoryIsSentValid(t *testing.T) {
	fake, p := open(t)
	refused := 0
	rapid.Check(t, func(rt *rapid.T) {
		r := request(history(rt)...)
		r.Tools = tools(rt)
		fake.Then(llmtest.AnthropicSay("ok"))
		_, err := p.Complete(t.Context(), r)
		if now := fake.Refused(); len(now) > refused {
			bad := now[refused:]
			refused = len(now)
			rt.Fatalf("refused: %v\n%s", bad, fake.Calls()[len(fake.Calls())-1].Body)
		}
		if err != nil {
			rt.Fatalf("%v", err)
		}
		first := fake.Calls()[len(fake.Calls())-1].Body
		fake.Then(llmtest.AnthropicSay("ok"))
		if _, err := p.Complete(t.Context(), r); err != nil {
			rt.Fatalf("%v", err)
		}
		if second := fake.Calls()[len(fake.Calls())-1].Body; string(first) != string(second) {
			rt.Fatalf("not the same bytes:\n%s\n%s", first, second)
		}
	})
}

var (
	anyText = rapid.OneOf(rapid.SampledFrom([]string{" ", "\n\t", "hello", "ok "}), rapid.StringN(1, 20, 60))
	anyID   = rapid.OneOf(rapid.SampledFrom([]string{"call_0", "call:0", "call_0_2", "toolu_1", "ü"}),
		rapid.StringN(1, 8, 24))
	anyName = rapid.OneOf(rapid.SampledFrom([]string{"demo.calc", "demo__calc", "note.add", "a-b"}),
		rapid.StringN(1, 80, 200))
	anyObject = rapid.SampledFrom(
		[]string{`{}`, `null`, ``, `{"a":{"c":1,"b":[2,{"z":1,"y":2}]}}`, `{"n":1e400}`, `{"a":1,"a":2}`})
)

func history(t *rapid.T) []core.Message {
	var all []core.Message
	if rapid.Bool().Draw(t, "system") {
		all = append(all, core.Message{Role: core.System, Content: core.Text(anyText.Draw(t, "text"))})
	}
	all = append(all, someUser(t))
	for range rapid.IntRange(0, 6).Draw(t, "exchanges") {
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			all = append(all, someUser(t))
		case 1:
			all = append(all, assistant(someContent(t, false)))
		case 2:
			all = append(all, someCalls(t)...)
		}
	}
	if all[len(all)-1].Role == core.Assistant {
		all = append(all, someUser(t))
	}
	return all
}

func someUser(t *rapid.T) core.Message {
	if rapid.Bool().Draw(t, "plain") {
		return user(anyText.Draw(t, "text"))
	}
	var blocks []core.Block
	for range rapid.IntRange(1, 3).Draw(t, "blocks") {
		switch rapid.IntRange(0, 2).Draw(t, "block") {
		case 0:
			blocks = append(blocks, text(anyText.Draw(t, "text")))
		case 1:
			blocks = append(blocks,
				image(rapid.SampledFrom([]string{"image/png", "image/webp"}).Draw(t, "type"), "aG\nk="))
		case 2:
			blocks = append(blocks,
				core.Block{
					Type:   core.ImageBlock,
					Source: &core.ImageSource{Type: core.SourceURL, URL: "https://example.com/x.png"},
				})
		}
	}
	return core.Message{Role: core.User, Content: core.Blocks(blocks...)}
}

func someContent(t *rapid.T, mayBeEmpty bool) core.Content {
	if mayBeEmpty && rapid.Bool().Draw(t, "empty") {
		return core.Content{}
	}
	if rapid.Bool().Draw(t, "plain") {
		return core.Text(anyText.Draw(t, "text"))
	}
	var blocks []core.Block
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		blocks = append(blocks, rapid.SampledFrom([]core.Block{
			text("so"), text(" "), {Type: core.TextBlock, Text: "signed", Signature: "of another"},
			{Type: core.ThinkingBlock, Text: "hm", Signature: "sig"},
			{Type: core.ThinkingBlock, Text: "foreign"}, {Type: core.ThinkingBlock, Signature: "sig"},
			{Type: core.RedactedThinkingBlock, Data: "data"},
		}).Draw(t, "block"))
	}
	return core.Blocks(blocks...)
}

// someCalls is a message with calls, whose ids may repeat, and their results in any order.
func someCalls(t *rapid.T) []core.Message {
	var calls []core.ToolCall
	var results []core.Message
	for i := range rapid.IntRange(1, 3).Draw(t, "calls") {
		id := anyID.Draw(t, "id")
		calls = append(calls, call(id, anyName.Draw(t, "name"), anyObject.Draw(t, "arguments")))
		results = append(results, result(id, rapid.SampledFrom([]string{" ", fmt.Sprint(i)}).Draw(t, "result")))
	}
	return append([]core.Message{assistant(someContent(t, true), calls...)},
		rapid.Permutation(results).Draw(t, "results")...)
}

func tools(t *rapid.T) []llm.Tool {
	var all []llm.Tool
	for _, name := range rapid.SliceOfNDistinct(anyName, 0, 4, rapid.ID[string]).Draw(t, "tools") {
		schema := rapid.SampledFrom([]string{``, `{}`, `{"type":"object","properties":{"b":{},"a":{}}}`,
			`{"type":"object","properties":{"$top":{},"_top":true,"名":{"properties":{"a b":{}}},"":{}},` +
				`"required":["$top"]}`, `{"oneOf":[{"type":"object"}],"type":"object"}`}).Draw(t,
			"schema")
		all = append(all,
			llm.Tool{
				Name: name, Description: rapid.SampledFrom([]string{"", "does"}).Draw(t, "description"),
				Parameters: json.RawMessage(schema),
			})
	}
	return all
}
