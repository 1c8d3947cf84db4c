package access

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The cookies of a login. A browser takes the first only over TLS, and from no other host, so that no neighbour in the
// same domain can set it.
const (
	tlsCookie   = "__Host-gatehouse"
	plainCookie = "gatehouse"
)

// separator separates the name in a cookie from what is sealed. No name has it.
const separator = "~"

// Login logs the holder of a token in, with a cookie. A wrong token is refused after a second, or at once while too
// many of them wait. The error is a *Refusal.
func (g *Gate) Login(w http.ResponseWriter, r *http.Request, token string) error {
	if g.Open() {
		return forbidden("There is nobody to log in as: GATEHOUSE_TOKENS is not set.")
	}
	who, ok := g.holder(strings.TrimSpace(token))
	if !ok {
		return g.guesses.wrong(r)
	}
	end := g.now().Add(g.session).Unix()
	c := newCookie(byTLS(r), who+separator+g.logins[who].Seal(strconv.FormatInt(end, 10), rand.Text()))
	c.MaxAge = int(g.session / time.Second)
	http.SetCookie(w, c)
	return nil
}

// Logout deletes the cookie in the browser.
func (g *Gate) Logout(w http.ResponseWriter) {
	for _, secure := range []bool{false, true} {
		c := newCookie(secure, "")
		c.MaxAge = -1
		http.SetCookie(w, c)
	}
}

func newCookie(secure bool, value string) *http.Cookie {
	return &http.Cookie{
		Name: cookieName(secure), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: secure,
	}
}

func cookieName(secure bool) string {
	if secure {
		return tlsCookie
	}
	return plainCookie
}

// byTLS reports whether the browser used TLS. Nobody gains by a wrong header: it only makes the cookie stricter.
func byTLS(r *http.Request) bool {
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return r.TLS != nil || strings.EqualFold(strings.TrimSpace(first), "https")
}

// loginCookie returns the value of the login, "" if there is none. Of two it takes neither: another site of the same
// domain has set one.
func loginCookie(r *http.Request) string {
	if found := r.CookiesNamed(cookieName(byTLS(r))); len(found) == 1 {
		return found[0].Value
	}
	return ""
}

// login returns who is logged in; found is false if the request has no login at all.
func (g *Gate) login(r *http.Request) (who string, found, ok bool) {
	if len(r.CookiesNamed(cookieName(byTLS(r)))) == 0 {
		return "", false, false
	}
	who, sealed, _ := strings.Cut(loginCookie(r), separator)
	signer := g.logins[who]
	if signer == nil {
		return "", true, false
	}
	fields, ok := signer.Open(sealed)
	if !ok || len(fields) != 2 {
		return "", true, false
	}
	end, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || g.now().Unix() >= end {
		return "", true, false
	}
	return who, true, true
}
