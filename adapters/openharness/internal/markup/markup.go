// Package markup turns the Markdown of a model's reply into HTML that a page may insert as it is.
//
// It writes only the elements and attributes that write.go has in its text; whatever else a text holds is written as text. The parser knows no
// raw HTML, so that a tag is text from the beginning. Links lead to http, https and mailto only, open in a tab of their own, and tell the other
// site nothing. An image is never loaded, since that would tell its server who reads what: it becomes a link to it. Headings begin at the third
// level, below those of the page.
//
// Time and size are bounded. A text that is too long, nested too deeply, or whose HTML would be much longer than itself (one long link
// reference that is used a thousand times) is shown as it is, without its markup.
package markup

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark/text"
)

// HTML returns a text in Markdown as HTML.
func HTML(markdown string) string {
	markdown = strings.ReplaceAll(strings.ToValidUTF8(markdown, "\ufffd"), "\x00", "\ufffd")
	if len(markdown) > maxText || tangled(markdown) {
		return plain(markdown)
	}
	if out, ok := rendered([]byte(markdown)); ok {
		return out
	}
	return plain(markdown)
}

// plain is a text without markup.
func plain(s string) string {
	return "<pre tabindex=\"0\"><code>" + html.EscapeString(s) + "</code></pre>\n"
}

// rendered parses and writes a text; ok is false if that passes a bound. A fault of the parser must not keep people from the reply, so it counts
// as one.
func rendered(source []byte) (out string, ok bool) {
	defer func() {
		if recover() != nil {
			out, ok = "", false
		}
	}()
	if knotted(blocks.Parse(text.NewReader(source)), source, 0) {
		return "", false
	}
	w := &writer{source: source}
	w.node(whole.Parse(text.NewReader(source)), 0)
	return w.String(), !w.refused
}

// writer writes HTML until a bound is passed.
type writer struct {
	source []byte
	bytes.Buffer
	refused bool
	linked  bool // inside a link: there is none in another
}
