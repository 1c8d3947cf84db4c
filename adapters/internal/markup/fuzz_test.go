package markup_test

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
)

// allowed lists, for each element, its attributes.
var allowed = map[string][]string{
	"h3": {"dir"}, "h4": {"dir"}, "h5": {"dir"}, "h6": {"dir"}, "p": {"dir"}, "br": nil, "hr": nil,
	"blockquote": {"dir"},
	"ul":         {"dir"}, "ol": {"dir", "start"}, "li": nil, "em": nil, "strong": nil, "del": nil,
	"code": {"translate"},
	"pre":  {"tabindex", "translate", "dir"}, "div": {"class", "tabindex", "data-lang"}, "table": {"dir"}, "thead": nil,
	"tbody": nil, "tr": nil, "th": {"class"}, "td": {"class"},
	"a": {"href", "rel", "target"},
}

// FuzzHTML: whatever a model writes, a browser finds only elements that show text, and links that leave for the web or
// for mail.
func FuzzHTML(f *testing.F) {
	for _, seed := range []string{
		"# a\n\n- [x] *b* **c** ~~d~~ `e`\n\n> 1. f\n\n|a|b|\n|-|:-:|\n|1|2|\n",
		"<script>alert(1)</script><img src=x onerror=alert(1)>", "[a](javascript:alert(1) \"t\") <javascript:x>",
		"[a]: data:text/html,x 'y'\n\n[a] ![a] [![b](https://c.d)](https://e.f)", "```html\n</code></pre><script>\n```",
		"<!-- --> <?php ?> <![CDATA[ x ]]> &lt;b&gt; &#0; \x00",
		"www.a.example http://a.example/\"onclick='x' a@b.example",
		"a|b\n-|-\n\\|`|`|<td>", "![](https://a.b) [](https://a.b)\\\nx  \ny",
		"[a](https://x:y@z) [a](ht\ttps://x) [a](<https://a b>)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, err := html.Parse(
			strings.NewReader("<!doctype html><title>x</title><body>" + string(markup.HTML(doc.Parse(text)))))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			switch n.Type {
			case html.CommentNode:
				t.Errorf("a comment: %q", n.Data)
			case html.ElementNode:
				check(t, n)
			}
		}
	})
}

func check(t *testing.T, n *html.Node) {
	t.Helper()
	if n.Data == "html" || n.Data == "head" || n.Data == "body" || n.Data == "title" && n.Parent.Data == "head" {
		if len(n.Attr) > 0 {
			t.Errorf("<%s> has attributes", n.Data)
		}
		return
	}
	names, known := allowed[n.Data]
	if !known {
		t.Fatalf("an element <%s>", n.Data)
	}
	for _, a := range n.Attr {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+a.Key+" ") {
			t.Errorf("<%s> has the attribute %s", n.Data, a.Key)
		}
		if a.Key != "href" {
			continue
		}
		u, err := url.Parse(a.Val)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" || u.User != nil ||
			strings.ContainsAny(a.Val, " \t\r\n\\") {
			t.Errorf("a link to %q", a.Val)
		}
	}
	if n.Data == "a" {
		for up := n.Parent; up != nil; up = up.Parent {
			if up.Data == "a" {
				t.Error("a link in a link")
			}
		}
	}
}
