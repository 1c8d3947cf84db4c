package draw

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

const testLink = "https://discord.com/channels/2000000000000000001/3000000000000000001"

var testPainter = Painter{testSealer{}, wording.BuiltIn}

// testSealer seals nothing.
type testSealer struct{}

func (testSealer) Seal(fields ...string) string { return "sealed:" + strings.Join(fields, "|") }

// samples are the posts that have golden files.
var samples = adaptertest.Samples{
	Ann: core.Actor{ID: "discord:1001", Name: "Ann"}, Bob: core.Actor{ID: "discord:1002", Name: "Bob"},
	Approvers: []string{"discord:1002", "discord:role:4001", "local"}, Prefixes: []string{"discord:role:", "discord:"},
	From: core.Address{Platform: address.Platform, Channel: "3001", Thread: "5001"}, Conversation: "discord:2001:5001",
	Broadcast: "@everyone", Hostile: hostile,
	Reply: "Words, `a[i](b)` and\n\n```go\nx := m[k](\"<b>\")\n```\nHello **you**\n\n> a " +
		"quote\n\n[text](https://x.example) `a[i](b)`",
	Notice: "Stopped.\nNothing waits. See https://x.example/a_b",
	Context: []core.Line{
		{Role: core.User, Text: "too long ago"},
		{Role: core.User, Text: "hello"}, {Role: core.Assistant, Text: "hello yourself"},
		{Role: core.User, Text: strings.Repeat("many words ", 40)},
		{Role: core.Assistant, Text: "I\nsee"}, {Role: core.Assistant, Text: ""},
	},
}

func testCard(change func(*core.Card)) *core.Card { return samples.Card(change) }

// hostile is a text that tries to ping people, to hide links or to break the layout.
const hostile = "begin @everyone @here <@1002> <@!1002> <@&4001> <#3001> <:x:5> </ask:7> <https://evil.example> " +
	"https://evil.example/?q=a&b " +
	"[safe](https://evil.example) [safe](<https://evil.example>) [safe][1] ||[safe](https://evil.example)||\n\n[1]: " +
	"https://evil.example\n" +
	"`open [safe](https://evil.example)\nand ` closed\n> quote [safe](https://evil.example)\n# big\n-# " +
	"small\n~~~\n[safe](https://evil.example)\n~~~\n" +
	"\x1b[2J\x1b]8;;https://evil.example\x1b\\link \u009b31m \r\bover \u202etxt.exe\u202c \u2066x\u2069 \x00 ``` " +
	"*_~` end \\[safe](https://evil.example)"

func TestGoldenPosts(t *testing.T) {
	for name, d := range samples.Deliveries() {
		t.Run(name, func(t *testing.T) {
			var sent []Outgoing
			for _, m := range drawAll(t, d) {
				sent = append(sent, m.Outgoing())
			}
			adaptertest.Golden(t, name, sent)
		})
	}
	adaptertest.Golden(t, "modal-reason", Form("sealed:value", formOf(*testCard(nil), outbound.ActionReason)))
	adaptertest.Golden(t, "modal-reason-needed", Form("sealed:value", formOf(*testCard(func(c *core.Card) {
		c.NeedsWhy = true
	}), outbound.ActionReason)))
	adaptertest.Golden(t, "modal-confirm", Form("sealed:value", formOf(*testCard(func(c *core.Card) {
		c.Risk = core.Dangerous
	}), outbound.ActionConfirm)))
	adaptertest.Golden(t, "modal-edit", Form("sealed:value", formOf(*testCard(func(c *core.Card) {
		c.Editable = true
	}), outbound.ActionEdit)))
	form := samples.Deliveries()["card-question-form"].Card
	for page := range Pages(len(form.Question.Fields)) {
		adaptertest.Golden(t, fmt.Sprintf("modal-answer-%d", page+1),
			Form("sealed:value",
				Page(formOf(*form, outbound.ActionAnswer), page, [][]string{{"2", "", "many"}, nil}[page])))
	}
	adaptertest.Golden(t,
		"modal-answer-text",
		Form("sealed:value", formOf(*samples.Deliveries()["card-question-text"].Card, outbound.ActionAnswer)))
	adaptertest.Golden(t, "arguments", readArguments(t, *testCard(nil)))
	adaptertest.Golden(t, "arguments-huge", readArguments(t, *testCard(func(c *core.Card) {
		c.Arguments = samples.Huge()
	})))
}

func formOf(c core.Card, action outbound.Action) doc.Form {
	limit := map[outbound.Action]int{outbound.ActionReason: MaxReason, outbound.ActionEdit: MaxInput}[action]
	f, _ := doc.View(core.Delivery{Card: &c}, Reader(nil)).Form(action, limit)
	if action == outbound.ActionConfirm {
		f.Caution = testPainter.Cautions(c)
	}
	return f
}

// fataler is a test of either kind.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// drawAll draws a delivery and checks it against Discord's limits.
func drawAll(t fataler, d core.Delivery) []Message {
	t.Helper()
	all, err := testPainter.Draw(d, testLink)
	if err != nil {
		t.Fatalf("draw: %v", err)
	}
	for _, m := range all {
		inspect(t, m.Outgoing())
	}
	return all
}

// shownArguments is the answer to the button Show all arguments.
type shownArguments struct {
	Text string
	File string // its name
	Body string // of the file
}

func readArguments(t fataler, c core.Card) shownArguments {
	t.Helper()
	m := Arguments(c, wording.BuiltIn)
	inspect(t, m.Outgoing())
	shown := shownArguments{Text: m.Text}
	for _, f := range m.Uploads() {
		body, err := io.ReadAll(f.Reader)
		if err != nil || shown.File != "" {
			t.Fatalf("another file, or %v", err)
		}
		shown.File, shown.Body = f.Name, string(body)
	}
	return shown
}

// TestEveryTextOfAFormCanBeReplaced: with a file that replaces all of them no word of a form is left.
func TestEveryTextOfAFormCanBeReplaced(t *testing.T) {
	texts := wording.New(adaptertest.Marked())
	c, asks := adaptertest.Forms()
	Message := map[string]any{}
	for action, card := range map[outbound.Action]core.Card{
		outbound.ActionReason: c, outbound.ActionConfirm: c, outbound.ActionEdit: c, outbound.ActionAnswer: asks,
	} {
		f, ok := doc.View(core.Delivery{Card: &card}, Reader(texts)).Form(action, 1000)
		if !ok {
			t.Fatalf("there is no form to %s", action)
		}
		Message[string(action)] = Form("x", f)
	}
	long := c
	long.Arguments = `{"数": "` + strings.Repeat("长", 400_000) + `"}`
	long.Arguments = strings.Repeat(long.Arguments, 10)
	none := c
	none.Arguments = ""
	Message["arguments"], Message["long"], Message["none"] = Arguments(c, texts), Arguments(long, texts),
		Arguments(none, texts)
	Message["page"] = Form("x",
		Page(
			doc.Form{Title: "页", Lead: []doc.Span{{Text: "几？"}}, Texts: texts, Inputs: make([]doc.Input, maxFields+1)},
			1, nil))
	for name, form := range Message {
		if left := adaptertest.Unmarked(adaptertest.TextsIn(t, form), "approve"); left != nil {
			t.Errorf("%s says %q", name, left)
		}
	}
}
