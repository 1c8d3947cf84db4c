package slack

import (
	"flag"
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/core"
)

var update = flag.Bool("update", false, "write the golden files anew")

var testPainter = painter{seal: func(fields ...string) string { return "sealed:" + strings.Join(fields, "|") }}

var samples = adaptertest.Samples{
	To: core.Address{Platform: Name, Channel: "C1", Thread: "1.2"}, Conversation: "slack:T1:C1:1.2",
	Ann: core.Actor{ID: "slack:U1ANN", Name: "Ann"}, Bob: core.Actor{ID: "slack:U2BOB", Name: "Bob"}, Approvers: []string{"slack:U2BOB", "slack:S3OPS", "local"},
	Reply:  "Hello **you**\n\n> a quote\n\n```go\nx := m[k](\"<b>\")\n```\n\n[text](https://x.example) `a[i](b)`",
	Notice: "Stopped.\nNothing waits.", Hostile: hostile, HostileIDs: []string{"slack:S" + hostile, "slack:U" + hostile}, Ping: "<!channel>",
}

func TestEveryPostLooksAsItDid(t *testing.T) {
	for name, d := range samples.Posts() {
		t.Run(name, func(t *testing.T) { adaptertest.Golden(t, *update, name, drawAll(t, d)) })
	}
	adaptertest.Golden(t, *update, "modal-reason", reasonModal("sealed:value", *samples.Card(nil)))
	adaptertest.Golden(t, *update, "modal-arguments", argumentsModal(*samples.Card(samples.Huge)))
}

// hostile is what a model or a person may write to get at others.
const hostile = "begin <!channel> <!here> <!subteam^S1> <@U123> <#C1> @everyone @here <https://evil.example|safe> https://evil.example/?q=a&b " +
	"[safe](https://evil.example) ![x](https://evil.example/x.png) [safe][1] &lt;!channel&gt;\n\n[1]: https://evil.example\n" +
	"`open [safe](https://evil.example)\nand ` closed\n> `a|b` quote <@U1>\n~~~\n[safe](https://evil.example)\n~~~\n" +
	"\x1b[2J\x1b]8;;https://evil.example\x1b\\link \u009b31m \r\bover \u202etxt.exe\u202c \u2066x\u2069 \x00 ``` *_~` end"

// drawAll draws a delivery and holds it against Slack's limits.
func drawAll(t fataler, d core.Delivery) []message {
	t.Helper()
	all, err := testPainter.draw(d, "https://acme.slack.example/archives/C1/p12")
	if err != nil {
		t.Fatalf("draw: %v", err)
	}
	for _, m := range all {
		inspect(t, m.Text, m.Blocks, maxBlocks)
	}
	return all
}
