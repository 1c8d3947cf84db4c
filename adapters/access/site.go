package access

import (
	"cmp"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"gatehouse/core"
)

// Site is where people reach gatehouse: https://chat.example.com/bot is the address, and /bot the path, under which a
// proxy has it. The zero value is the root of a host that is not known.
//
// Inside, an address of ours has no prefix: it gets one by At where it leaves for a browser. What comes in may have the
// prefix or not, since some proxies strip it, and since programs on the machine itself go without.
type Site struct {
	Address string // without a slash at its end; "" = not known
	Path    string // likewise; "" = the root
}

// plainPath is a path that is the same however it is escaped.
var plainPath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

// ParseSite reads the address of the pages. Its errors have messages for the reader.
func ParseSite(address string) (Site, error) {
	if address == "" {
		return Site{}, nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return Site{}, core.Errorf(core.Invalid, "%q is not an address such as https://chat.example.com/bot", address)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Site{}, core.Errorf(core.Invalid, "the address has more than a host and a path: a user, a ? or a #")
	}
	under := strings.TrimRight(u.EscapedPath(), "/")
	if !plainPath.MatchString(under) {
		return Site{}, core.Errorf(core.Invalid,
			"the path %q has an empty part, or other characters than letters, digits, - . _ ~", under)
	}
	return Site{Address: u.Scheme + "://" + u.Host + under, Path: under}, nil
}

// At is the address of a path of ours for a browser.
func (s Site) At(path string) string { return s.Path + path }

// Within is the path of ours that a path of a request, or of an address, means.
func (s Site) Within(at string) string {
	if s.Path == "" {
		return at
	}
	if rest, with := strings.CutPrefix(at, s.Path); with && (rest == "" || rest[0] == '/') {
		at = rest
	}
	return path.Clean("/" + at) // or net/http would lead to it, without the prefix
}

// Handler answers requests with the prefix and without it, by a handler that knows none.
func (s Site) Handler(next http.Handler) http.Handler {
	if s.Path == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner, at := *r, *r.URL
		at.Path = s.Within(at.Path)
		if at.RawPath != "" {
			at.RawPath = s.Within(at.RawPath)
		}
		inner.URL = &at
		next.ServeHTTP(w, &inner)
	})
}

// cookiePath is which requests a browser adds a login to.
func (s Site) cookiePath() string { return cmp.Or(s.Path, "/") }
