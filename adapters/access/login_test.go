package access_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

func TestLoginCookies(t *testing.T) {
	g := newGate(t, newClock(), people)
	for _, tc := range []struct {
		headers []string
		tls     bool
		name    string
	}{
		{nil, false, "gatehouse"}, {[]string{"X-Forwarded-Proto: http"}, false, "gatehouse"},
		{nil, true, "__Host-gatehouse"},
		{[]string{"X-Forwarded-Proto: HTTPS"}, false, "__Host-gatehouse"},
		{[]string{"X-Forwarded-Proto: https, http"}, false, "__Host-gatehouse"},
	} {
		r, w := request("POST", tc.headers...), httptest.NewRecorder()
		if tc.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if err := g.Login(w, r, " "+annToken+"\n"); err != nil {
			t.Fatal(err)
		}
		c := w.Result().Cookies()[0]
		secure := tc.name != "gatehouse"
		if c.Name != tc.name || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" ||
			c.Domain != "" || c.Secure != secure || c.MaxAge != 12*60*60 {
			t.Errorf("%q: %s", tc.headers, c)
		}
		if strings.Contains(c.Value, "token-of") || c.Valid() != nil {
			t.Errorf("the cookie is %s", c.Value)
		}
		r.AddCookie(c)
		if p, err := g.Identify(r); err != nil || p.Name != "ann" {
			t.Errorf("%q: %+v, %v", tc.headers, p, err)
		}
	}
	w := httptest.NewRecorder()
	if err := g.Logout(w, request("POST")); err != nil {
		t.Fatal(err)
	}
	var gone []string
	for _, c := range w.Result().Cookies() {
		if c.MaxAge < 0 && c.Value == "" && c.Path == "/" && c.Secure == strings.HasPrefix(c.Name, "__Host-") {
			gone = append(gone, c.Name)
		}
	}
	if strings.Join(gone, " ") != "gatehouse __Host-gatehouse" {
		t.Errorf("a logout deletes %q", gone)
	}
	refused(t,
		"a login without tokens", newGate(t, newClock(), "").Login(httptest.NewRecorder(), request("POST"), annToken),
		403)
}

// TestForgedLogins: a login holds for its person, its token and its time alone.
func TestForgedLogins(t *testing.T) {
	c := newClock()
	g := newGate(t, c, people)
	ann, again, bob := login(t, g, annToken).Value, login(t, g, annToken).Value, login(t, g, bobToken).Value
	if ann == again {
		t.Error("two logins are the same")
	}
	signer, err := core.NewSigner(oldKey)
	if err != nil {
		t.Fatal(err)
	}
	_, sealed, _ := strings.Cut(ann, "~")
	end := strconv.FormatInt(c.now.Add(time.Hour).Unix(), 10)
	later := strings.Replace(ann, strconv.FormatInt(c.now.Add(12*time.Hour).Unix(), 10),
		strconv.FormatInt(c.now.Add(999*time.Hour).Unix(), 10), 1)
	if later == ann {
		t.Fatal("the end was not found in the cookie")
	}
	for name, value := range map[string]string{
		"empty": "", "a name": "ann", "a name and nothing": "ann~", "another's name": "bob~" + sealed,
		"nobody's name": "carl~" + sealed, "no name": "~" + sealed, "no name at all": sealed,
		"the local person":       "local~" + sealed,
		"the name in other case": "Ann~" + sealed, "a later end": later, "cut": ann[:len(ann)-1], "longer": ann + "0",
		"twice": ann + ann, "more fields": ann + "~x",
		"a button's value": "ann~" + signer.Seal(end, "x"), "a form's value": "ann~" + signer.Seal("ann", end, "x"),
	} {
		r := request("GET", "Cookie: gatehouse="+value)
		_, err := g.Identify(r)
		refused(t, name, err, 401)
	}
	for name, header := range map[string]string{
		"two logins":                  "Cookie: gatehouse=" + ann + "; gatehouse=" + bob,
		"two copies":                  "Cookie: gatehouse=" + ann + "; gatehouse=" + ann,
		"a forged one first":          "Cookie: gatehouse=x; gatehouse=" + ann,
		"a cookie for TLS without it": "Cookie: __Host-gatehouse=" + ann,
	} {
		_, err := g.Identify(request("GET", header))
		refused(t, name, err, 401)
	}
	_, err = g.Identify(request("GET", "Cookie: gatehouse="+ann, "X-Forwarded-Proto: https"))
	refused(t, "a cookie without TLS, with it", err, 401)
}

func TestTheEndOfALogin(t *testing.T) {
	c := newClock()
	cookie := "Cookie: gatehouse=" + login(t, newGate(t, c, people), annToken).Value
	for _, tc := range []struct {
		name string
		list string
		keys []string
		wait time.Duration
		ok   bool
	}{
		{"at once", people, nil, 0, true},
		{"after a restart, later", people, nil, 12*time.Hour - time.Second, true},
		{"at its end", people, nil, 12 * time.Hour, false},
		{"with a new key beside the old one", people, []string{newKey, oldKey}, 0, true},
		{"with another key", people, []string{newKey}, 0, false},
		{"with more people, and other rights", "carl=token-of-carl-0123456789,ann!=" + annToken, nil, 0, true},
		{"with a changed token", "ann=token-of-ann-9876543210,bob!=" + bobToken, nil, 0, false},
		{"without the name", "bob!=" + bobToken, nil, 0, false},
		{"with the token given to another", "carl=" + annToken, nil, 0, false},
	} {
		later := &clock{c.now.Add(tc.wait)}
		p, err := newGate(t, later, tc.list, tc.keys...).Identify(request("GET", cookie))
		if tc.ok && (err != nil || p.Name != "ann") {
			t.Errorf("%s: %+v, %v", tc.name, p, err)
		} else if !tc.ok {
			refused(t, tc.name, err, 401)
		}
	}
	if p, err := newGate(t, c, "").Identify(request("GET", cookie)); err != nil || p.Name != "local" {
		t.Errorf("without tokens: %+v, %v", p, err)
	}
}
