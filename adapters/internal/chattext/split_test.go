package chattext

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSplitChoosesGoodPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		limit int
		want  []string
	}{
		"empty":      {"", 40, nil},
		"blank":      {" \r\n\t\n\u00a0", 40, nil},
		"short":      {"hello", 40, []string{"hello"}},
		"paragraphs": {"first paragraph, of some words\n\nsecond paragraph", 40, []string{"first paragraph, of some words", "second paragraph"}},
		"lines":      {"a first line of some words\na second line of some words", 40, []string{"a first line of some words", "a second line of some words"}},
		"words":      {"one two three four five six seven eight nine ten", 40, []string{"one two three four five six seven eight", "nine ten"}},
		"characters": {strings.Repeat("x", 90), 40, []string{strings.Repeat("x", 40), strings.Repeat("x", 40), strings.Repeat("x", 10)}},
		"pairs":      {strings.Repeat("😀", 30), 40, []string{strings.Repeat("😀", 20), strings.Repeat("😀", 10)}},
		"families":   {strings.Repeat("x", 30) + strings.Repeat("👩‍👩‍👧", 2), 41, []string{strings.Repeat("x", 30) + "👩‍👩‍👧", "👩‍👩‍👧"}},
		"entity":     {strings.Repeat("x", 38) + "&lt;&gt;", 40, []string{strings.Repeat("x", 38), "&lt;&gt;"}},
		"code": {"words\n```go\nfunc main() {\n\tprintln(1)\n\tprintln(2)\n}\n```\nmore", 40, []string{
			"words\n```go\nfunc main() {\n```", "```go\n\tprintln(1)\n\tprintln(2)\n}\n```\nmore",
		}},
		"code left open": {"```\ncode", 40, []string{"```\ncode\n```"}},
		"long code line": {"~~~~\n" + strings.Repeat("y", 50) + "\n~~~~\nend", 40, []string{
			"~~~~\n" + strings.Repeat("y", 30) + "\n~~~~", "~~~~\n" + strings.Repeat("y", 20) + "\n~~~~\nend",
		}},
		"code in a list": {"1. do this:\n   ```sh\n   make all the things\n     now and here\n   ```\n   then rest", 52, []string{
			"1. do this:\n   ```sh\n   make all the things\n   ```", "```sh\n  now and here\n```\nthen rest",
		}},
		"code in a quote": {"> ```\n> some code in a quote\n> more code in a quote\n> ```", 40, []string{
			"> ```\n> some code in a quote\n> ```", "> ```\n> more code in a quote\n> ```",
		}},
		"long quote": {"> " + strings.Repeat("word ", 12), 40, []string{"> word word word word word word word", "> word word word word word"}},
		"table": {"| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |", 40, []string{
			"| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "| a | b |\n|---|---|\n| 5 | 6 |",
		}},
		"items":   {"- one item of a list\n- another item\n  with a second line\n- last", 40, []string{"- one item of a list", "- another item\n  with a second line", "- last"}},
		"heading": {"some words to begin with here\n\n# Heading\n\ntext under it", 44, []string{"some words to begin with here", "# Heading\n\ntext under it"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Split(c.text, c.limit)
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// squeeze removes white space from a text.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// checkSplit checks a split against the contract of Split.
func checkSplit(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string, limit int) {
	t.Helper()
	pieces, parts := split(text, limit), Split(text, limit)
	var kept strings.Builder
	for i, p := range parts {
		kept.WriteString(squeeze(pieces[i].text))
		if n := len(utf16.Encode([]rune(p))); n > max(limit, minLimit) {
			t.Fatalf("part %d of %q has %d units, the limit is %d: %q", i, text, n, limit, p)
		}
		if strings.TrimSpace(p) == "" {
			t.Fatalf("part %d of %q is blank", i, text)
		}
		if utf8.ValidString(text) && !utf8.ValidString(p) {
			t.Fatalf("part %d of %q is not UTF-8: %q", i, text, p)
		}
		f := Fences{longest: max(limit, minLimit) / 4}
		for _, line := range strings.SplitAfter(p, "\n") {
			f.Next(line)
		}
		if f.open {
			t.Fatalf("part %d of %q, limit %d, has an open code block at its end: %q", i, text, limit, p)
		}
	}
	if kept.String() != squeeze(text) {
		t.Fatalf("limit %d: the text\n%q\nbecame\n%q\nin %q", limit, text, kept.String(), parts)
	}
}

// markdown makes random Markdown from parts that are hard to split.
func markdown(pick func(n int) int) string {
	words := []string{
		"word ", "a", "😀", "👩‍👩‍👧", "e\u0301", "&lt;", "&amp;", "`code`", "``", "```", "~~~", "````", "`", "~", "\\", "**bold**", "[x](y)", "🇩🇪",
		strings.Repeat("long", 20), strings.Repeat("x ", 40), "|", " | ", "#", "> ", "\t", "  ", "\u00a0", "\x00", "\xff", "]", "(",
	}
	starts := []string{
		"", "", "", "- ", "* ", "1. ", "10) ", "  - ", "    - ", "> ", ">> ", "> - ", "- > ", "   ", "    ", "      ", "\t", "# ", "## ", "| a | b |\n|---|---|\n| ", "| ", "|---|",
	}
	fences := []string{"```", "```go", "~~~", "````md", "`````", "~~~~ text", "```a b c d e f g h i j k l m n o p", "``````````````````````````````"}
	ends := []string{"\n", "\n", "\n", "\n\n", "\r\n", "\r\n\r\n", ""}
	var b strings.Builder
	for range pick(30) {
		b.WriteString(starts[pick(len(starts))])
		if pick(3) == 0 {
			b.WriteString(fences[pick(len(fences))])
		} else {
			for range pick(6) {
				b.WriteString(words[pick(len(words))])
			}
		}
		b.WriteString(ends[pick(len(ends))])
	}
	return b.String()
}

func TestSplitLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := markdown(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") })
		checkSplit(t, text, rapid.SampledFrom([]int{0, 32, 33, 40, 64, 100, 200, 2000}).Draw(t, "limit"))
	})
}

func TestSplitLosesNothingOfLongTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		checkSplit(t, markdown(r.IntN), 32+r.IntN(120))
	}
}

// White space that is longer than a part, in the text or in a code block, is handled like other text.
func TestSplitGetsPastLongWhiteSpace(t *testing.T) {
	for _, blank := range []string{" ", "\f", "\t", "\u00a0"} {
		for _, n := range []int{20, 31, 32, 33, 100, 131, 132, 1000} {
			long := strings.Repeat(blank, n)
			for _, text := range []string{"g" + long + "x", "g" + long + "\nx", "g" + long, "> g" + long + "\n> x", "- g" + long + "\n  x", long + "x"} {
				for _, around := range []string{"%s", "`````\n%s", "```go\n%s\n```\nend", "| a | b |\n|---|---|\n| %s |"} {
					checkSplit(t, strings.Replace(around, "%s", text, 1), 32)
				}
			}
		}
	}
}

func FuzzSplit(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add(markdown(r.IntN), 40)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		checkSplit(t, text, max(0, limit%5000))
	})
}
