package slack

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/adapters/internal/chat"
)

func TestNeutral(t *testing.T) {
	for in, want := range map[string]string{
		"a < b > c":                          "a &lt; b &gt; c",
		"> quote > more":                     "> quote &gt; more",
		"> > two\n  >three":                  "> > two\n  >three",
		"    > four":                         "    &gt; four",
		"x &lt;!here&gt; a&b":                "x &lt;!here&gt; a&b",
		"[t](https://x)":                     "[t] (https://x)",
		"![t](https://x)":                    "![t] (https://x)",
		"[t][r]\n\n[r]: https://x":           "[t] [r]\n\n[r] : https://x",
		"see https://x.example/?a=1&b=[2]":   "see https://x.example/?a=1&b=[2]",
		"@here @Channel, x@everyone @herr":   "@\u2060here @\u2060Channel, x@\u2060everyone @herr",
		"`a[i](b)` and ``c[d][e]``":          "`a[i](b)` and ``c[d][e]``",
		"`@here <T>`":                        "`@here &lt;T&gt;`",
		"`a` [t](u) `b`":                     "`a` [t] (u) `b`",
		"a ` b\n`[t](u)` c":                  "a ` b\n`[t] (u)` c",
		"a ` b\n\n`[t](u)` c":                "a ` b\n\n`[t](u)` c",
		"\\`[t](u)`":                         "\\`[t] (u)`",
		"| `a | [t](u)` |":                   "| `a | [t] (u)` |",
		"[c`](u)`":                           "[c`] (u)`",
		"```\na[i](b) <x> @here\n```":        "```\na[i](b) &lt;x&gt; @here\n```",
		"```\na\n```\n[t](u)":                "```\na\n```\n[t] (u)",
		"~~~\n[t](u)\n~~~":                   "~~~\n[t] (u)\n~~~",
		"````\n```\n[t](u)\n````":            "````\n```\n[t] (u)\n````",
		"- x\n  ```\n  [t](u)\n  ```":        "- x\n  ```\n  [t] (u)\n  ```",
		"> ```\n> [t](u)\n> ```":             "> ```\n> [t] (u)\n> ```",
		"- foo\nbar\n  ```\n[t](u)\n  ```":   "- foo\nbar\n  ```\n[t] (u)\n  ```",
		"~~~\n```\n~~~\n[t](u)\n```\n[t](u)": "~~~\n```\n~~~\n[t] (u)\n```\n[t](u)",
	} {
		if got := neutral(in, true); got != want {
			t.Errorf("%q became\n%q, want\n%q", in, got, want)
		}
	}
}

func TestNeutralIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := chat.Clean(anyText(t, "text"))
		for _, spare := range []bool{true, false} {
			once := neutral(text, spare)
			if twice := neutral(once, spare); twice != once {
				t.Fatalf("spare %v: %q became\n%q and then\n%q", spare, text, once, twice)
			}
		}
		if all := neutral(text, false); strings.Contains(all, "](") || strings.Contains(all, "][") || strings.Contains(all, "]:") {
			t.Fatalf("%q became %q", text, all)
		}
	})
}

// Code that is too long for one message is cut, and the text after the cut is no longer code.
func TestCuttingCodeMakesNoLink(t *testing.T) {
	for _, text := range []string{
		"`" + strings.Repeat("x ", maxMarkdown/2) + "[safe](https://evil.example)`",
		"`" + strings.Repeat("x", maxMarkdown) + "[safe](https://evil.example)`",
		"```" + strings.Repeat("`", 6000) + "\n" + strings.Repeat("[safe](https://evil.example)\n", 500),
		"```" + strings.Repeat("x", 12_000) + "\n[safe](https://evil.example)\n```",
		"```\n" + strings.Repeat("x", 12_000) + "``` [safe](https://evil.example)\n```\n",
	} {
		for i, p := range markdown(text) {
			if neutral(p, true) != p {
				t.Errorf("part %d of %.20q…: %.300q", i, text, p)
			}
		}
	}
}

func TestEachPartHasOneTableAtMost(t *testing.T) {
	const first, second = "| a | b |\n|---|:-:|\n| 1 | 2 |\n", "c | d\n--|--\n3 | 4\n"
	for text, want := range map[string][]string{
		first: {first},
		"A:\n\n" + first + "\n## B\n\n" + second + "end": {"A:\n\n" + first, "\n## B\n\n" + second + "end"},
		first + "\n" + second + "\n" + first:             {first, "\n" + second, "\n" + first},
		"```\n" + first + "```\n" + first:                {"```\n" + first + "```\n" + first},
		first + "\n```\n" + second + "```\n":             {first + "\n```\n" + second + "```\n"},
		"> | a |\n> |---|\n\n" + second:                  {"> | a |\n> |---|\n", "\n" + second},
		first + second:                                   {first + second}, // one table with odd rows
		"a | b\n\n---\n\n- | -\n":                        {"a | b\n\n---\n\n- | -\n"},
		"":                                               {""},
	} {
		if got := perTable(text); !slices.Equal(got, want) {
			t.Errorf("%q became\n%q, want\n%q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"| a |", "|---|", "", "text", "```", "> | a |", "> |---|", "- x", "  | a |", "  |---|"})).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		pieces := perTable(text)
		if got := strings.Join(pieces, ""); got != text {
			t.Fatalf("%q became %q", text, pieces)
		}
		for _, p := range pieces {
			if len(perTable(p)) != 1 {
				t.Fatalf("%q of %q has two tables", p, text)
			}
		}
	})
}
