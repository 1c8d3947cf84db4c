package adaptertest

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"gatehouse/adapters/internal/doc"
)

// Leaf is a piece of a reply as people read it: what it is, and its text.
type Leaf struct {
	Kind LeafKind
	Text string
}

// LeafKind is what a leaf is.
type LeafKind string

// The kinds of leaves.
const (
	Words   LeafKind = "words"   // of a paragraph
	Heading LeafKind = "heading" // all of its words
	Item    LeafKind = "item"    // an item of a list begins; its text is its number, or a dash
	Inline  LeafKind = "inline"  // code within a line
	Code    LeafKind = "code"    // a block of code
	Cell    LeafKind = "cell"    // of a table
	Rule    LeafKind = "rule"
)

// Leaves returns the leaves of a tree, in order. Links show their addresses: see doc.Shown.
func Leaves(blocks []doc.Block) (all []Leaf) {
	for _, b := range blocks {
		switch b.Kind {
		case doc.Paragraph:
			all = append(all, SpanLeaves(b.Spans)...)
		case doc.Heading:
			all = append(all, Leaf{Heading, doc.OneLine(b.Spans)})
		case doc.CodeBlock:
			all = append(all, Leaf{Code, doc.CodeLines(b.Code)})
		case doc.Rule:
			all = append(all, Leaf{Rule, ""})
		case doc.Table:
			for _, row := range b.Rows {
				for _, cell := range row {
					all = append(all, Leaf{Cell, doc.OneLine(cell)})
				}
			}
		case doc.Quote:
			all = append(all, Leaves(b.Items[0])...)
		case doc.List:
			for i, item := range b.Items {
				all = append(append(all, ItemLeaf(b.First, i)), Leaves(item)...)
			}
		}
	}
	return all
}

// ItemLeaf is the beginning of an item of a list with this first number.
func ItemLeaf(first, index int) Leaf {
	if first == doc.NoNumbers {
		return Leaf{Item, "-"}
	}
	return Leaf{Item, strconv.Itoa(first + index)}
}

// SpanLeaves returns the leaves of a paragraph.
func SpanLeaves(spans []doc.Span) (all []Leaf) {
	for _, s := range doc.Shown(spans) {
		switch s.Kind {
		case doc.Break:
			all = append(all, Leaf{Words, "\n"})
		case doc.Code:
			all = append(all, Leaf{Inline, s.Text})
		default:
			all = append(all, Leaf{Words, s.Text})
		}
	}
	return all
}

// Tables returns the tables in a tree, in order.
func Tables(blocks []doc.Block) (all []*doc.Block) {
	for i := range blocks {
		if blocks[i].Kind == doc.Table {
			all = append(all, &blocks[i])
		}
		for _, item := range blocks[i].Items {
			all = append(all, Tables(item)...)
		}
	}
	return all
}

// WithoutRepeatedHeads takes out of the parts of a tree the heads of tables that are repeated after a cut.
func WithoutRepeatedHeads(parts [][]doc.Block) {
	var last []doc.Cell
	for _, part := range parts {
		for _, table := range Tables(part) {
			head := table.Rows[0]
			if last != nil && reflect.DeepEqual(head, last) {
				table.Rows = table.Rows[1:]
			}
			last = head
		}
	}
}

// Joined joins leaves of a kind that follow each other, as those of something that was cut do, and leaves out the white
// space of all but code. What is in code after the last line end of a part is what a cut has divided.
func Joined(all []Leaf) (joined []Leaf) {
	for _, l := range all {
		if l.Kind != Code {
			l.Text = squeezed(l.Text)
		}
		if l.Text == "" && l.Kind != Rule {
			continue
		}
		if n := len(joined); n > 0 && joined[n-1].Kind == l.Kind &&
			(l.Kind == Words || l.Kind == Inline || l.Kind == Code || l.Kind == Heading) {
			joined[n-1].Text += l.Text
			continue
		}
		joined = append(joined, l)
	}
	return joined
}

func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u200b' {
			return -1
		}
		return r
	}, s)
}

// SameLeaves fails if the leaves of a text are not those that it should have.
func SameLeaves(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string, want, got []Leaf) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		var w, g Leaf
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			t.Fatalf("leaf %d is\n%q, not\n%q, of %d and %d, of the text\n%s\n%q", i, g, w, len(got), len(want), text,
				text)
		}
	}
}

// fenceLine matches a line that is a fence, with the language that it may name.
var fenceLine = regexp.MustCompile("(?m)^[-> 0-9.]*(`{3,}|~{3,}).*$")

