package access

import (
	"net/http"
	"strings"
)

// SameSite refuses a request that a browser sends for another site. It is for each request that changes something, that
// of a login too, and for each that a person makes by cookie or by loopback. The error is a *Refusal.
//
// Who follows a link of another site to a page of ours may see it: the other site can't read it. Pages of ours must not
// be framed, and must not send Referrer-Policy: no-referrer, which makes browsers write "null" for the origin of their
// forms.
func (g *Gate) SameSite(r *http.Request) error {
	origins, sites := r.Header.Values("Origin"), r.Header.Values("Sec-Fetch-Site")
	switch {
	case len(origins) > 1 || len(sites) > 1:
		return forbidden("The request names more than one origin.")
	case len(origins) == 1 && !sameHost(origins[0], r.Host):
		return forbidden("The request comes from a page of another site. If it is gatehouse's own page, the proxy " +
			"before gatehouse has to pass the Host header on.")
	case len(sites) == 1 && sites[0] != "same-origin" && sites[0] != "none" && !followsLink(r):
		return forbidden("The request comes from a page of another site.")
	case len(origins)+len(sites) == 0 && !safe(r.Method) && g.byCookie(r):
		return forbidden("The request does not say which page it comes from. Use a browser that sends the Origin " +
			"header, or a token.")
	}
	return nil
}

// sameHost reports whether an origin is of the host. The schemes may differ: a proxy may have ended TLS.
func sameHost(origin, host string) bool {
	scheme, from, _ := strings.Cut(strings.ToLower(origin), "://")
	port := ""
	switch scheme {
	case "https":
		port = ":443"
	case "http":
		port = ":80"
	default:
		return false // "null" too
	}
	from = strings.TrimSuffix(from, port)
	return from != "" && from == strings.TrimSuffix(strings.ToLower(host), port)
}

// followsLink reports whether a browser opens a page in a tab.
func followsLink(r *http.Request) bool {
	return safe(r.Method) && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// safe reports whether requests of a method change nothing.
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// byCookie reports whether a request depends on a login.
func (g *Gate) byCookie(r *http.Request) bool {
	_, sent, err := bearer(r)
	_, found := g.login(r)
	return found && !sent && err == nil
}
