package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"gatehouse/adapters/web"
)

// TestEveryAnswerIsGuarded: pages, refusals, redirects and assets have the headers that keep other sites out.
func TestEveryAnswerIsGuarded(t *testing.T) {
	s := newSite(t)
	s.desk.open("a1")
	for _, w := range []struct{ who, path string }{
		{"ann", "/"}, {"ann", "/approvals"}, {"ann", "/approvals/a1"}, {"ann", "/approvals/none"},
		{"root", "/sessions"}, {"root", "/queue"}, {"ann", "/queue"}, {"", "/login"}, {"", "/approvals"},
		{"", "/favicon.svg"},
	} {
		h := s.get(w.who, w.path).Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
				"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q", w.path, name, got)
			}
		}
		if !strings.HasSuffix(w.path, ".svg") && h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control is %q", w.path, h.Get("Cache-Control"))
		}
	}
}

// TestPagesKeepTheirOwnPolicy: no page has a script, a style or an address that the policy forbids; each has a title of
// its own, one main heading, and a name for each field.
func TestPagesKeepTheirOwnPolicy(t *testing.T) {
	s := newSite(t)
	s.desk.open("a1")
	titles := map[string]string{}
	for path, who := range map[string]string{
		"/": "ann", "/approvals": "bob", "/approvals/a1": "bob", "/sessions": "root", "/queue": "root", "/login": "",
	} {
		root, err := html.Parse(strings.NewReader(s.get(who, path).Body.String()))
		if err != nil {
			t.Fatal(err)
		}
		headings, labels, fields, title := 0, map[string]bool{}, []string{}, ""
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			at := attributes(n)
			for name, value := range at {
				if name == "style" || strings.HasPrefix(name, "on") ||
					(name == "src" || name == "href" || name == "action") && !strings.HasPrefix(value, "/") &&
						!strings.HasPrefix(value, "#") {
					t.Errorf("%s: <%s %s=%q>", path, n.Data, name, value)
				}
			}
			switch n.Data {
			case "h1":
				headings++
			case "title":
				title = n.FirstChild.Data
			case "label":
				labels[at["for"]] = true
			case "input", "textarea":
				if at["type"] != "hidden" {
					fields = append(fields, at["id"])
				}
			case "style":
				t.Errorf("%s has a style", path)
			case "script":
				if at["src"] == "" || n.FirstChild != nil {
					t.Errorf("%s has an inline script", path)
				}
			}
		}
		if headings != 1 {
			t.Errorf("%s has %d main headings", path, headings)
		}
		for _, f := range fields {
			if !labels[f] {
				t.Errorf("%s: the field %q has no label", path, f)
			}
		}
		if other, used := titles[title]; used || title == "" {
			t.Errorf("%s and %s have the title %q", path, other, title)
		}
		titles[title] = path
	}
}

func attributes(n *html.Node) map[string]string {
	all := map[string]string{}
	for _, a := range n.Attr {
		all[a.Key] = a.Val
	}
	return all
}

func TestWhoIsNotLoggedInIsSentToTheLogin(t *testing.T) {
	s := newSite(t)
	for path, want := range map[string]string{
		"/": "/login", "/approvals": "/login?next=%2Fapprovals",
		"/approvals/a1?review=1": "/login?next=%2Fapprovals%2Fa1%3Freview%3D1",
		"/?session=x":            "/login?next=%2F%3Fsession%3Dx", "/queue": "/login?next=%2Fqueue",
	} {
		w := s.get("", path)
		expect(t, w, http.StatusSeeOther)
		if got := w.Header().Get("Location"); got != want {
			t.Errorf("%s leads to %q, want %q", path, got, want)
		}
	}
}

// TestALinkOfAnotherSiteKeepsTheLogin: the browser leaves the cookie out of that request, so the page leads on by
// itself.
func TestALinkOfAnotherSiteKeepsTheLogin(t *testing.T) {
	w := newSite(t).get("", "/approvals/a1", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
		"Sec-Fetch-Dest: document")
	expect(t, w, http.StatusOK, `http-equiv="refresh" content="0; url=/approvals/a1"`)
}

func TestWithoutTokensOnlyThisMachineIsServed(t *testing.T) {
	s := newSite(t, "")
	w := s.get("", "/approvals")
	expect(t, w, http.StatusForbidden, "GATEHOUSE_TOKENS")
	expect(t, s.get("", "/login"), http.StatusForbidden, "GATEHOUSE_TOKENS")
	local := s.request("", http.MethodGet, "/queue", nil, "Host: localhost:8080")
	local.RemoteAddr = "127.0.0.1:50000"
	expect(t, s.do(local), http.StatusOK, "Queue", "!Log out")
	local.URL.Path = "/login"
	expect(t, s.do(local), http.StatusSeeOther)
	local.Header.Set("X-Forwarded-For", "203.0.113.9")
	expect(t, s.do(local), http.StatusForbidden)
}

