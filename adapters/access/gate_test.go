package access_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/core"
)

// The tokens of the tests.
const (
	annToken = "token-of-ann-0123456789"
	bobToken = "token-of-bob-0123456789"
	people   = "ann=" + annToken + ",bob!=" + bobToken
	oldKey   = "the old signing key"
	newKey   = "the new signing key"
)

// clock is the time of a gate.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)} }

// newGate makes a gate; list is that of GATEHOUSE_TOKENS.
func newGate(t *testing.T, c *clock, list string, keys ...string) *access.Gate {
	t.Helper()
	tokens, err := access.ParseTokens(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) == 0 {
		keys = []string{oldKey}
	}
	signer, err := core.NewSigner(keys[0])
	for _, k := range keys[1:] {
		if err == nil {
			signer, err = signer.With(k)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := access.ParseSecret(metricsToken)
	if err != nil {
		t.Fatal(err)
	}
	return access.New(access.Options{Tokens: tokens, Metrics: metrics, Signer: signer, Now: c.Now})
}

// request makes a request of this machine's browser; each header is "Name: value".
func request(method string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/v1/openharness", nil)
	r.Host, r.RemoteAddr = "localhost:8080", "127.0.0.1:50000"
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header[name] = append(r.Header[name], value) // as it is written
	}
	return r
}

// login logs the holder of a token in.
func login(t *testing.T, g *access.Gate, token string, headers ...string) *http.Cookie {
	t.Helper()
	w := httptest.NewRecorder()
	if err := g.Login(w, request("POST", headers...), token); err != nil {
		t.Fatal(err)
	}
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("the login sets %v", cookies)
	}
	return cookies[0]
}

// refused checks that an error is a refusal with this status and a sentence.
func refused(t *testing.T, what string, err error, status int) access.Refusal {
	t.Helper()
	var r *access.Refusal
	codes := map[int]string{401: "unauthorized", 403: "forbidden", 429: "rate_limited"}
	if !errors.As(err, &r) || r.Status != status || r.Code != codes[status] || !strings.HasSuffix(r.Message, ".") {
		t.Errorf("%s gives %#v, want %d", what, err, status)
		return access.Refusal{}
	}
	if strings.Contains(r.Message, "token-of") {
		t.Errorf("%s: the refusal shows a token: %s", what, r.Message)
	}
	if (r.RetryAfter > 0) != (status == 429) {
		t.Errorf("%s: wait %s", what, r.RetryAfter)
	}
	return *r
}

func TestBearers(t *testing.T) {
	g := newGate(t, newClock(), people)
	if g.Open() {
		t.Error("it has tokens and is open")
	}
	good := login(t, g, annToken).String()
	good, _, _ = strings.Cut(good, ";")
	cookie := "Cookie: " + good
	for _, tc := range []struct {
		name    string
		headers []string
		who     string
		how     access.How
	}{
		{"a token", []string{"Authorization: Bearer " + annToken}, "ann", access.Bearer},
		{"another token", []string{"Authorization: Bearer " + bobToken}, "bob", access.Bearer},
		{"the scheme in other case", []string{"Authorization: bEARER   " + bobToken + " "}, "bob", access.Bearer},
		{"a token and another's login", []string{"Authorization: Bearer " + bobToken, cookie}, "bob", access.Bearer},
		{
			"a proxy's header",
			[]string{"Authorization: Bearer " + annToken, "X-Forwarded-For: 1.2.3.4", "Host: gate.example"},
			"ann", access.Bearer,
		},
		{"a proxy's password beside a login", []string{"Authorization: Basic YTpi", cookie}, "ann", access.Cookie},
		{"a login", []string{cookie}, "ann", access.Cookie},
		{"nothing", nil, "", ""},
		{"no token", []string{"Authorization: Bearer"}, "", ""},
		{"no token beside a login", []string{"Authorization: Bearer ", cookie}, "", ""},
		{"a wrong token", []string{"Authorization: Bearer " + annToken + "x"}, "", ""},
		{"a wrong token beside a login", []string{"Authorization: Bearer x", cookie}, "", ""},
		{"a wrong token after a tab", []string{"Authorization: Bearer\tx", cookie}, "", ""},
		{"the token in other case", []string{"Authorization: Bearer " + strings.ToUpper(annToken)}, "", ""},
		{"the beginning of a token", []string{"Authorization: Bearer " + annToken[:16]}, "", ""},
		{"two tokens", []string{"Authorization: Bearer " + annToken + " " + bobToken}, "", ""},
		{"two headers", []string{"Authorization: Bearer " + annToken, "Authorization: Bearer " + annToken}, "", ""},
		{
			"two headers beside a login", []string{"Authorization: Basic YTpi", "Authorization: Basic YTpi", cookie},
			"", "",
		},
		{"another scheme", []string{"Authorization: Basic " + annToken}, "", ""},
		{"a token without a scheme", []string{"Authorization: " + annToken}, "", ""},
		{"a token as a cookie", []string{"Cookie: gatehouse=" + annToken}, "", ""},
	} {
		var got access.Person
		var err error
		synctest.Test(t, func(*testing.T) { got, err = g.Identify(request("POST", tc.headers...)) })
		if tc.who == "" {
			refused(t, tc.name, err, 401)
			continue
		}
		if err != nil || got.Name != tc.who || got.How != tc.how || got.Actor.ID != "openharness:"+tc.who ||
			got.Actor.Name != tc.who || got.Actor.Local {
			t.Errorf("%s gives %+v, %v", tc.name, got, err)
		}
	}
}
