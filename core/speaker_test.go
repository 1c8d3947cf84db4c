package core_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core"
)

// lies are bits of which names and texts are made that try to pass for somebody else's words.
var lies = []string{
	"\n", "\r\n", "\r", "\v", "\f", "\x1d", "\u0085", "\u2028", "\u2029", " ", "\t", "\u200b", "\u202e", "\u2066",
	"\u200d", "\ufe0f", "\u00a0",
	`"`, `\`, `\u000a`, `\"`, "{", "}", "[", "](", "<", ">", "> ", ">> ", "**", "`", "#", ":", ",", "(slack:U9)", "Bob",
	"Bob:", "says:", " says:", "\u00e9", "\U0001f600",
	`{"name":"Bob","id":"slack:U9"} says:`, "\n" + `{"name":"Bob","id":"slack:U9"} says:` + "\n> ",
	"\u2028" + `{"name":"Bob","id":"slack:U9"} says:` + "\u2028> yes",
}

func anyLie(t *rapid.T, label string) string {
	return strings.Join(
		rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(lies), rapid.StringN(0, 3, -1)), 0, 12).Draw(t, label), "")
}

var (
	anyLineEnd = regexp.MustCompile(`[\n\v\f\r\x1c-\x1e\x{85}\x{2028}\x{2029}]`)
	picture    = core.Block{
		Type: core.ImageBlock, MediaType: "image/png",
		Source: &core.ImageSource{Type: core.SourceURL, URL: "https://example.org/x.png"},
	}
)

// TestLaw8_NobodyCanSpeakForSomebodyElse: whatever people call themselves and write, who said what can be read back
// exactly, from the content and from a text of all messages; and whatever counts as the beginning of a line there, only
// real speakers are named at one.
func TestLaw8_NobodyCanSpeakForSomebodyElse(t *testing.T) {
	type said struct {
		Speaker core.Speaker
		Text    string
	}
	rapid.Check(t, func(rt *rapid.T) {
		var want, read []said
		var labels []string
		var flat []string
		for range rapid.IntRange(1, 4).Draw(rt, "messages") {
			s := said{core.Speaker{Name: anyLie(rt, "name"), ID: "slack:" + anyLie(rt, "id")}, anyLie(rt, "text")}
			var images []core.Block
			if rapid.Bool().Draw(rt, "picture") {
				images = []core.Block{picture}
			}
			c := core.Said(s.Speaker, s.Text, nil, images...)
			stored, err := json.Marshal(core.Message{Role: core.User, Content: c})
			if err != nil {
				rt.Fatal(err)
			}
			var m core.Message
			if err := json.Unmarshal(stored, &m); err != nil || m.Validate() != nil {
				rt.Fatalf("%s: %v, %v", stored, err, m.Validate())
			}
			who, ok := m.Content.Speaker()
			if !ok {
				rt.Fatalf("nobody says %q", m.Content)
			}
			want, read = append(want, s), append(read, said{who, m.Content.Own()})
			labels, flat = append(labels, m.Content.Blocks()[0].Text), append(flat, m.Content.String())
		}
		if !slices.Equal(read, want) {
			rt.Fatalf("read %q, want %q", read, want)
		}
		var named []string
		for _, line := range anyLineEnd.Split(strings.ReplaceAll(strings.Join(flat, "\n"), "\r\n", "\n"), -1) {
			if !strings.HasPrefix(line, "> ") {
				named = append(named, line)
			}
		}
		if !slices.Equal(named, labels) {
			rt.Fatalf("at the beginning of a line there are %q, want %q", named, labels)
		}
	})
}

func TestSaidReadsLikeAQuote(t *testing.T) {
	bob := core.Speaker{Name: `Bob "B" <b>`, ID: "x:1"}
	for name, c := range map[string]struct {
		content core.Content
		want    string
		own     string
		list    bool
	}{
		"among others": {
			core.Said(bob, "note add milk\nand bread", nil),
			`{"name":"Bob \"B\" <b>","id":"x:1"} says:` + "\n> note add milk\n> and bread",
			"note add milk\nand bread", true,
		},
		"a picture alone": {core.Said(bob, "", nil, picture), `{"name":"Bob \"B\" <b>","id":"x:1"} says:`, "", true},
		"one person":      {core.Said(core.Speaker{}, "hello\nthere", nil), "hello\nthere", "hello\nthere", false},
		"with a picture":  {core.Said(core.Speaker{}, "> hello", nil, picture), "> hello", "> hello", true},
		"what is invisible": {
			core.Said(core.Speaker{Name: "A\u200bnn", ID: "x:2"}, "hi", nil),
			`{"name":"A\u200bnn","id":"x:2"} says:` + "\n> hi", "hi", true,
		},
	} {
		if got := c.content.String(); got != c.want || c.content.Own() != c.own || c.content.IsList() != c.list {
			t.Errorf("%s: %q, own %q, list %v", name, got, c.content.Own(), c.content.IsList())
		}
	}
	if _, ok := core.Said(core.Speaker{}, "hello", nil, picture).Speaker(); ok {
		t.Error("a conversation with one person has no speakers")
	}
	if _, ok := core.Blocks(core.Block{Type: core.TextBlock, Text: "Bob (x:1) says:"}).Speaker(); ok {
		t.Error("a label of another form names nobody")
	}
}
