package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/storage"
)

// visitor is a browser without scripts.
type visitor struct {
	t  *testing.T
	at string
	http.Client
}

// visit logs in with a token.
func visit(t *testing.T, at, token string) *visitor {
	t.Helper()
	cookies, err := cookiejar.New(nil)
	noErr(t, err)
	v := &visitor{t: t, at: at, Client: http.Client{Jar: cookies}}
	v.logIn(token)
	return v
}

func (v *visitor) logIn(token string) {
	v.t.Helper()
	if status, page := v.form("/login", url.Values{"token": {token}}); status != http.StatusOK {
		v.t.Fatalf("the login is answered %d %s", status, page)
	}
}

// pageAnswer is an answer; its body is closed after the test.
type pageAnswer struct {
	StatusCode int
	Body       io.Reader
}

func (v *visitor) do(method, path, kind, body, as string) pageAnswer {
	v.t.Helper()
	q, err := http.NewRequestWithContext(v.t.Context(), method, v.at+path, strings.NewReader(body))
	noErr(v.t, err)
	q.Header.Set("Content-Type", kind)
	q.Header.Set("Origin", v.at)
	if as != "" {
		q.Header.Set("Gatehouse-As", as)
	}
	r, err := v.Do(q)
	noErr(v.t, err)
	v.t.Cleanup(func() { r.Body.Close() })
	return pageAnswer{r.StatusCode, r.Body}
}

// form sends a form, and returns what it leads to.
func (v *visitor) form(path string, form url.Values) (int, string) {
	v.t.Helper()
	r := v.do(http.MethodPost, path, "application/x-www-form-urlencoded", form.Encode(), "")
	page, err := io.ReadAll(r.Body)
	noErr(v.t, err)
	return r.StatusCode, string(page)
}

// logOut sends the form of a page.
func (v *visitor) logOut() {
	v.t.Helper()
	page, err := io.ReadAll(v.do(http.MethodGet, "/", "", "", "").Body)
	noErr(v.t, err)
	form := url.Values{"csrf": {csrf.FindStringSubmatch(string(page))[1]},
		"as": {madeFor.FindStringSubmatch(string(page))[1]}}
	if status, page := v.form("/logout", form); status != http.StatusOK || !strings.Contains(page, "Log in") {
		v.t.Fatalf("the log-out is answered %d %s", status, page)
	}
}

// TestARequestByCookieSaysWhomItsPageWasMadeFor: otherwise it is refused, and nothing is stored. A bearer need not.
func TestARequestByCookieSaysWhomItsPageWasMadeFor(t *testing.T) {
	t.Parallel()
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob=" + bobsToken})
	bob := visit(t, p.at, bobsToken)
	body, err := json.Marshal(request("", "web", "hello"))
	noErr(t, err)
	for _, c := range []struct{ method, path, as, code, now string }{
		{http.MethodPost, "/v1/openharness", "ann", "other_person", "bob"},
		{http.MethodPost, "/v1/openharness", "", "old_page", ""},
		{http.MethodPost, "/openharness?as=ann", "", "other_person", "bob"},
		{http.MethodPost, "/v1/openharness/attachments", "ann", "other_person", "bob"},
		{http.MethodGet, "/v1/openharness/events?session=web&as=ann", "", "other_person", "bob"},
		{http.MethodGet, "/v1/openharness/events?session=web", "", "old_page", ""},
	} {
		r := bob.do(c.method, c.path, "application/json", string(body), c.as)
		var got struct {
			Response struct {
				Error struct {
					Code, Message string
					Retryable     bool
					Details       struct{ Now string }
				}
			}
		}
		err := json.NewDecoder(r.Body).Decode(&got)
		e := got.Response.Error
		if err != nil || r.StatusCode != http.StatusConflict || e.Code != c.code || e.Details.Now != c.now ||
			e.Retryable || !strings.Contains(e.Message, "Nothing was done") {
			t.Errorf("%s %s as %q: %d %+v, %v", c.method, c.path, c.as, r.StatusCode, got, err)
		}
	}
	if events := p.events(core.EventFilter{}); len(events) > 0 {
		t.Errorf("stored: %+v", events)
	}
	if r := bob.do(http.MethodPost, "/v1/openharness", "application/json", string(body), "bob"); r.StatusCode != 200 {
		t.Errorf("as bob it is answered %d", r.StatusCode)
	}
	if n := p.messagesOf("bob", "web"); n != 1 {
		t.Errorf("bob has %d messages", n)
	}
	newShell(t, p.at, annsToken).post(body)
	if n := p.messagesOf("ann", "web"); n != 1 {
		t.Errorf("ann has %d messages, by a bearer", n)
	}
}

// TestReplicasNameTheirCookieAlike: by the database, so that another bot on the same host has another one.
func TestReplicasNameTheirCookieAlike(t *testing.T) {
	t.Setenv("GATEHOUSE_TOKENS", "ann="+annsToken)
	cfg, _, err := source.Load()
	noErr(t, err)
	cookie := func(path string) string {
		t.Helper()
		store, err := storage.Open(t.Context(), "sqlite:"+path, storage.Options{})
		noErr(t, err)
		defer store.Close()
		gate, err := newGate(t.Context(), cfg, store)
		noErr(t, err)
		w := httptest.NewRecorder()
		noErr(t, gate.Login(w, httptest.NewRequest(http.MethodPost, "/login", nil), annsToken))
		return w.Result().Cookies()[0].Name
	}
	one, two := filepath.Join(t.TempDir(), "one.db"), filepath.Join(t.TempDir(), "two.db")
	first, again, other := cookie(one), cookie(one), cookie(two)
	if first != again || first == other || !regexp.MustCompile(`^gatehouse-[0-9a-f]{8}$`).MatchString(first) {
		t.Errorf("the cookies are %s and %s, and of another bot %s", first, again, other)
	}
}

// TestALogOutEndsTheStreamsOfTheLogin, at once, and no other login's. A copy of the cookie holds no more.
func TestALogOutEndsTheStreamsOfTheLogin(t *testing.T) {
	t.Parallel()
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken})
	gone, stays := visit(t, p.at, annsToken), visit(t, p.at, annsToken)
	const events = "/v1/openharness/events?session=web&as=ann"
	ends := bufio.NewReader(gone.do(http.MethodGet, events, "", "", "").Body)
	goes := bufio.NewReader(stays.do(http.MethodGet, events, "", "", "").Body)
	for _, stream := range []*bufio.Reader{ends, goes} {
		if line, err := stream.ReadString('\n'); err != nil {
			t.Fatalf("%q, %v", line, err)
		}
	}
	at, err := url.Parse(p.at)
	noErr(t, err)
	copied := gone.Jar.Cookies(at)
	gone.logOut()
	if rest, err := io.ReadAll(ends); err != nil {
		t.Errorf("the stream of the login: %q, %v", rest, err)
	}
	gone.Jar.SetCookies(at, copied)
	if r := gone.do(http.MethodGet, events, "", "", ""); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("a copy of the cookie is answered %d", r.StatusCode)
	}
	if r := stays.do(http.MethodGet, events, "", "", ""); r.StatusCode != http.StatusOK {
		t.Errorf("another login is answered %d", r.StatusCode)
	}
}
