// Package manual shows the rooms' pages in a terminal: gatehouse help adapters/slack#scopes prints a section of
// adapters/slack/README.md. A container has no repository, so the pages are part of the program: each room embeds its
// own, and the command has the list.
//
// A page is parsed as Markdown, and written as plain text with lines of at most Width columns: a narrow table keeps
// its columns, a wide one becomes a list, a link to another page names the command that prints it.
package manual

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Page is a room's README.md.
type Page struct {
	Room string // its folder, such as adapters/slack
	Text string // in Markdown
}

// heading is a heading of a page: its level, its words and where its section begins.
type heading struct {
	level int
	words string
	start int
}

// Title is the page's first heading.
func (p Page) Title() string {
	for _, h := range p.headings() {
		return h.words
	}
	return p.Room
}

// Anchors are the names of the sections in their order, as GitHub makes them of headings: "What it does" is
// what-it-does.
func (p Page) Anchors() []string {
	var all []string
	for _, h := range p.headings() {
		all = append(all, anchor(h.words))
	}
	return all
}

// Section returns the section with this name, those below it included, and whether there is one.
func (p Page) Section(name string) (Page, bool) {
	all := p.headings()
	for i, h := range all {
		if anchor(h.words) != name {
			continue
		}
		end := len(p.Text)
		for _, next := range all[i+1:] {
			if next.level <= h.level {
				end = next.start
				break
			}
		}
		return Page{p.Room, p.Text[h.start:end]}, true
	}
	return Page{}, false
}

func (p Page) headings() []heading {
	source := []byte(p.Text)
	var all []heading
	for n := parse(source).FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Lines().Len() == 0 {
			continue
		}
		words := h.Lines().At(0)
		start := strings.LastIndexByte(p.Text[:words.Start], '\n') + 1
		all = append(all, heading{h.Level, strings.TrimSpace(string(words.Value(source))), start})
	}
	return all
}

func parse(source []byte) ast.Node {
	return goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(source))
}

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

func anchor(words string) string {
	return strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(words), ""), " ", "-")
}