func TestOtherSitesAreRefused(t *testing.T) {
	s := newSite(t)
	expect(t,
		s.get("ann", "/approvals", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"),
		http.StatusForbidden)
	expect(t, s.get("ann", "/approvals", "Origin: https://evil.example"), http.StatusForbidden)
}

func TestUnknownAddressesAndMethods(t *testing.T) {
	s := newSite(t)
	expect(t, s.get("ann", "/nowhere"), http.StatusNotFound)
	for _, path := range []string{"/sessions"} {
		w := s.do(s.request("root", http.MethodPost, path, nil))
		expect(t, w, http.StatusMethodNotAllowed)
		if got := w.Header().Get("Allow"); got != "GET, HEAD" {
			t.Errorf("%s allows %q", path, got)
		}
	}
	expect(t, s.do(s.request("ann", http.MethodDelete, "/approvals/a1", nil)), http.StatusMethodNotAllowed)
	expect(t, s.do(s.request("", http.MethodPut, "/login", nil)), http.StatusMethodNotAllowed)
	expect(t, s.get("ann", "/logout"), http.StatusMethodNotAllowed)
	expect(t, s.do(s.request("ann", http.MethodHead, "/approvals", nil)), http.StatusOK)
}

func TestTheChatNamesItsSession(t *testing.T) {
	s := newSite(t)
	expect(t, s.get("ann", "/"), http.StatusOK, `data-session="web"`, `data-who="ann"`, "<title>New conversation ")
	expect(t, s.get("ann", "/?session=plan%22%3E%3Cscript%3E"), http.StatusOK,
		`data-session="plan&#34;&gt;&lt;script&gt;"`, "!<script>")
	expect(t, s.get("ann", "/?session_id=plan&utm_source=x"), http.StatusOK, `data-session="plan"`)
	expect(t, s.get("ann", "/?session=a%0ab"), http.StatusBadRequest)
	expect(t, s.get("ann", "/?session="+strings.Repeat("a", 200)), http.StatusBadRequest)
}

var assetAddress = regexp.MustCompile(`/assets/[0-9a-f]+/[a-z]+\.(?:js|css)`)

// TestAssetsAreKeptForGood: every address that a page names exists, and another version of it does, too, but is not
// kept.
func TestAssetsAreKeptForGood(t *testing.T) {
	s := newSite(t)
	addresses := assetAddress.FindAllString(s.get("ann", "/").Body.String(), -1)
	if len(addresses) < 8 {
		t.Fatalf("the chat names %v", addresses)
	}
	for _, a := range addresses {
		w := s.get("", a)
		expect(t, w, http.StatusOK)
		if got := w.Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control is %q", a, got)
		}
		if again := s.get("", a, "If-None-Match: "+w.Header().Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%s again: %d", a, again.Code)
		}
	}
	old := s.get("", "/assets/0123456789abcdef/page.css")
	expect(t, old, http.StatusOK)
	if got := old.Header().Get("Cache-Control"); got != "no-cache" {
		t.Errorf("another version: Cache-Control is %q", got)
	}
	expect(t, s.get("", "/assets/x/..%2fweb.go"), http.StatusNotFound)
	expect(t, s.get("", "/assets/x/none.js"), http.StatusNotFound)
	if got := s.get("", "/favicon.svg").Header().Get("Content-Type"); got != "image/svg+xml" {
		t.Errorf("the icon is %q", got)
	}
}

func TestTimesAreRelative(t *testing.T) {
	for away, want := range map[time.Duration]string{
		0: "just now", -20 * time.Second: "just now", -50 * time.Second: "less than a minute ago",
		-time.Minute: "1 minute ago", -3 * time.Minute: "3 minutes ago", -time.Hour: "1 hour ago",
		-47 * time.Hour: "1 day ago", -72 * time.Hour: "3 days ago",
		10 * time.Second: "in less than a minute", 90 * time.Minute: "in 1 hour", 48 * time.Hour: "in 2 days",
		-40 * 24 * time.Hour: "on 13 October 2026",
	} {
		if got := web.Relative(noon.Add(away), noon); got != want {
			t.Errorf("%v: %q, want %q", away, got, want)
		}
	}
}
