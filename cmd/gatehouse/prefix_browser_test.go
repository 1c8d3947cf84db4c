package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const prefix = "/bot"

// under starts a proxy that has gatehouse at a path of its host, and passes the path on or strips it; what has not the
// path is another program's. It returns the address, and leads gets that of gatehouse.
func under(t *testing.T, keeps bool) (at string, leads func(to string)) {
	t.Helper()
	target := &url.URL{}
	pass := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}}
	inner := http.Handler(pass)
	if !keeps {
		inner = http.StripPrefix(prefix, pass)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, prefix+"/") {
			inner.ServeHTTP(w, r)
		} else {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + prefix, func(to string) { target, _ = url.Parse(to) }
}

var proxiesUnderAPath = map[string]bool{"keeps the path": true, "strips the path": false}

// TestABrowserBehindAPath: a proxy has gatehouse under a path. A person logs in there, chats, approves on the card and
// on the page, reloads and logs out; no request leaves the path, and nothing fails.
func TestABrowserBehindAPath(t *testing.T) {
	t.Parallel()
	for name, keeps := range proxiesUnderAPath {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, leads := under(t, keeps)
			p := newEngine(t, sqliteFile, []string{"ann!=" + annsToken}, "GATEHOUSE_URL="+at+"/")
			leads(p.at)
			b := newBrowser(t)
			w := b.newWindow(at, "/approvals?decided=none")
			w.logIn(annsToken)
			w.until("the page that was asked for",
				"location.pathname + location.search === '/bot/approvals?decided=none'")
			w.until("the whole page", "document.readyState === 'complete'")
			eval[any](w, "document.querySelector('nav a').click()")
			w.shows("Connected")
			w.until("the shared worker's address", "performance.getEntriesByType('resource').every("+
				"e => new URL(e.name).pathname.startsWith('/bot/'))")
			w.say("note add milk")
			w.press("Approve")
			w.shows("Done: “milk”")
			w.say("note add eggs")
			w.shows("eggs")
			page := b.newWindow(at, "/approvals")
			page.opens("eggs")
			page.press("Approve")
			page.until("the decision", "/approved/i.test(document.querySelector('.said').innerText)")
			eval[any](page, "document.querySelector('.said a').click()")
			page.until("the approval's page", "location.pathname.startsWith('/bot/approvals/')")
			w.shows("Done: “eggs”")
			w.run(chromedp.Reload())
			w.shows("Connected")
			w.shows("Done: “eggs”")
			w.draft("half a sentence")
			w.press("Log out")
			w.answer("Discard")
			w.until("the login page", "location.pathname === '/bot/login'")
			page.shows("You are logged out here")
			if kept := eval[string](w, "Object.keys(localStorage).join()"); strings.Contains(kept, "gatehouse ") {
				t.Errorf("what is kept is not apart from another bot's of the same host: %s", kept)
			}
			if notes := p.notesOf("ann", "web"); strings.Join(notes, " ") != "milk eggs" {
				t.Errorf("the notes are %q", notes)
			}
		})
	}
}

// TestAddressesBehindAPath: redirects and cookies have the path; without it everything is gotten as well, as on the
// machine itself, and leads to pages that work there.
func TestAddressesBehindAPath(t *testing.T) {
	t.Parallel()
	for name, keeps := range proxiesUnderAPath {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, leads := under(t, keeps)
			p := newEngine(t, sqliteFile, []string{"ann!=" + annsToken, "bob!=" + bobsToken}, "GATEHOUSE_URL="+at)
			leads(p.at)
			for _, from := range []string{at, p.at} {
				for path, to := range map[string]string{
					"/": "/bot/login", "/approvals": "/bot/login?next=%2Fapprovals",
					"//approvals": "/bot/login?next=%2Fapprovals",
				} {
					if r := answerOf(t, from+path); r.StatusCode != http.StatusSeeOther ||
						r.Header.Get("Location") != to {
						t.Errorf("%s leads to %q, %s; want %s", from+path, r.Header.Get("Location"), r.Status, to)
					}
				}
				for path, want := range map[string]int{
					"/healthz": 200, "/readyz": 200, "/v1/openapi.json": 200,
					"/.well-known/gatehouse.json": 200, "/mcp": 401,
					"/v1/approvals/none": 401, "/favicon.svg": 200, "/login": 200,
				} {
					if r := answerOf(t, from+path); r.StatusCode != want {
						t.Errorf("%s: %s, want %d", from+path, r.Status, want)
					}
				}
			}
			form := url.Values{"token": {annsToken}, "next": {"/bot/approvals"}}
			for _, from := range []string{at, p.at} {
				r := answerOf(t, from+"/login", form.Encode())
				cookies := r.Cookies()
				if to := r.Header.Get("Location"); to != "/bot/login?done=1&next=%2Fapprovals" || len(cookies) != 2 ||
					cookies[0].Path != prefix || cookies[1].Path != "/" || cookies[1].MaxAge >= 0 {
					t.Errorf("a login leads to %q, with the cookies %v", to, cookies)
				}
			}
			asked := placeOfRequest(t, at, annsToken)
			if !strings.HasPrefix(asked, "/bot/v1/approvals/") {
				t.Errorf("what was asked for is at %q", asked)
			}
		})
	}
}

// placeOfRequest asks for an approval over HTTP, and returns where it is.
func placeOfRequest(t *testing.T, at, token string) string {
	t.Helper()
	body := strings.NewReader(`{"action":"deploy","summary":"Go.","risk":"write"}`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/v1/approvals", body)
	noErr(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	noErr(t, err)
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %s", answer.Status, text)
	}
	return answer.Header.Get("Location")
}

// answerOf requests an address, by a form if there is one, and follows no redirect.
func answerOf(t *testing.T, address string, form ...string) gotten {
	t.Helper()
	method := http.MethodGet
	if len(form) > 0 {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(strings.Join(form, "&")))
	noErr(t, err)
	if len(form) > 0 {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	noErr(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	noErr(t, err)
	return gotten{answer, string(text)}
}

// gotten is an answer that was read.
type gotten struct {
	*http.Response
	text string
}

// TestAPathThatIsTaken: gatehouse can't tell its own page from one behind a path of the same name.
func TestAPathThatIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "GATEHOUSE_URL=https://chat.example.com/v1/bot", "GATEHOUSE_LISTEN="+freeAddress(t))
	c := w.start(nil, "serve")
	w.until("the end", nil, c.gone)
	if text := c.out.String(); !strings.Contains(text, "gatehouse has paths of its own that begin with /v1") {
		t.Errorf("it says %s", text)
	}
}