// AnyMarkdown draws Markdown with code of every kind in containers of every kind, and words full of signs.
func AnyMarkdown(t *rapid.T) string {
	pick := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "pick") }
	words := func() string {
		var b strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "words") {
			b.WriteString(
				pick("word", "a*b*c", "**bold**", "*it `c` it*", "~~old~~", "`m[i][j](x)`", "`` a`b ``", "``` ``x` ```",
					"` `` `", "`*`", "[docs](https://x.example/a_b)", "[`c`](https://y.example)",
					"https://z.example/?a=1&b=[2]", "&lt;b&gt; &amp;", "<br>", "||", "|", "<@1>", "@here", "<!channel>",
					"<t:1>", "-# ", "# ", "> ", "1. ", "- ", "_x_", "my_file.txt", "\\*", "\\", "😀", "é",
					"![i](https://i.example/p.png)",
					"[a](javascript:x)", "**", "*", "_", "`", "2 < 3", "(https://p.example)", "http://localhost/`x`",
					"~", "C#", "a\tb") + pick(" ", " ", "", "\n"))
		}
		return strings.Trim(b.String(), "\n")
	}
	code := func() string {
		var b strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "lines") {
			b.WriteString(
				pick("rm -f build[0-9][0-9]*.log", "grid[i][j] = f[n](e)", "\tif a < b && c > d {", "    indented", "",
					"-# old", "- # x", "<@123> @here <!channel>", "| a | b |", "> q", "1. x", "# h", "**x** `y` \\*",
					"```", "~~~", "````", "[a](https://evil.example)", "end  ", "a&lt;b", "||s||", "\\", "👩‍👩‍👧",
					"x \t y") + "\n")
		}
		return b.String()
	}
	indent := func(text, first, others string) string {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i, line := range lines {
			lines[i] = others + line
			if i == 0 {
				lines[i] = first + line
			}
		}
		return strings.Join(lines, "\n") + "\n"
	}
	tables := 0
	var blocks func(depth int) string
	block := func(depth int) string {
		kinds := 6
		if depth > 0 {
			kinds = 9
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return strings.Repeat("#", rapid.IntRange(1, 6).Draw(t, "level")) +
				" " + strings.ReplaceAll(words(), "\n", " ") + "\n"
		case 1:
			fence := pick("`````", "~~~~~")
			return fence + pick("", "go", "js title=\"a.js\"", "c++", "sh") + "\n" + code() + fence + "\n"
		case 2:
			return indent(code(), "    ", "    ")
		case 3:
			row := func() string {
				cell := func() string { return strings.NewReplacer("\n", " ", "|", "\\|").Replace(words()) }
				return "| " + cell() + " | " + cell() + " |\n"
			}
			tables++
			return "| h" + strconv.Itoa(tables) + row()[1:] + "|:--|--:|\n" + row() + row()
		case 4:
			return "---\n"
		case 6:
			return indent(blocks(depth-1), "> ", "> ")
		case 7:
			return indent(blocks(depth-1), "- ", "  ") + indent(blocks(depth-1), "- ", "  ")
		case 8:
			return indent(blocks(depth-1), "7. ", "   ") + indent(blocks(depth-1), "8. ", "   ")
		}
		return words() + "\n"
	}
	blocks = func(depth int) string {
		var b strings.Builder
		for range rapid.IntRange(1, 3).Draw(t, "blocks") {
			b.WriteString(block(depth) + "\n")
		}
		return b.String()
	}
	text := blocks(2)
	if rapid.IntRange(0, 3).Draw(t, "long") == 0 {
		text += strings.Repeat(strings.Repeat("long words ", 30)+"\n\n```\n"+strings.Repeat("code[i][j]\n", 40)+
			"```\n\n", 8) + blocks(2)
	}
	// an empty answer, of which people are told in words
	if strings.TrimSpace(fenceLine.ReplaceAllString(text, "")) == "" {
		text += "word\n"
	}
	return text
}

// FieldAnswers runs a test with each of the answers that models gave in the field. Without the fixtures it is skipped.
func FieldAnswers(t *testing.T, test func(t *testing.T, text string)) {
	t.Helper()
	dir := os.Getenv("GATEHOUSE_FIXTURES")
	if dir == "" {
		t.Skip("SKIPPED: no answer of the field was read back. Set GATEHOUSE_FIXTURES to the folder that holds " +
			"field/answers.")
	}
	names, err := filepath.Glob(filepath.Join(dir, "field", "answers", "*.md"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no answers in %s: %v", dir, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(name), func(t *testing.T) { test(t, string(text)) })
	}
}
