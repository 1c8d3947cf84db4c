package access_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/core"
)

// TestARequestSaysWhomItsPageWasMadeFor: only a bearer, and who is alone at this machine, need not.
func TestARequestSaysWhomItsPageWasMadeFor(t *testing.T) {
	g := newGate(t, newClock(), people)
	for _, c := range []struct {
		how  access.How
		page string
		code string
	}{
		{access.Cookie, "bob", ""}, {access.Cookie, "ann", "other_person"}, {access.Cookie, "", "old_page"},
		{access.Cookie, "Bob", "other_person"}, {access.Cookie, "<b>bob", "old_page"},
		{access.Cookie, strings.Repeat("b", 65), "old_page"}, {access.Cookie, "local", "other_person"},
		{access.Bearer, "", ""}, {access.Bearer, "ann", ""},
		{access.Loopback, "", ""}, {access.Loopback, "ann", "other_person"}, {access.Loopback, "bob", ""},
	} {
		err := g.MadeFor(access.Person{Name: "bob", How: c.how}, c.page)
		var r *access.Refusal
		switch {
		case c.code == "" && err != nil:
			t.Errorf("%s for %q: %v", c.how, c.page, err)
		case c.code == "":
		case !errors.As(err, &r) || r.Status != http.StatusConflict || r.Code != c.code:
			t.Errorf("%s for %q: %#v, want %s", c.how, c.page, err, c.code)
		case c.code == "other_person" && (r.Now != "bob" || r.Page != c.page):
			t.Errorf("%s for %q: %#v", c.how, c.page, r)
		case c.code == "old_page" && (r.Now+r.Page != "" || strings.Contains(r.Message, "<b>")):
			t.Errorf("%s for %q: %#v", c.how, c.page, r)
		}
	}
}

// jar is the cookies of a browser: one host's, whatever the port.
type jar map[string]string

func (j jar) take(w *httptest.ResponseRecorder) {
	for _, c := range w.Result().Cookies() {
		if j[c.Name] = c.Value; c.MaxAge < 0 {
			delete(j, c.Name)
		}
	}
}

func (j jar) request(method string) *http.Request {
	r := request(method)
	for name, value := range j {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	return r
}

// gateOf makes the gate of one bot.
func gateOf(t *testing.T, instance, key string, values access.Values) *access.Gate {
	t.Helper()
	tokens, err := access.ParseTokens(people)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := core.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	return access.New(access.Options{
		Tokens: tokens, Signer: signer, Instance: instance, Values: values, Now: newClock().Now,
	})
}

func is(t *testing.T, what string, g *access.Gate, r *http.Request, want string) {
	t.Helper()
	p, err := g.Identify(r)
	if p.Name != want || (err == nil) != (want != "") {
		t.Errorf("%s: %+v, %v; want %q", what, p, err, want)
	}
}

// TestBotsOnOneHostKeepTheirLogins: a browser sends both bots all cookies of their host.
func TestBotsOnOneHostKeepTheirLogins(t *testing.T) {
	one, two := gateOf(t, "one", oldKey, nil), gateOf(t, "two", newKey, nil)
	j := jar{}
	for g, token := range map[*access.Gate]string{one: annToken, two: bobToken} {
		w := httptest.NewRecorder()
		if err := g.Login(w, j.request("POST"), token); err != nil {
			t.Fatal(err)
		}
		j.take(w)
	}
	is(t, "the one", one, j.request("GET"), "ann")
	is(t, "the other", two, j.request("GET"), "bob")
	is(t, "a replica", gateOf(t, "one", oldKey, nil), j.request("GET"), "ann")
	w := httptest.NewRecorder()
	if err := one.Logout(w, j.request("POST")); err != nil {
		t.Fatal(err)
	}
	j.take(w)
	is(t, "the one, after its log-out", one, j.request("GET"), "")
	is(t, "the other, after that", two, j.request("GET"), "bob")
}

// TestALoginUnderTheOldNameHolds, and gets the new one; that of another bot is left alone.
func TestALoginUnderTheOldNameHolds(t *testing.T) {
	before, g, other := gateOf(t, "", oldKey, nil), gateOf(t, "one", oldKey, nil), gateOf(t, "two", newKey, nil)
	j := jar{}
	login := func(g *access.Gate, token string) {
		t.Helper()
		w := httptest.NewRecorder()
		if err := g.Login(w, j.request("POST"), token); err != nil {
			t.Fatal(err)
		}
		j.take(w)
	}
	renew := func(g *access.Gate) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		g.Renew(w, j.request("GET"))
		j.take(w)
		return w
	}
	login(before, annToken)
	form := g.FormToken(access.Person{Name: "ann", How: access.Cookie}, j.request("GET"))
	if w := renew(other); len(w.Result().Cookies()) > 0 || j["gatehouse"] == "" {
		t.Errorf("another bot sets %v", w.Result().Cookies())
	}
	login(other, bobToken)
	is(t, "the old name", g, j.request("GET"), "ann")
	w := renew(g)
	is(t, "the new name", g, j.request("GET"), "ann")
	if all := w.Result().Cookies(); len(all) != 2 || all[0].MaxAge != 12*60*60 || j["gatehouse"] != "" {
		t.Errorf("the cookies %v are set", all)
	}
	if got := g.FormToken(access.Person{Name: "ann", How: access.Cookie}, j.request("GET")); got != form {
		t.Error("the forms of pages from before do not hold any more")
	}
	if w := renew(g); len(w.Result().Cookies()) > 0 {
		t.Errorf("it is set again: %v", w.Result().Cookies())
	}
	login(before, annToken) // by a replica of the old version
	login(g, bobToken)
	is(t, "who logged in last", g, j.request("GET"), "bob")
	w = httptest.NewRecorder()
	if err := g.Logout(w, j.request("POST")); err != nil {
		t.Fatal(err)
	}
	j.take(w)
	is(t, "after the log-out", g, j.request("GET"), "")
	is(t, "the other bot's", other, j.request("GET"), "bob")
}

