package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gatehouse/core"
)

// TestAFormOfAnotherPersonsPage decides nothing, and leads on: also without JavaScript.
func TestAFormOfAnotherPersonsPage(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("a1")
	page := s.get("bob", "/approvals/a1")
	expect(t, page, http.StatusOK, `<input type="hidden" name="as" value="bob">`, `data-who="bob"`)
	w := s.post("bob", "/approvals/a1", "choice=approve", "edits=0", "as=ann")
	expect(t, w, http.StatusConflict, "You are bob here now", "was made for ann", `href="/approvals/a1">Go on as bob`,
		`href="/login?as=ann&amp;next=%2fapprovals%2fa1">Log in as ann`)
	for _, old := range []string{"as=", "as=%22><script>"} {
		expect(t, s.post("bob", "/approvals/a1", "choice=approve", "edits=0", old), http.StatusConflict,
			"older version", "!<script>")
	}
	w = s.post("bob", "/logout", "as=ann")
	expect(t, w, http.StatusConflict, "You are bob here now")
	if len(w.Result().Cookies()) > 0 {
		t.Error("another person's page logs bob out")
	}
	if a.State != core.Open || s.decided != 0 {
		t.Errorf("the approval is %s", a.State)
	}
	expect(t, s.post("bob", "/approvals/a1", "choice=approve", "edits=0"), http.StatusSeeOther)
}

// TestLogInAsAnother: the login page that a page of another person leads to, while somebody else is logged in.
func TestLogInAsAnother(t *testing.T) {
	s := newSite(t)
	w := s.get("bob", "/login?as=ann&next=/approvals")
	expect(t, w, http.StatusOK, "Log in as ann", "You are bob here now", `name="as" value="ann"`, `value="/approvals"`,
		`data-who="bob"`)
	expect(t, s.get("ann", "/login?as=ann&next=/approvals"), http.StatusSeeOther)
	expect(t, s.get("bob", "/login?as=%3Cb%3E"), http.StatusOK, "!<b>")
	expect(t, s.get("", "/login"), http.StatusOK, `data-who=""`)
	// A browser leaves the login out, so nobody may be told that there is none.
	expect(t, s.get("", "/login", "Sec-Fetch-Site: cross-site"), http.StatusOK, "!data-who")
	wrong := url.Values{"token": {`"` + tokens["ann"] + `"`}, "as": {"ann"}, "next": {"/queue"}}
	expect(t, s.do(s.request("", http.MethodPost, "/login", wrong)), http.StatusUnauthorized, "quotation marks",
		"Log in as ann", `value="/queue"`, "!"+tokens["ann"])
}

// TestALoginWithoutItsCookie: the browser blocks cookies, and the person reads that, not the login page once more.
func TestALoginWithoutItsCookie(t *testing.T) {
	s := newSite(t)
	w := s.do(s.request("", http.MethodPost, "/login", url.Values{"token": {tokens["ann"]}, "next": {"/approvals"}}))
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/login?") {
		t.Fatalf("the login is answered %d to %q", w.Code, to)
	}
	expect(t, s.get("", to), http.StatusOK, "did not keep the login", "Allow them for "+host, `value="/approvals"`)
	expect(t, s.get("", "/login"), http.StatusOK, "!did not keep")
	if to := s.get("ann", to).Header().Get("Location"); to != "/approvals" {
		t.Errorf("with the cookie it leads to %q", to)
	}
}
