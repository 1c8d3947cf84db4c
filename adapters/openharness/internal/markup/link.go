package markup

import (
	"bufio"
	"html"
	"net/url"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// maxURL is the longest address that is linked to, in bytes.
const maxURL = 2000

// rest are the attributes of every link: the other site learns neither who sent the reader nor gets hold of the page.
const rest = `" rel="noopener noreferrer nofollow" target="_blank">`

// link writes what label writes as a link. Where there can be no link, the address follows as text, so that nothing is hidden.
// escaped: the address may have entities and escapes.
func (w *writer) link(to string, escaped bool, label func()) {
	address, ok := safeURL(to, escaped)
	if ok && !w.linked {
		w.WriteString(`<a href="` + html.EscapeString(address) + rest)
		w.linked = true
		label()
		w.linked = false
		w.WriteString("</a>")
		return
	}
	label()
	if to != "" {
		w.WriteString(" (" + html.EscapeString(to) + ")")
	}
}

// autoLink writes an address in the text, whose label is the address itself.
func (w *writer) autoLink(n *ast.AutoLink) {
	to, label := string(n.URL(w.source)), html.EscapeString(string(n.Label(w.source)))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(to), "mailto:") {
		to = "mailto:" + to
	}
	if _, ok := safeURL(to, false); !ok || w.linked {
		w.WriteString(label)
		return
	}
	w.link(to, false, func() { w.WriteString(label) })
}

// image writes a link to an image in place of the image.
func (w *writer) image(n *ast.Image) {
	label := func() { w.WriteString("image: " + html.EscapeString(w.plainOf(n, maxDepth))) }
	to := string(n.Destination)
	if address, ok := safeURL(to, true); ok && !strings.HasPrefix(address, "https:") {
		label()
		w.WriteString(" (" + html.EscapeString(to) + ")")
		return
	}
	w.link(to, true, label)
}

// safeURL returns an address to link to; ok is false for one with another scheme than http, https and mailto, and for one that names a user,
// which is made to look like another site.
func safeURL(to string, escaped bool) (address string, ok bool) {
	if len(to) > maxURL {
		return "", false
	}
	address = string(util.URLEscape([]byte(to), escaped))
	u, err := url.Parse(address)
	if err != nil || len(address) > 3*maxURL || u.User != nil || strings.ContainsFunc(address, func(c rune) bool { return c <= ' ' || c == '\\' || unicode.IsControl(c) }) {
		return "", false
	}
	switch u.Scheme { // in lower case
	case "http", "https":
		return u.Scheme + address[len(u.Scheme):], u.Host != ""
	case "mailto":
		return u.Scheme + address[len(u.Scheme):], u.Opaque != ""
	}
	return "", false
}

// plainOf returns the text in a node without its markup.
func (w *writer) plainOf(n ast.Node, depth int) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil && depth > 0; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.WriteString(strings.TrimSuffix(string(t.Value(w.source)), "\n"))
			if t.SoftLineBreak() || strings.HasSuffix(string(t.Value(w.source)), "\n") {
				b.WriteByte(' ')
			}
			continue
		}
		b.WriteString(w.plainOf(c, depth-1))
	}
	return b.String()
}

func bufferOf(w *writer) *bufio.Writer { return bufio.NewWriterSize(&w.Buffer, 256) }
