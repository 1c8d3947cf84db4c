package adaptertest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
)

// answers are replies with every kind of Markdown that a model writes, also where a kind is inside another.
var answers = map[string]string{
	"headings": "# One\n\n## Two *with* `code`\n\n### Three\n\n#### Four\n\nSetext\n======\n\nwords",
	"emphasis": "**bold** *it* ***both*** ~~gone~~ __under__ _it_ a\\*b ^x^ 2 * 3 * 4 snake_case_name",
	"lists": "- a\n- b\n  - b1\n    1. deep\n    2. deeper\n  - b2\n\n7. seven\n8. eight\n\n   more of eight\n\n" +
		"- [ ] open\n- [x] done\n\n* loose\n\n* items\n",
	"code": "`a|b` ``a ` b`` `[x](y)`\n\n```go\nx := m[i][j](\"<b>\")\n```\n\n~~~\n```\ninner\n```\n~~~\n\n    " +
		"indented\n\n" +
		"````markdown\n```sh\nrm -f build[0-9][0-9]*.log\n```\n````\n\n```\n\n```\n\n```js title=\"a.js\"\n1\n```",
	"code in lists": "1. first\n   ```sh\n   ls [a-z]* | grep -E 'x(\\d+)'\n   ```\n2. second\n   - inner\n     " +
		"~~~\n     <@U1> @here\n     ~~~",
	"quotations": "> one\n> two\n>\n> > nested `code`\n> - list\n>\n> ```sh\n> ls *\n> ```\n\nafter",
	"table":      "| a | b | c |\n|:--|:-:|--:|\n| **1** | `x|y` | [l](https://x.example) |\n| | 2 | <@U1> |",
	"tables": "| a | b |\n|---|---|\n| 1 | 2 |\n\nbetween\n\n| c | d |\n|---|---|\n| 3 | 4 |\n\n- | e |\n  " +
		"|---|\n  | 5 |",
	"links": "[text](https://x.example/a_b?c=d&e=f \"title\") <https://y.example> https://z.example " +
		"![image](https://i.example/i.png) " +
		"[mail](mailto:a@b.example) [bad](javascript:alert(1)) [ref][1]\n\n[1]: https://r.example",
	"entities": "&lt;div&gt; &amp; &copy; &#42; 1 < 2 > 0 & \\< <br> <details>x</details> <!-- no -->",
	"rules":    "above\n\n---\n\nbelow\n***\nend",
	"maths":    "$x_1^2 + \\frac{a}{b}$\n\n$$\nE = mc^2\n$$",
	"emoji":    ":tada: 🎉 ||spoiler|| -# small\n\nFoot[^1]\n\n[^1]: note",
	"long":     strings.Repeat("A sentence of *some* length with `code` in it. ", 400),
	"long code": "Look:\n\n```go\n" + strings.Repeat("x := m[i][j] // a line of a long program\n", 400) +
		"```\n\nand **that** is it.",
	"long list":  strings.Repeat("- an item with [a link](https://x.example/path)\n", 300),
	"long table": "| name | value |\n|---|---|\n" + strings.Repeat("| a name | `a value` |\n", 150),
	"wide table": "|" + strings.Repeat(" c |", 30) + "\n|" + strings.Repeat("---|", 30) +
		"\n|" + strings.Repeat(" a cell |", 30),
	"words": "Just words.",
}

// Drive returns posts of all that a platform can be told to say, in a fixed order: the samples, and replies with every
// kind of Markdown. The answers of GATEHOUSE_FIXTURES are among them, if it is set.
func (s Samples) Drive(t testing.TB) []core.Delivery {
	t.Helper()
	replies := maps.Clone(answers)
	// the pattern is right
	files, _ := filepath.Glob(filepath.Join(os.Getenv("GATEHOUSE_FIXTURES"), "field", "answers", "*.md"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		replies[filepath.Base(file)] = string(text)
	}
	all := s.Deliveries()
	for name, text := range replies {
		all["reply-"+name] = core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}}
	}
	var drive []core.Delivery
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d := all[name]
		d.Key, d.Conversation, d.Event = "drive/"+name, s.Conversation, 42
		if d.To == (core.Address{}) {
			d.To = s.From
		}
		if d.Card != nil {
			d.Approval = d.Card.Approval
		}
		drive = append(drive, d)
	}
	return drive
}
