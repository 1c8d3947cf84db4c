package markup

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/util"
)

// maxURL is the longest address that is linked to, in bytes.
const maxURL = 2000

// rest are the attributes of every link: the other site learns neither who sent the reader nor gets hold of the page.
const rest = `" rel="noopener noreferrer nofollow" target="_blank">`

// safeURL returns an address to link to; ok is false for one with another scheme than http, https and mailto, and for
// one that names a user, which is made to look like another site.
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
