package access_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"gatehouse/adapters/access"
)

func TestTheAddressOfThePages(t *testing.T) {
	for address, want := range map[string]access.Site{
		"":                                {},
		"https://chat.example.com":        {Address: "https://chat.example.com"},
		"https://chat.example.com/":       {Address: "https://chat.example.com"},
		"http://chat.example.com:8443/b/": {Address: "http://chat.example.com:8443/b", Path: "/b"},
		"https://chat.example.com/a/b.c":  {Address: "https://chat.example.com/a/b.c", Path: "/a/b.c"},
	} {
		if got, err := access.ParseSite(address); err != nil || got != want {
			t.Errorf("%q is %+v, %v", address, got, err)
		}
	}
	for _, address := range []string{
		"chat.example.com", "ftp://chat.example.com", "https:///bot", "https://chat.example.com/a//b",
		"https://chat.example.com/a b", "https://chat.example.com/../b", "https://chat.example.com/b?c",
		"https://ann:secret@chat.example.com", `"https://chat.example.com"`,
	} {
		if got, err := access.ParseSite(address); err == nil {
			t.Errorf("%q is %+v", address, got)
		}
	}
}

func TestRequestsWithAndWithoutThePrefix(t *testing.T) {
	site := access.Site{Path: "/bot"}
	served := ""
	h := site.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { served = r.URL.EscapedPath() }))
	for path, want := range map[string]string{
		"/bot": "/", "/bot/": "/", "/bot/approvals/a%2Fb": "/approvals/a%2Fb", "/approvals": "/approvals",
		"/bots": "/bots", "//approvals": "/approvals", "/bot//approvals/": "/approvals", "/bot/../x": "/x", "/": "/",
	} {
		r := httptest.NewRequest("GET", "http://localhost"+path, nil)
		if h.ServeHTTP(httptest.NewRecorder(), r); served != want || r.URL.EscapedPath() != path {
			t.Errorf("%s is served as %s, want %s", path, served, want)
		}
	}
}
