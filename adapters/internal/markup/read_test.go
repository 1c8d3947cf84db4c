package markup_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
)

// read reads the leaves of a reply from its HTML.
func read(n *html.Node, kind adaptertest.LeafKind) (all []adaptertest.Leaf) {
	inside := func(kind adaptertest.LeafKind) (in []adaptertest.Leaf) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			in = append(in, read(c, kind)...)
		}
		return in
	}
	one := func(kind adaptertest.LeafKind) []adaptertest.Leaf {
		text := ""
		for _, leaf := range inside(kind) {
			text += leaf.Text
		}
		return []adaptertest.Leaf{{Kind: kind, Text: text}}
	}
	switch {
	case n.Type == html.TextNode:
		return []adaptertest.Leaf{{Kind: kind, Text: n.Data}}
	case n.Data == "pre":
		return one(adaptertest.Code)
	case n.Data == "code" && kind == adaptertest.Words:
		return one(adaptertest.Inline)
	case n.Data == "th", n.Data == "td":
		return one(adaptertest.Cell)
	case n.Data == "hr":
		return []adaptertest.Leaf{{Kind: adaptertest.Rule}}
	case len(n.Data) == 2 && n.Data[0] == 'h':
		return one(adaptertest.Heading)
	case n.Data == "a":
		label := ""
		for _, leaf := range inside(kind) {
			label += leaf.Text
		}
		to := attribute(n, "href")
		if plain, err := url.PathUnescape(to); err == nil {
			to = plain
		}
		if all = inside(kind); strings.TrimSuffix(label, "/") != strings.TrimSuffix(to, "/") {
			all = append(all, adaptertest.Leaf{Kind: kind, Text: "(" + to + ")"})
		}
		return all
	case n.Data == "ol" || n.Data == "ul":
		first, err := strconv.Atoi(attribute(n, "start"))
		if err != nil {
			first = 1
		}
		if n.Data == "ul" {
			first = doc.NoNumbers
		}
		i := 0
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode {
				all = append(append(all, adaptertest.ItemLeaf(first, i)), read(c, kind)...)
				i++
			}
		}
		return all
	}
	return inside(kind)
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func checkRead(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) {
	t.Helper()
	blocks := doc.Parse(text)
	root, err := html.Parse(strings.NewReader("<!doctype html><body>" + string(markup.HTML(blocks))))
	if err != nil {
		t.Fatalf("%v", err)
	}
	adaptertest.SameLeaves(t, text, adaptertest.Joined(adaptertest.Leaves(blocks)),
		adaptertest.Joined(read(root, adaptertest.Words)))
}

// TestRepliesAreReadBack: whatever a model writes, all of it is on the page, and nothing is altered.
func TestRepliesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkRead(t, adaptertest.AnyMarkdown(t)) })
}

func TestAnswersFromTheField(t *testing.T) {
	adaptertest.FieldAnswers(t, func(t *testing.T, text string) { checkRead(t, text) })
}