// values are kept for all replicas.
type values struct {
	sync.Mutex
	all   map[string]string
	fault error
}

func (v *values) PutFor(_ context.Context, name, value string, lifetime time.Duration) error {
	v.Lock()
	defer v.Unlock()
	if v.all == nil {
		v.all = map[string]string{}
	}
	if v.all[name] = value; lifetime != 12*time.Hour {
		v.all[name] = ""
	}
	return v.fault
}

func (v *values) Get(_ context.Context, name string) (string, error) {
	v.Lock()
	defer v.Unlock()
	return v.all[name], v.fault
}

// TestALogOutEndsTheLogin: its streams at once, and a copy of its cookie on every replica. Other logins of the person
// hold.
func TestALogOutEndsTheLogin(t *testing.T) {
	var kept values
	g, replica := gateOf(t, "one", oldKey, &kept), gateOf(t, "one", oldKey, &kept)
	gone, stays := jar{}, jar{}
	for _, j := range []jar{gone, stays} {
		w := httptest.NewRecorder()
		if err := g.Login(w, j.request("POST"), annToken); err != nil {
			t.Fatal(err)
		}
		j.take(w)
	}
	ended, leave := g.Follow(gone.request("GET"))
	defer leave()
	going, leaveToo := g.Follow(stays.request("GET"))
	defer leaveToo()
	if err := g.Logout(httptest.NewRecorder(), gone.request("POST")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	default:
		t.Error("its stream goes on")
	}
	select {
	case <-going:
		t.Error("another login's stream is ended")
	default:
	}
	for _, g := range []*access.Gate{g, replica} {
		is(t, "a copy of the cookie", g, gone.request("GET"), "")
		is(t, "another login", g, stays.request("GET"), "ann")
	}
	kept.fault = errors.New("the store is down")
	is(t, "while the store is down", g, stays.request("GET"), "ann")
	if err := g.Logout(httptest.NewRecorder(), stays.request("POST")); err == nil {
		t.Error("a log-out that could not be stored says so to nobody")
	}
	<-going // it is ended in any case
}

// TestWhatWasCopiedWithATokenIsSaid, in plain words.
func TestWhatWasCopiedWithATokenIsSaid(t *testing.T) {
	for token, want := range map[string]string{
		`"` + annToken + `"`: "has quotation marks around it", "“" + annToken + "”": "has quotation marks around it",
		"'" + annToken: "has quotation marks around it", "ann=" + annToken: "has a name and an equals sign before it",
		"ann!=" + annToken:             "has a name and an equals sign before it",
		`ann="` + annToken + `"`:       "has a name and an equals sign before it",
		"\u200b" + annToken:            "can't be seen (U+200B)",
		annToken + "\ufeff":            "can't be seen (U+FEFF)",
		annToken[:9] + "\u00ad" + "xy": "can't be seen (U+00AD)",
		annToken + "\xff":              "can't be seen (one that is not UTF-8)",
		"nobody's token 0123456789":    "The token is not valid.",
		"dGhpcyBpcyBub2JvZHlz==":       "The token is not valid.",
		"":                             "The token is not valid.",
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(t, newClock(), people)
			err := g.Login(httptest.NewRecorder(), request("POST"), token)
			if r := refused(t, token, err, 401); !strings.Contains(r.Message, want) {
				t.Errorf("%q is answered %q, want %q", token, r.Message, want)
			}
		})
	}
	g := newGate(t, newClock(), people)
	if err := g.Login(httptest.NewRecorder(), request("POST"), "\u00a0"+annToken); err != nil {
		t.Errorf("a space around it: %v", err)
	}
}
