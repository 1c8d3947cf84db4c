package doc_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/safetext"
)

// within returns what fits a limit of characters.
func within(limit int) func([]doc.Block) bool {
	return func(blocks []doc.Block) bool { return safetext.Units(doc.Text(blocks, true)) <= limit }
}

func split(markdown string, limit int) (parts []string) {
	for _, part := range doc.Split(doc.Parse(markdown), within(limit)) {
		parts = append(parts, doc.Text(part, true))
	}
	return parts
}

func TestSplitChoosesGoodPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"empty": {"", nil},
		"blank": {" \r\n\t\n\u00a0", nil},
		"short": {"hello", []string{"hello"}},
		"paragraphs": {
			"first paragraph, of some words\n\nsecond paragraph",
			[]string{"first paragraph, of some words", "second paragraph"},
		},
		"lines": {
			"a first line of some words\na second line of some words",
			[]string{"a first line of some words", "a second line of some words"},
		},
		"words": {
			"one two three four five six seven eight nine ten",
			[]string{"one two three four five six seven eight", "nine ten"},
		},
		"characters": {
			strings.Repeat("x", 90),
			[]string{strings.Repeat("x", 40), strings.Repeat("x", 40), strings.Repeat("x", 10)},
		},
		"pairs": {strings.Repeat("😀", 30), []string{strings.Repeat("😀", 20), strings.Repeat("😀", 10)}},
		"families": {
			strings.Repeat("x", 31) + strings.Repeat("👩‍👩‍👧", 2), []string{strings.Repeat("x", 31) + "👩‍👩‍👧", "👩‍👩‍👧"},
		},
		"code": {"words\n```go\nfunc main() {\n\tprintln(1)\n\tprintln(2)\n}\n```\nmore", []string{
			"words\n```go\nfunc main() {\n```", "```go\n\tprintln(1)\n\tprintln(2)\n}\n```", "more",
		}},
		"long code line": {"~~~~\n" + strings.Repeat("y", 50) + "\n~~~~\nend", []string{
			"```\n" + strings.Repeat("y", 32) + "\n```", "```\n" + strings.Repeat("y", 18) + "\n```\n\nend",
		}},
		"code in a list": {"1. do this:\n   ```sh\n   make all the things\n     now and here\n   ```\n   then " +
			"rest\n2. more", []string{
			"1. do this:", "```sh\nmake all the things\n```", "```sh\n  now and here\n```\n\nthen rest", "2. more",
		}},
		"long quote": {
			"> " + strings.Repeat("word ", 12),
			[]string{"> word word word word word word word", "> word word word word word"},
		},
		"table": {"| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n| 7 | 8 |\n| 9 | 0 |\n|10 | 1 |", []string{
			"a | b\n--|--\n1 | 2\n3 | 4\n5 | 6\n7 | 8", "a  | b\n---|--\n9  | 0\n10 | 1",
		}},
		"items": {
			"3. one item of a list\n4. another item\n   with a second line\n5. last",
			[]string{"3. one item of a list", "4. another item\n   with a second line", "5. last"},
		},
		"heading": {
			"some words to begin with here\n\n# Heading\n\ntext under it",
			[]string{"some words to begin with here", "# Heading\ntext under it"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := split(c.text, 40)
			if strings.Join(got, "\n~~\n") != strings.Join(c.want, "\n~~\n") {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestNoPartOfCodeIsBlank: neither blank lines at its end nor at its beginning are a message of their own.
func TestNoPartOfCodeIsBlank(t *testing.T) {
	for _, text := range []string{
		"```\n" + strings.Repeat("y", 28) + "\nx\n\n```\nend", "```\n\n\n\n" + strings.Repeat("y", 50) + "\n```",
	} {
		for i, part := range doc.Split(doc.Parse(text), within(40)) {
			if strings.TrimSpace(doc.Text(part, false)) == "" {
				t.Errorf("part %d of %q is blank", i, text)
			}
		}
	}
}

// leavesOf are the leaves of blocks, where what a cut has divided is joined, and words have no white space.
func leavesOf(parts ...[]doc.Block) []adaptertest.Leaf {
	var all []adaptertest.Leaf
	for _, part := range parts {
		all = append(all, adaptertest.Leaves(marked(part))...)
	}
	all = adaptertest.Joined(all)
	for i := range all {
		all[i].Text = strings.ReplaceAll(all[i].Text, noLineEnd+"\n", "")
	}
	return all
}

// noLineEnd marks code that ends within a line, where a leaf has a line end.
const noLineEnd = "\x00"

// marked are blocks whose code has noLineEnd where it ends within a line.
func marked(blocks []doc.Block) (all []doc.Block) {
	for _, b := range blocks {
		if b.Kind == doc.CodeBlock && !strings.HasSuffix(b.Code, "\n") {
			b.Code += noLineEnd
		}
		items := b.Items
		b.Items = nil
		for _, item := range items {
			b.Items = append(b.Items, marked(item))
		}
		all = append(all, b)
	}
	return all
}

func TestSplitLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := adaptertest.AnyMarkdown(t)
		limit := rapid.SampledFrom([]int{60, 61, 64, 100, 200, 2000}).Draw(t, "limit")
		blocks := doc.Parse(text)
		want := leavesOf(blocks)
		for _, table := range adaptertest.Tables(blocks) {
			for _, row := range table.Rows[1:] {
				if table.Rows = [][]doc.Cell{table.Rows[0], row}; !within(limit - 20)([]doc.Block{*table}) {
					t.Skip("a row that does not fit becomes a list")
				}
			}
		}
		blocks = doc.Parse(text)
		parts := doc.Split(blocks, within(limit))
		adaptertest.WithoutRepeatedHeads(parts)
		adaptertest.SameLeaves(t, text, want, leavesOf(parts...))
		for i, part := range parts {
			if strings.TrimSpace(doc.Text(part, false)) == "" {
				t.Fatalf("part %d of %q is blank", i, text)
			}
			if !within(limit)(part) && len(part) > 1 {
				t.Fatalf("part %d of %q has more than %d characters: %q", i, text, limit, doc.Text(part, true))
			}
		}
	})
}

