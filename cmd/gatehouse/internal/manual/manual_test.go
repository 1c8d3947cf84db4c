package manual_test

import (
	"slices"
	"strings"
	"testing"

	"gatehouse/cmd/gatehouse/internal/manual"
)

var page = manual.Page{Room: "adapters/house", Text: `# The house

<p><img src="house.png"></p>

It has **rooms**, see [the rooms](#the-rooms), [Slack](../slack/README.md#scopes), [its file](house.yaml),
[a site](https://example.com) and https://example.com.

## The rooms

| room | who may be in it, and what for |
|---|---|
| ` + "`kitchen`" + ` | everybody who cooks, and everybody who eats what was cooked there |

### Above

| how it is called by those who live in it | since | by |
|---|---|---|
| the large room under the roof | 1900 | ann |

1. First.

       # not a heading
       export A=1

2. Second, which is long enough that its text can't be on one line.

## Outside

- a tree
- a lawn
`}

// TestPrint: what a pipe is given.
func TestPrint(t *testing.T) {
	got := page.Print(manual.Style{Width: 60})
	if strings.Contains(got, "\x1b") || strings.Contains(got, "<img") {
		t.Errorf("it is %q", got)
	}
	for line := range strings.Lines(got) {
		if len(line) > 61 {
			t.Errorf("the line %q is long", line)
		}
	}
	for _, want := range []string{
		"The house\n\nIt has rooms, see the rooms (gatehouse help\nadapters/house#the-rooms), Slack (gatehouse help\n" +
			"adapters/slack#scopes), its file, a site\n(https://example.com) and https://example.com.\n",
		"room       who may be in it, and what for\n`kitchen`  everybody who cooks, and everybody who eats what\n" +
			"           was cooked there\n",
		"the large room under the roof\n    since: 1900\n    by: ann\n",
		"1. First.\n\n       # not a heading\n       export A=1\n\n" +
			"2. Second, which is long enough that its text can't be on\n" +
			"   one line.\n",
		"Outside\n\n- a tree\n- a lawn\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not contain %q", got, want)
		}
	}
	coloured := page.Print(manual.Style{Width: 60, Colours: true})
	for _, want := range []string{"\x1b[1mThe house\x1b[0m\n", "\x1b[36mkitchen\x1b[0m  everybody who cooks"} {
		if !strings.Contains(coloured, want) {
			t.Errorf("%q does not contain %q", coloured, want)
		}
	}
}

// TestSection: a section ends where one of its level or a higher one begins; a comment in an example is no heading.
func TestSection(t *testing.T) {
	if got := page.Anchors(); !slices.Equal(got, []string{"the-house", "the-rooms", "above", "outside"}) {
		t.Errorf("the sections are %q", got)
	}
	part, ok := page.Section("the-rooms")
	if !ok || !strings.HasPrefix(part.Text, "## The rooms\n") || !strings.Contains(part.Text, "\n### Above\n") ||
		strings.Contains(part.Text, "Outside") || part.Room != page.Room {
		t.Errorf("%t, %q", ok, part.Text)
	}
	if last, ok := page.Section("outside"); !ok || !strings.HasSuffix(last.Text, "- a lawn\n") {
		t.Errorf("%t, %q", ok, last.Text)
	}
	if _, ok := page.Section("nowhere"); ok || page.Title() != "The house" {
		t.Errorf("the title is %s", page.Title())
	}
}
