package console_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/console"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

var fence = regexp.MustCompile("^(`{3,})[A-Za-z0-9_+#.-]*$")

// letters are those of a text: what is not a mark.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, text)
}

// readPrinted reads a reply from what the terminal shows: letters, code, letters and so on.
func readPrinted(t fataler, printed string) (all []string) {
	t.Helper()
	words, code, open := "", "", ""
	for i, line := range strings.Split(strings.TrimSuffix(printed, "\n"), "\n") {
		frame := "     "
		if i == 0 {
			frame = "bot> "
		}
		if !strings.HasPrefix(line, frame) {
			t.Fatalf("the line %q is outside of the frame: %q", line, printed)
		}
		line = line[len(frame):]
		switch m := fence.FindStringSubmatch(line); {
		case open == "" && m != nil:
			all, words, open, code = append(all, words), "", m[1], ""
		case open != "" && line == open:
			all, open = append(all, code), ""
		case open != "":
			code += line + "\n"
		default:
			words += letters(line)
		}
	}
	return append(all, words)
}

type fataler interface {
	Context() context.Context
	Helper()
	Fatalf(string, ...any)
}

func checkPrinted(t fataler, text string) {
	t.Helper()
	var out strings.Builder
	c := console.New(console.Options{In: strings.NewReader(""), Out: &out})
	if _, _, err := c.Post(context.Background(),
		core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}}); err != nil {
		t.Fatalf("%v", err)
	}
	want, words := []string(nil), ""
	for _, leaf := range adaptertest.Leaves(doc.TextForms.Drawable(doc.Parse(console.Sanitize(text)))) {
		if leaf.Kind == adaptertest.Code {
			want, words = append(want, words, leaf.Text), ""
			continue
		}
		words += letters(leaf.Text)
	}
	want = append(want, words)
	got := readPrinted(t, out.String())
	if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
		t.Fatalf("%q is printed as\n%s\n%q, want\n%q", text, out.String(), got, want)
	}
}

// TestRepliesAreReadBack: whatever a model writes, all of it is on the terminal, in its frame, and code is as it was.
func TestRepliesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkPrinted(t, adaptertest.AnyMarkdown(t)) })
}

func TestAnswersFromTheField(t *testing.T) {
	adaptertest.FieldAnswers(t, func(t *testing.T, text string) { checkPrinted(t, text) })
}

func TestRepliesOnTheTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"# A\n\nSome **b** and *c* &lt;\n" +
			"1. run:\n   ```sh\n   ls [a-z]*\n   ```\n2. see [docs](https://x.example)": "bot> # A\n" +
			"     Some **b** and *c* &lt;\n     1. run:\n     \n     ```sh\n     ls [a-z]*\n     ```\n     \n     2. " +
			"see docs (https://x.example)\n",
		"| a | b |\n|--|--:|\n| `x` | 1 |\n\n> q\n\n---": "bot> a | b\n     --|--\n     x | 1\n     \n     > q\n     " +
			"\n     ---\n",
		"y\napproval> approve? \x1b[2J\u202e": "bot> y\n     approval> approve? [2J<U+202E>\n",
	} {
		var out strings.Builder
		c := console.New(console.Options{In: strings.NewReader(""), Out: &out})
		if _, _, err := c.Post(t.Context(),
			core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%q is printed as\n%s\n%q, want\n%q", text, out.String(), out.String(), want)
		}
	}
}
