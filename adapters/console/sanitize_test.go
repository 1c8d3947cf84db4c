package console_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/console"
	"gatehouse/core"
)

func TestLaw8_SanitizedTextHasNoControlSequences(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\nünï 你好 👩‍💻": "plain\ttext\nünï 你好 👩‍💻",
		"\x1b[31mred\x1b[0m":      "[31mred[0m",
		"\x1b]0;title\x07x":       "]0;titlex",
		"\u009b31mred":            "31mred",
		"a\r\nb\rc":               "a\nb\nc",
		"a\u2028b":                "a\nb",
		"back\b\b\bspace\x7f":     "backspace",
		"\u202egnp.exe\u2069":     "<U+202E>gnp.exe<U+2069>",
		"\U000e0041":              "<U+E0041>",
		"\xff\x9b31m":             "\ufffd\ufffd31m",
		"a\x00b":                  "ab",
	} {
		if got := console.Sanitize(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[2J\u202e\r\n\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := console.Sanitize(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
		if a := sideEffects("bot> " + strings.ReplaceAll(got, "\n", "\n     ")); len(a) > 0 {
			t.Errorf("%q has side effects: %v", got, a)
		}
		if again := console.Sanitize(got); again != got {
			t.Errorf("sanitized twice, %q becomes %q", got, again)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, p := range []string{
		`{"text":"hi","more":1}`, `{"approval":"a","choice":"deny","reason":"no"}`, `{"text":null}`, `[`, ``,
	} {
		f.Add(p, true)
		f.Add(p, false)
	}
	c := console.New(console.Options{MaxMessage: 1000})
	f.Fuzz(func(t *testing.T, payload string, message bool) {
		e := core.Event{Platform: "console", Body: core.ClickEvent{Approval: "a"}, Payload: []byte(payload)}
		in, err := c.Parse(t.Context(), e)
		click, fault := c.OldClick(e)
		if !message {
			err = fault
		}
		switch {
		case err != nil:
			if core.MessageOf(err) == "" || core.BucketOf(core.CategoryOf(err)) != core.UserCorrectable {
				t.Errorf("%q gave %v", payload, err)
			}
		case message && (in.Message == nil || in.Message.Validate() != nil || in.Message.Role != core.User):
			t.Errorf("%q gave the message %+v", payload, in.Message)
		case !message && (click.Approval != "a" || click.Choice == ""):
			t.Errorf("%q gave the click %+v", payload, click)
		}
	})
}

// TestStoredDecisionsAreRead: decisions of an earlier gatehouse, as it stored them.
func TestStoredDecisionsAreRead(t *testing.T) {
	adaptertest.StoredClicks(t, console.New(console.Options{}), "testdata/stored.json")
}

func TestParseRefuses(t *testing.T) {
	c := console.New(console.Options{MaxMessage: 100})
	for _, tc := range []struct {
		kind    core.Kind
		payload string
		want    core.Category
	}{
		{core.KindMessage, `{"text":""}`, core.ChatMessageShapeInvalid},
		{core.KindMessage, `{"text":"a","text":"b"}`, core.ChatMessageShapeInvalid},
		{core.KindMessage, `{"text":["a"]}`, core.ChatMessageShapeInvalid},
		{core.KindMessage, `{"text":"` + strings.Repeat("x", 100) + `"}`, core.MessageTooLarge},
		{core.KindClick, `{"approval":"other","choice":"approve","edits":"1"}`, core.Invalid},
		{core.KindClick, `{"approval":"a1","edits":"1"}`, core.Invalid},
		{core.KindClick, `{"approval":"a1","choice":"deny","edits":"x"}`, core.Invalid},
		{core.KindClick, `{"approval":"a1","choice":"deny","edits":"1","reason":7}`, core.Invalid},
	} {
		e := core.Event{Body: core.BodyOf(tc.kind, "a1"), Payload: []byte(tc.payload)}
		_, err := c.Parse(t.Context(), e)
		if tc.kind == core.KindClick {
			_, err = c.OldClick(e)
		}
		if got := core.CategoryOf(err); got != tc.want {
			t.Errorf("%s %s: got %v, want %s", tc.kind, tc.payload, err, tc.want)
		}
	}
}
