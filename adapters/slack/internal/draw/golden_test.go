package draw

import (
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// sealer seals nothing: what a button means can be read in its golden file.
type sealer struct{}

func (sealer) Seal(fields ...string) string { return "sealed:" + strings.Join(fields, "|") }

var testPainter = Painter{sealer{}, wording.BuiltIn}

// samples are the posts for which there are golden files.
var samples = adaptertest.Samples{
	Ann: core.Actor{ID: "slack:U1ANN", Name: "Ann"}, Bob: core.Actor{ID: "slack:U2BOB", Name: "Bob"},
	Approvers: []string{"slack:U2BOB", "slack:S3OPS", "local"}, Prefixes: []string{"slack:S", "slack:U"},
	From: core.Address{Platform: webapi.Platform, Channel: "C1", Thread: "1.2"}, Conversation: "slack:T1:C1:1.2",
	Broadcast: "<!channel>", Hostile: hostile,
	Reply:  "Hello **you**\n\n> a quote\n\n```go\nx := m[k](\"<b>\")\n```\n\n[text](https://x.example) `a[i](b)`",
	Notice: "Stopped.\nNothing waits.",
	Context: []core.Line{
		{Role: core.User, Text: "too long ago"},
		{Role: core.User, Text: "hello"}, {Role: core.Assistant, Text: "hello yourself"},
		{Role: core.User, Text: strings.Repeat("many words ", 40)},
		{Role: core.Assistant, Text: "I\nsee"}, {Role: core.User, Text: "add the note"},
		{Role: core.Assistant, Text: ""},
	},
}

func testCard(change func(*core.Card)) *core.Card { return samples.Card(change) }

// hostile is a text with which a model or a person may try to attack others.
const hostile = "begin <!channel> <!here> <!subteam^S1> <@U123> <#C1> @everyone @here <https://evil.example|safe> " +
	"https://evil.example/?q=a&b " +
	"[safe](https://evil.example) ![x](https://evil.example/x.png) [safe][1] &lt;!channel&gt;\n\n[1]: " +
	"https://evil.example\n" +
	"`open [safe](https://evil.example)\nand ` closed\n> `a|b` quote <@U1>\n~~~\n[safe](https://evil.example)\n~~~\n" +
	"\x1b[2J\x1b]8;;https://evil.example\x1b\\link \u009b31m \r\bover \u202etxt.exe\u202c \u2066x\u2069 \x00 ``` " +
	"*_~` end"

func TestGoldenPosts(t *testing.T) {
	for name, d := range samples.Deliveries() {
		t.Run(name, func(t *testing.T) { adaptertest.Golden(t, name, drawAll(t, d)) })
	}
	adaptertest.Golden(t, "modal-reason", Form("sealed:value", formOf(*testCard(nil), outbound.ActionReason)))
	adaptertest.Golden(t, "modal-reason-needed", Form("sealed:value", formOf(*testCard(func(c *core.Card) {
		c.NeedsWhy = true
	}), outbound.ActionReason)))
	adaptertest.Golden(t, "modal-edit", Form("sealed:value", formOf(*testCard(func(c *core.Card) {
		c.Editable = true
	}), outbound.ActionEdit)))
	for _, name := range []string{"form", "text"} {
		adaptertest.Golden(t,
			"modal-answer-"+name,
			Form("sealed:value", formOf(*samples.Deliveries()["card-question-"+name].Card, outbound.ActionAnswer)))
	}
	adaptertest.Golden(t, "modal-arguments", testPainter.ArgumentsModal(*testCard(func(c *core.Card) {
		c.Arguments = samples.Huge()
	})))
}

func formOf(c core.Card, action outbound.Action) doc.Form {
	limit := map[outbound.Action]int{outbound.ActionReason: MaxReason, outbound.ActionEdit: MaxInput}[action]
	f, _ := doc.View(core.Delivery{Card: &c}, testPainter.reader()).Form(action, limit)
	return f
}

// drawAll draws a delivery and checks it against Slack's limits.
func drawAll(t fataler, d core.Delivery) []Message {
	t.Helper()
	all, err := testPainter.Draw(d, "https://acme.slack.example/archives/C1/p12")
	if err != nil {
		t.Fatalf("draw: %v", err)
	}
	for _, m := range all {
		inspectWith(t, m.Text, m.Blocks, maxBlocks, d.Kind == core.PostReply)
	}
	return all
}

// TestEveryTextOfAFormCanBeReplaced: with a file that replaces all of them no word of a form is left.
func TestEveryTextOfAFormCanBeReplaced(t *testing.T) {
	texts := wording.New(adaptertest.Marked())
	c, asks := adaptertest.Forms()
	drawn := map[string]any{}
	for action, card := range map[outbound.Action]core.Card{
		outbound.ActionReason: c, outbound.ActionEdit: c, outbound.ActionAnswer: asks,
	} {
		f, ok := doc.View(core.Delivery{Card: &card}, Painter{Texts: texts}.reader()).Form(action, 1000)
		if !ok {
			t.Fatalf("there is no form to %s", action)
		}
		drawn[string(action)] = Form("x", f)
	}
	long := c
	long.Arguments = `{"数": "` + strings.Repeat("长", 400_000) + `"}`
	drawn["arguments"], drawn["long"] = Painter{Texts: texts}.ArgumentsModal(c),
		Painter{Texts: texts}.ArgumentsModal(long)
	for name, form := range drawn {
		if left := adaptertest.Unmarked(adaptertest.TextsIn(t, form), "approve"); left != nil {
			t.Errorf("%s says %q", name, left)
		}
	}
}
