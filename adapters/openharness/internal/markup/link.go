package markup

import (
	"html"
	"net/url"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/util"

	"gatehouse/adapters/internal/doc"
)

// maxURL is the longest address that is linked to, in bytes.
const maxURL = 2000

// rest are the attributes of every link: the other site learns neither who sent the reader nor gets hold of the page.
const rest = `" rel="noopener noreferrer nofollow" target="_blank">`

// spans writes spans. Where there can be no link, the address follows its words as text, so that nothing is hidden.
func (w *writer) spans(spans []doc.Span) {
	for len(spans) > 0 {
		n := 1
		for n < len(spans) && spans[n].To == spans[0].To {
			n++
		}
		same := spans[:n]
		if address, ok := safeURL(same[0].To); ok {
			w.WriteString(`<a href="` + html.EscapeString(address) + rest)
			w.words(same)
			w.WriteString("</a>")
		} else {
			w.words(doc.Shown(same))
		}
		spans = spans[n:]
	}
}

var styles = []struct {
	style doc.Style
	name  string
}{{doc.Bold, "strong"}, {doc.Italic, "em"}, {doc.Struck, "del"}}

// words writes spans without their links. A line end is one that people see, as on chat platforms.
func (w *writer) words(spans []doc.Span) {
	for _, s := range spans {
		before, after := "", ""
		for _, one := range styles {
			if s.Style&one.style != 0 {
				before, after = before+"<"+one.name+">", "</"+one.name+">"+after
			}
		}
		switch s.Kind {
		case doc.Break:
			before, after = "<br>\n", ""
		case doc.Code:
			before, after = before+"<code>", "</code>"+after
		}
		w.WriteString(before + html.EscapeString(s.Text) + after)
	}
}

// safeURL returns an address to link to; ok is false for one with another scheme than http, https and mailto, and for one that names a user,
// which is made to look like another site.
func safeURL(to string) (address string, ok bool) {
	if to == "" || len(to) > maxURL {
		return "", false
	}
	address = string(util.URLEscape([]byte(to), false))
	u, err := url.Parse(address)
	if err != nil || len(address) > 3*maxURL || u.User != nil || strings.ContainsFunc(address, isUnsafe) {
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

func isUnsafe(c rune) bool { return c <= ' ' || c == '\\' || unicode.IsControl(c) }
