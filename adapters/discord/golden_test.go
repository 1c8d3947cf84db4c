package discord

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/core"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what is drawn with its file.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	goldenText(t, name+".json", b.Bytes())
}

func goldenText(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s has changed (-update rewrites it):\n%s", file, d)
	}
}

var testPainter = newPainter(func(fields ...string) string { return "sealed:" + strings.Join(fields, "|") })

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const testLink = "https://discord.com/channels/2000000000000000001/3000000000000000001"

func testCard(change func(*core.Card)) *core.Card {
	c := core.Card{
		Approval: "ap-1", State: core.Open, Tool: "note_add", Summary: "Add the note “buy milk”", Arguments: "{\n  \"text\": \"buy milk\"\n}",
		Requester: "Ann", Requested: core.Actor{ID: "discord:1001", Name: "Ann"}, Approvers: []string{"discord:1002", "discord:role:4001", "local"},
		Quorum: 1, CreatedAt: noon, Deadline: noon.Add(time.Hour), From: core.Address{Platform: Name, Channel: "3001", Thread: "5001"},
	}
	if change != nil {
		change(&c)
	}
	return &c
}

func TestEveryPostLooksAsItDid(t *testing.T) {
	decided := func(state core.ApprovalState, reason string) *core.Card {
		return testCard(func(c *core.Card) {
			c.State, c.Reason, c.DecidedAt = state, reason, noon.Add(time.Minute)
			c.Decided, c.DecidedBy = core.Actor{ID: "discord:1002", Name: "Bob"}, "Bob"
		})
	}
	huge := "{\n" + strings.Repeat("  \"some key\": \"a value of @everyone some length\",\n", 100) + "  \"last\": 1\n}"
	for name, d := range map[string]core.Delivery{
		"reply":           {Post: core.Post{Kind: core.PostReply, Text: "Words, `a[i](b)` and\n\n```go\nx := m[k](\"<b>\")\n```\nHello **you**\n\n> a quote\n\n[text](https://x.example) `a[i](b)`"}},
		"reply-late":      {Post: core.Post{Kind: core.PostReply, Text: "words"}, Late: true},
		"reply-empty":     {Post: core.Post{Kind: core.PostReply, Text: " \n"}},
		"reply-hostile":   {Post: core.Post{Kind: core.PostReply, Text: hostile}},
		"notice":          {Post: core.Post{Kind: core.PostNotice, Text: "Stopped.\nNothing waits. See https://x.example/a_b"}},
		"notice-hostile":  {Post: core.Post{Kind: core.PostNotice, Text: hostile}},
		"private":         {Post: core.Post{Kind: core.PostPrivate, Text: "You may not decide this.", Person: "discord:1002"}},
		"steps":           {Post: core.Post{Kind: core.PostSteps, Text: "calc · note_list ×2"}},
		"error-new":       errorOf(core.SessionTerminating, false),
		"error-again":     errorOf(core.RetryableTransient, false),
		"error-correct":   errorOf(core.UserCorrectable, false),
		"error-pressed":   errorOf(core.RetryableTransient, true),
		"card-open":       {Card: testCard(nil)},
		"card-late":       {Card: testCard(nil), Late: true},
		"card-dangerous":  {Card: testCard(func(c *core.Card) { c.Risk = core.Dangerous })},
		"card-huge":       {Card: testCard(func(c *core.Card) { c.Arguments = huge })},
		"card-changed":    {Card: testCard(func(c *core.Card) { c.Changed = "add cheese instead" })},
		"card-quorum":     {Card: testCard(func(c *core.Card) { c.Quorum, c.Votes = 2, 1 })},
		"card-copy":       {Post: core.Post{Copy: true}, Card: testCard(context6)},
		"card-hostile":    {Post: core.Post{Copy: true}, Card: hostileCard(core.Open)},
		"card-approved":   {Card: decided(core.Approved, "")},
		"card-refused":    {Card: decided(core.Refused, "not on a Sunday")},
		"card-expired":    {Card: testCard(func(c *core.Card) { c.State, c.DecidedAt = core.Expired, noon.Add(time.Hour) })},
		"card-cancelled":  {Card: decided(core.Cancelled, "the conversation was stopped")},
		"card-huge-ended": {Card: testCard(func(c *core.Card) { c.State, c.Arguments, c.DecidedBy = core.Approved, huge, "Bob" })},
	} {
		t.Run(name, func(t *testing.T) {
			if d.Card != nil {
				d.Kind = core.PostCard
			}
			golden(t, name, drawAll(t, d))
		})
	}
	golden(t, "modal-reason", reasonModal("sealed:value", *testCard(nil)))
	golden(t, "modal-confirm", confirmModal("sealed:value", *testCard(nil)))
	for name, c := range map[string]*core.Card{"arguments": testCard(nil), "arguments-huge": testCard(func(c *core.Card) { c.Arguments = huge })} {
		golden(t, name, readArguments(t, *c))
	}
}

