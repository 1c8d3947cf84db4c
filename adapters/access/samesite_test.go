package access_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gatehouse/adapters/access"
)

func TestSameSite(t *testing.T) {
	g := newGate(t, newClock(), people)
	c := login(t, g, annToken)
	cookie, bearer := "Cookie: "+c.Name+"="+c.Value, "Authorization: Bearer "+annToken
	for _, tc := range []struct {
		method  string
		headers []string
		ok      bool
	}{
		// Programs.
		{"POST", nil, true}, {"POST", []string{bearer}, true}, {"GET", []string{bearer}, true},
		{"POST", []string{bearer, cookie}, true},
		// Our own pages.
		{"POST", []string{"Origin: http://localhost:8080"}, true},
		{"POST", []string{cookie, "Origin: http://localhost:8080", "Sec-Fetch-Site: same-origin"}, true},
		{"POST", []string{cookie, "Sec-Fetch-Site: same-origin"}, true},
		{"POST", []string{cookie, "Origin: https://LOCALHOST:8080"}, true}, {"GET", []string{cookie}, true},
		{"GET", []string{cookie, "Sec-Fetch-Site: none"}, true},
		{"POST", []string{"Host: gate.example", "Origin: https://gate.example"}, true},
		{"POST", []string{"Host: gate.example:443", "Origin: https://gate.example"}, true},
		{"POST", []string{"Host: gate.example", "Origin: http://gate.example:80"}, true},
		{"POST", []string{"Host: [::1]:8080", "Origin: http://[::1]:8080"}, true},
		// A link to one of our pages.
		{
			"GET",
			[]string{cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"},
			true,
		},
		{
			"POST",
			[]string{cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"},
			false,
		},
		{
			"GET", []string{cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"},
			false,
		},
		{
			"GET",
			[]string{
				cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document",
				"Origin: https://evil.com",
			}, false,
		},
		// Pages of others.
		{"POST", []string{cookie}, false}, {"DELETE", []string{cookie}, false}, {"PROPFIND", []string{cookie}, false},
		{"POST", []string{cookie, "Authorization: Basic YTpi"}, false},
		{"POST", []string{"Cookie: gatehouse=forged"}, false}, {"POST", []string{"Origin: null"}, false},
		{"POST", []string{"Origin: "}, false}, {"POST", []string{"Origin: https://evil.com"}, false},
		{"GET", []string{"Origin: https://evil.com"}, false},
		{"POST", []string{bearer, "Origin: https://evil.com"}, false},
		{"POST", []string{cookie, "Origin: null", "Sec-Fetch-Site: same-origin"}, false},
		{"POST", []string{cookie, "Origin: https://evil.com", "Sec-Fetch-Site: same-origin"}, false},
		{"POST", []string{cookie, "Origin: http://localhost:8080", "Sec-Fetch-Site: cross-site"}, false},
		{"POST", []string{"Sec-Fetch-Site: same-site"}, false}, {"GET", []string{"Sec-Fetch-Site: cross-site"}, false},
		{"POST", []string{"Sec-Fetch-Site: Same-Origin"}, false}, {"POST", []string{"Sec-Fetch-Site: "}, false},
		{"POST", []string{"Origin: http://localhost"}, false},
		{"POST", []string{"Origin: http://localhost:8081"}, false},
		{"POST", []string{"Origin: http://localhost:8080.evil.com"}, false},
		{"POST", []string{"Origin: http://evil.com@localhost:8080"}, false},
		{"POST", []string{"Origin: http://localhost:8080/"}, false},
		{"POST", []string{"Origin: localhost:8080"}, false},
		{"POST", []string{"Origin: file://localhost:8080"}, false},
		{"POST", []string{"Origin: chrome-extension://localhost:8080"}, false},
		{"POST", []string{"Host: ", "Origin: http://"}, false},
		{"POST", []string{"Origin: http://localhost:8080", "Origin: http://localhost:8080"}, false},
		{"POST", []string{"Sec-Fetch-Site: none", "Sec-Fetch-Site: none"}, false},
		{"POST", []string{"Origin: http://localhost:8080, https://evil.com"}, false},
		{"POST", []string{"Host: gate.example", "Origin: https://gate.example.evil.com"}, false},
		{"POST", []string{"Host: gate.example", "Origin: https://gate.example:80"}, false},
		{"POST", []string{"Host: gate.example", "Origin: https://gate.example."}, false},
	} {
		err := g.SameSite(request(tc.method, tc.headers...))
		if tc.ok && err != nil {
			t.Errorf("%s %q is refused: %v", tc.method, tc.headers, err)
		} else if !tc.ok {
			refused(t, tc.method+" "+strings.Join(tc.headers, ", "), err, 403)
		}
	}
}

// submit is a POST of a form.
func submit(value string, headers ...string) *http.Request {
	r := request("POST", headers...)
	r.PostForm = url.Values{"csrf": {value}}
	r.Form = r.PostForm
	return r
}

func TestFormTokens(t *testing.T) {
	c := newClock()
	g := newGate(t, c, people)
	session := func(token string) string {
		one := login(t, g, token)
		return "Cookie: " + one.Name + "=" + one.Value
	}
	person := func(g *access.Gate, headers ...string) access.Person {
		p, err := g.Identify(request("GET", headers...))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one, two, bobs := session(annToken), session(annToken), session(bobToken)
	ann, bob := person(g, one), person(g, bobs)
	value := g.FormToken(ann, request("GET", one))
	if err := g.CheckForm(submit(value, one), ann); err != nil {
		t.Error(err)
	}
	if strings.Contains(one, value) || strings.Contains(value, strings.TrimPrefix(one, "Cookie: ")) {
		t.Error("the form shows the login")
	}
	for name, r := range map[string]*http.Request{
		"none": submit("", one), "another login": submit(value, two), "no login": submit(value),
		"changed": submit(value+"x", one), "cut": submit(value[:len(value)-1], one),
		"a login for a form": submit(strings.SplitN(one, "~", 2)[1], one), "the bare name": submit("ann", one),
	} {
		refused(t, name, g.CheckForm(r, ann), 403)
	}
	refused(t, "another person", g.CheckForm(submit(value, bobs), bob), 403)
	refused(t, "another key", newGate(t, c, people, newKey).CheckForm(submit(value, one), ann), 403)
	if err := newGate(t, c, people, newKey, oldKey).CheckForm(submit(value, one), ann); err != nil {
		t.Errorf("after a change of keys: %v", err)
	}
	if err := g.CheckForm(submit(""), person(g, "Authorization: Bearer "+annToken)); err != nil {
		t.Errorf("a program: %v", err)
	}
	open := newGate(t, c, "")
	me := person(open)
	if err := open.CheckForm(submit(open.FormToken(me, request("GET"))), me); err != nil {
		t.Errorf("the local person: %v", err)
	}
	refused(t, "the local person", open.CheckForm(submit(""), me), 403)
	refused(t, "the local person's form for a login", g.CheckForm(submit(open.FormToken(me, request("GET")), one), ann),
		403)
}
