package doc_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/internal/doc"
)

// TestRowsKeepTheirCells: a bar within code ends no cell, and no cell beyond the head's is dropped.
func TestRowsKeepTheirCells(t *testing.T) {
	blocks := doc.Parse("| a | b |\n|---|---|\n| `x|y` | c | d |\n| \\| | `` e`|f `` |\n")
	var rows []string
	for _, row := range blocks[0].Rows {
		var cells []string
		for _, cell := range row {
			text := ""
			for _, s := range cell {
				text += s.Text
			}
			cells = append(cells, text)
		}
		rows = append(rows, strings.Join(cells, " / "))
	}
	if got, want := strings.Join(rows, "\n"), "a / b\nx|y / c / d\n| / e`|f"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// seen is a reply as people read it, without marks.
func seen(markdown string) string { return doc.Text(doc.Parse(markdown), false) }

// TestFormulasAreSeenAsTheyWereTyped, and backslashes before what is no markup. Code is code, wherever it stands.
func TestFormulasAreSeenAsTheyWereTyped(t *testing.T) {
	for _, text := range []string{
		`With \(x^2\), \[f(x^*) = g(y^*)\] and $\mathbf{x}_{i} + \mathbf{y}_{j}$.`, `$$a_1 \{b\} \\ c$$`,
		"\\[\nx = \\frac{-b \\pm \\sqrt{b^2}}{2a} \\\\\n\\{a\\}_{i} \\& \\{b\\}_{j}\n\\]",
		"$$\n\\vec{a}_{i} * b * c\n$$", "> \\(a_\n> b_ \\\\ c\\)",
		"\\[\n\na \\quad b\n\n\\]", `C:\Users\(me)\%TEMP%, \(`, `\{1, 2\} \, \;`,
	} {
		want := strings.TrimPrefix(text, "> ")
		if got := strings.ReplaceAll(seen(text), "\n> ", "\n"); strings.TrimPrefix(got,
			"> ") != strings.ReplaceAll(want, "\n> ", "\n") {
			t.Errorf("%s\nis seen as\n%s", text, got)
		}
	}
	for text, want := range map[string]string{
		`\*a\* 1\. \_b\_ \# \\ \$5 \[c](d)`: `*a* 1. _b_ # \ $5 [c](d)`,
		"$5 or *$6* or **$7**, $A *and* $B": "$5 or $6 or $7, $A and $B", "\\(a `b*` c\\)": "\\(a b* c\\)",
		"$$a *b*": "$$a b",
	} {
		if got := seen(text); got != want {
			t.Errorf("%s is seen as %s, want %s", text, got, want)
		}
	}
}

// TestNothingBeginsWithinAFormula: no list, heading, quotation, rule or paragraph.
func TestNothingBeginsWithinAFormula(t *testing.T) {
	for _, text := range []string{
		"\\[\na\n- b\n+ c\n= d\n\\]", "So \\[\na\n=\nb\n---\n# c\n> d\n1. e\n* f\n\\] ends.", "\\(a_1\n- b_2\n= c\\)",
		"\\[\n\na_1 * b_2 * c\n\n- d\n\n\\]", "x \\[\n\na_1 * b_2 * c\n\\]\nand so on", "**x** \\(1\n* 2\n* 3\\)",
	} {
		want := strings.ReplaceAll(text, "**", "")
		if got := seen(text); got != want {
			t.Errorf("%s\nis seen as\n%s", text, got)
		}
	}
	for text, want := range map[string]string{
		"\\[ a\n- b":                        "\\[ a\n- b",
		"see \\(x\n\n- b\\)":                "see \\(x\n- b\\)",
		"- \\(a\n- *b*":                     "- \\(a\n- b",
		"\\[ a \\]\n- b *c*":                "\\[ a \\]\n- b c",
		"\\[ a\n```\n- \\]\n```":            "\\[ a\n- \\]",
		"\\[ a\n\n# b\n\nno end, *but* \\(": "\\[ a\n\nb\nno end, but \\(",
	} {
		if got := seen(text); got != want {
			t.Errorf("%q is seen as %q, want %q", text, got, want)
		}
	}
}

// TestTablesHaveFormulas of one line each.
func TestTablesHaveFormulas(t *testing.T) {
	for _, text := range []string{
		"| \\(x\\) | b |\n|---|---|\n| \\(y_1\\) | \\[z_2\\] |", "See \\(x\\)\n| a | b |\n|---|---|\n| \\(y\\) | 2 |",
	} {
		blocks := doc.Parse(text)
		if last := blocks[len(blocks)-1]; last.Kind != doc.Table || !strings.HasPrefix(last.Rows[1][0][0].Text, `\(y`) {
			t.Errorf("%s is %+v", text, blocks)
		}
	}
}

func TestTasksAreMarkedAndLinksAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"- [ ] a\n- [x] b\n1. [X] c": "- ☐ a\n- ☑ b\n\n1. ☑ c", "- [ ]\n- [x]\n  b": "- ☐\n- ☑\n  b",
		"- [x](https://x.example)\n- [x]y": "- x (https://x.example)\n- [x]y",
		"- **[ ] a**\n- `[ ] b`":           "- [ ] a\n- [ ] b", "[ ] a": "[ ] a",
	} {
		if got := seen(text); got != want {
			t.Errorf("%q is seen as %q, want %q", text, got, want)
		}
	}
}

// TestManySignsInOneParagraph: what is more than the parser looks at is text, and nothing else changes.
func TestManySignsInOneParagraph(t *testing.T) {
	text := "**a**\n\n" + strings.Repeat("*a_ ", 10_000) + "\n\n```\nx*\n```"
	blocks := doc.Parse(text)
	if len(blocks) != 3 || blocks[0].Spans[0].Style != doc.Bold || blocks[2].Code != "x*\n" ||
		len(blocks[1].Spans[0].Text) != 39_999 {
		t.Errorf("%d blocks: %.80q", len(blocks), seen(text))
	}
}

func TestCodeBehindItsFenceIsCode(t *testing.T) {
	for text, want := range map[string]string{
		"``` rm -f *.log\n```\nend": "rm -f *.log", "~~~sh make all\n~~~\nend": "sh make all", "```sh\n```\nend": "",
		"```sh a=b\nmake\n```\nend": "make\n",
	} {
		if got := doc.Text(doc.Literal(text), true); !strings.HasSuffix(got, "end") {
			t.Errorf("%q is literally %q", text, got)
		}
		code := ""
		for _, b := range doc.Parse(text) {
			code += b.Code
		}
		if code != want {
			t.Errorf("%q has the code %q, want %q", text, code, want)
		}
	}
}

func TestLineEndsInCodeAreSpaces(t *testing.T) {
	for text, want := range map[string]string{
		"`a\nb`": "a b", "> `a\n> b` c": "> a b c", "- ``a`\n  b`` c": "- a` b c", "`\ta`\nb": "\ta\nb",
	} {
		if got := seen(text); got != want {
			t.Errorf("%q is seen as %q, want %q", text, got, want)
		}
	}
}