func errorOf(b core.Bucket, pressed bool) core.Delivery {
	return core.Delivery{Post: core.Post{
		Kind: core.PostError, Text: "I had trouble responding. Press the button, or write again.", Bucket: b, Pressed: pressed, Event: 42,
		Conversation: "discord:2001:5001", To: core.Address{Platform: Name, Channel: "3001", Thread: "5001"},
	}}
}

func context6(c *core.Card) {
	c.Context = []core.Line{
		{Role: core.User, Text: "too long ago"},
		{Role: core.User, Text: "hello"}, {Role: core.Assistant, Text: "hello yourself"}, {Role: core.User, Text: strings.Repeat("many words ", 40)},
		{Role: core.Assistant, Text: "I\nsee"}, {Role: core.Assistant, Text: ""},
	}
}

// hostile is what a model or a person may write to get at others.
const hostile = "begin @everyone @here <@1002> <@!1002> <@&4001> <#3001> <:x:5> </ask:7> <https://evil.example> https://evil.example/?q=a&b " +
	"[safe](https://evil.example) [safe](<https://evil.example>) [safe][1] ||[safe](https://evil.example)||\n\n[1]: https://evil.example\n" +
	"`open [safe](https://evil.example)\nand ` closed\n> quote [safe](https://evil.example)\n# big\n-# small\n~~~\n[safe](https://evil.example)\n~~~\n" +
	"\x1b[2J\x1b]8;;https://evil.example\x1b\\link \u009b31m \r\bover \u202etxt.exe\u202c \u2066x\u2069 \x00 ``` *_~` end \\[safe](https://evil.example)"

func hostileCard(state core.ApprovalState) *core.Card {
	return testCard(func(c *core.Card) {
		c.State, c.Tool, c.Summary, c.Arguments, c.Requester, c.Requested = state, hostile, hostile, hostile, hostile, core.Actor{ID: hostile, Name: hostile}
		c.Approvers, c.Reason, c.Changed, c.DecidedBy, c.Decided = []string{hostile, "discord:role:" + hostile, "discord:" + hostile}, hostile, hostile, hostile, core.Actor{ID: "discord:" + hostile}
		c.Context, c.Risk = []core.Line{{Role: core.User, Text: hostile}}, core.Dangerous
	})
}

// fataler is a test of either kind.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// drawAll draws a delivery and holds it against Discord's limits.
func drawAll(t fataler, d core.Delivery) []drawn {
	t.Helper()
	all, err := testPainter.Draw(d, testLink)
	if err != nil {
		t.Fatalf("draw: %v", err)
	}
	for _, m := range all {
		inspect(t, m.outgoing())
	}
	return all
}

// shownArguments is what the button Show all arguments gives.
type shownArguments struct {
	Text string
	File string // its name
	Body string // of the file
}

func readArguments(t fataler, c core.Card) shownArguments {
	t.Helper()
	r := allArguments(c)
	data, _ := r.Data.(map[string]any)
	text, _ := data["content"].(string)
	shown := shownArguments{Text: text}
	inspect(t, drawn{Text: text}.outgoing())
	for _, f := range r.files {
		body, err := io.ReadAll(f.Reader)
		if err != nil || shown.File != "" {
			t.Fatalf("another file, or %v", err)
		}
		shown.File, shown.Body = f.Name, string(body)
	}
	return shown
}
