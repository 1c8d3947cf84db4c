package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestLoginAndLogout(t *testing.T) {
	s := newSite(t)
	expect(t, s.get("", "/login?next=/approvals"), http.StatusOK, `name="next" value="/approvals"`)
	w := s.do(s.request("", http.MethodPost, "/login", url.Values{"token": {tokens["ann"]}, "next": {"/approvals"}}))
	expect(t, w, http.StatusSeeOther)
	through := w.Header().Get("Location")
	cookies := w.Result().Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly {
		t.Fatalf("the login sets %v", cookies)
	}
	s.cookies["ann"] = cookies[0]
	if got := s.get("ann", through).Header().Get("Location"); got != "/approvals" {
		t.Errorf("the login leads to %q", got)
	}
	expect(t, s.get("ann", "/"), http.StatusOK, "Log out", "ann")
	expect(t, s.get("ann", "/login"), http.StatusSeeOther)

	expect(t, s.do(s.request("ann", http.MethodPost, "/logout", url.Values{"as": {"ann"}})),
		http.StatusForbidden) // without the form's token
	w = s.post("ann", "/logout")
	expect(t, w, http.StatusSeeOther)
	if all := w.Result().Cookies(); len(all) == 0 || all[0].MaxAge >= 0 {
		t.Errorf("the logout sets %v", all)
	}
}

func TestWrongTokensAreSaid(t *testing.T) {
	s := newSite(t)
	wrong := url.Values{"token": {"nobody's token 0123456789"}, "next": {"/queue"}}
	w := s.do(s.request("", http.MethodPost, "/login", wrong))
	expect(t, w, http.StatusUnauthorized, "The token is not valid.", `value="/queue"`, "!nobody's")
	answers := make(chan *httptest.ResponseRecorder)
	const more = 21
	for range more {
		go func() { answers <- s.do(s.request("", http.MethodPost, "/login", wrong)) }()
	}
	w = <-answers // the one that does not wait for a second
	expect(t, w, http.StatusTooManyRequests, "Wait")
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	for range more - 1 {
		expect(t, <-answers, http.StatusUnauthorized)
	}
}

func TestLoginOfAnotherSiteIsRefused(t *testing.T) {
	s := newSite(t)
	form := url.Values{"token": {tokens["ann"]}}
	for _, header := range []string{"Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"} {
		w := s.do(s.request("", http.MethodPost, "/login", form, header))
		expect(t, w, http.StatusForbidden)
		if len(w.Result().Cookies()) > 0 {
			t.Errorf("%s: a cookie is set", header)
		}
	}
}

// TestTheLoginLeadsToOurPagesOnly: whatever a link says.
func TestTheLoginLeadsToOurPagesOnly(t *testing.T) {
	s := newSite(t)
	for next, want := range map[string]string{
		"": "/", "/approvals": "/approvals", "/approvals/a1?review=1": "/approvals/a1?review=1",
		"/?session=plan": "/?session=plan", "/queue": "/queue",
		"https://evil.example": "/", "//evil.example": "/", "///evil.example": "/", `/\evil.example`: "/",
		`\\evil.example`: "/", "/approvals/../logout": "/", "/approvals//evil.example": "/", "/approvals/": "/",
		"javascript:alert(1)": "/", "/logout": "/", "/assets/x": "/", "/%2fevil.example": "/", "/approvals/%2e%2e": "/",
		"\x00": "/", "/approvals#x": "/approvals", "https:/approvals": "/", "//x@/approvals": "/",
	} {
		for _, w := range []string{
			s.get("ann", "/login?next="+url.QueryEscape(next)).Header().Get("Location"),
			s.get("ann", s.do(s.request("", http.MethodPost,
				"/login", url.Values{"token": {tokens["ann"]}, "next": {next}})).
				Header().Get("Location")).Header().Get("Location"),
		} {
			if w != want {
				t.Errorf("%q leads to %q, want %q", next, w, want)
			}
		}
	}
	if long := s.get("ann", "/login?next=/approvals/"+strings.Repeat("a", 9000)).Header().Get("Location"); long != "/" {
		t.Errorf("a long address leads to %d bytes", len(long))
	}
}