// TestSplitGetsPastLongWhiteSpace that is longer than a part, in words or in code.
func TestSplitGetsPastLongWhiteSpace(t *testing.T) {
	for _, blank := range []string{" ", "\f", "\t", "\u00a0"} {
		for _, n := range []int{20, 39, 40, 41, 1000} {
			long := strings.Repeat(blank, n)
			for _, text := range []string{
				"g" + long + "x", "g" + long + "\nx", "g" + long, "> g" + long + "\n> x",
				"- g" + long + "\n  x", long + "x",
			} {
				for _, around := range []string{
					"%s", "`````\n%s", "```go\n%s\n```\nend", "| a | b |\n|---|---|\n| %s |",
				} {
					text := strings.Replace(around, "%s", text, 1)
					if got := strings.Join(split(text, 40), ""); !strings.Contains(got, "x") &&
						strings.Contains(text, "x") {
						t.Errorf("%q became %q", text, got)
					}
				}
			}
		}
	}
}

// TestSplitIsNearlyLinear: a long reply takes not much longer than its length says.
func TestSplitIsNearlyLinear(t *testing.T) {
	probes := func(n int) (total int) {
		text := strings.Repeat("word ", n)
		doc.Split([]doc.Block{{Kind: doc.Paragraph, Spans: []doc.Span{{Kind: doc.Words, Text: text}}}},
			func(b []doc.Block) bool {
				size := len(b[0].Spans[0].Text)
				total += size
				return size <= 1000
			})
		return total
	}
	if few, many := probes(2_000), probes(20_000); many > 12*few {
		t.Errorf("%d characters are looked at for a text, %d for one of ten times its length", few, many)
	}
}

// TestSplitLeavesItsBlocksAsTheyAre: another cut of the same blocks yields the same parts.
func TestSplitLeavesItsBlocksAsTheyAre(t *testing.T) {
	words := " " + strings.Repeat("word ", 30)
	blocks := []doc.Block{{Kind: doc.Paragraph, Spans: []doc.Span{{Kind: doc.Words, Text: words}}}}
	doc.Split(blocks, within(40))
	if got := blocks[0].Spans[0].Text; got != words {
		t.Errorf("the words became %q", got)
	}
}

// TestCutsAndColumnsKnowCharactersAsPeopleSeeThem: families, flags, letters with marks, and those as wide as two.
func TestCutsAndColumnsKnowCharactersAsPeopleSeeThem(t *testing.T) {
	for _, one := range []string{"👩‍👩‍👧", "🇩🇪", "e\u0301\u0323", "👍🏽", "각", "❤️"} {
		for _, text := range []string{strings.Repeat(one, 50), "```\n" + strings.Repeat(one, 50) + "\n```"} {
			for i, part := range doc.Split(doc.Parse(text), within(40)) {
				if rest := strings.ReplaceAll(strings.Trim(doc.Text(part, false), "\n"), one, ""); rest != "" {
					t.Errorf("part %d of many %q has %q", i, one, rest)
				}
			}
		}
	}
	got, wide := doc.Grid(doc.Parse("|a|b|\n|-|-|\n|👩‍👩‍👧|x|\n|日本|y|\n|e\u0301|z|")[0])
	if want := "a    | b\n-----|--\n👩‍👩‍👧   | x\n日本 | y\ne\u0301    | z\n"; got != want || wide != 8 {
		t.Errorf("%d columns:\n%s", wide, got)
	}
}
