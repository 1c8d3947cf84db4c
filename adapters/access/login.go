package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The cookie of a login is oldCookie, "-" and some of the digest of the instance, since the bots on one host share the
// host's cookies, whatever their ports are. Over TLS it has a prefix: a browser takes such a cookie only over TLS, and
// from no other host, so that no neighbour in the same domain can set it. A bot that has a path of a host shares it
// with others, which must not get its logins: its cookie is of the path, which that prefix does not allow.
const (
	oldCookie  = "gatehouse" // what every bot's cookie was named; a login under it still holds
	hostPrefix = "__Host-"
	pathPrefix = "__Secure-"
	instanceID = 4 // bytes of the digest
)

// cookieOf is the name of the cookie of an instance.
func cookieOf(instance string) string {
	if instance == "" {
		return oldCookie
	}
	digest := sha256.Sum256([]byte(instance))
	return oldCookie + "-" + hex.EncodeToString(digest[:instanceID])
}

// separator separates the name in a cookie from what is sealed. No name has it.
const separator = "~"

// Login logs the holder of a token in, with a cookie. A wrong token is refused after a second, or at once while too
// many of them wait. The error is a *Refusal.
func (g *Gate) Login(w http.ResponseWriter, r *http.Request, token string) error {
	if g.Open() {
		return forbidden("There is nobody to log in as: GATEHOUSE_TOKENS is not set.")
	}
	in := g.admitted.Load()
	who, ok := in.holder(strings.TrimSpace(token))
	if !ok {
		return g.guesses.wrong(r, token)
	}
	end := g.now().Add(g.session).Unix()
	sealed := in.logins[who.Name].Seal(strconv.FormatInt(end, 10), rand.Text())
	c := g.newCookie(g.cookie, byTLS(r), who.Name+separator+sealed)
	c.MaxAge = int(g.session / time.Second)
	http.SetCookie(w, c)
	g.removeOld(w, r)
	return nil
}

// Logout ends the login of a request: it deletes the cookie in the browser, and ends the login's streams, and the login
// itself where a copy of the cookie is. The error is that of the store: then a copy holds until its end.
func (g *Gate) Logout(w http.ResponseWriter, r *http.Request) error {
	for _, secure := range []bool{false, true} {
		g.remove(w, g.cookie, secure)
	}
	g.removeOld(w, r)
	l, _ := g.login(r)
	if l.who == "" {
		return nil
	}
	return g.end(r.Context(), l)
}

// Renew gives a login that came under the cookie's old name the new one.
func (g *Gate) Renew(w http.ResponseWriter, r *http.Request) {
	l, _ := g.login(r)
	if l.who == "" || l.cookie == g.cookie {
		return
	}
	c := g.newCookie(g.cookie, byTLS(r), l.value)
	c.MaxAge = int(l.end.Sub(g.now()) / time.Second)
	http.SetCookie(w, c)
	g.removeOld(w, r)
}

// removeOld deletes the cookie of the old name, if it is this bot's, and the one from when the bot had the whole host.
func (g *Gate) removeOld(w http.ResponseWriter, r *http.Request) {
	if g.Path != "" {
		c := g.newCookie(g.cookie, false, "")
		c.Path, c.MaxAge = "/", -1
		http.SetCookie(w, c)
	}
	if g.cookie == oldCookie {
		return
	}
	if l := g.opened(r, oldCookie); l.who != "" {
		g.remove(w, oldCookie, byTLS(r))
	}
}

func (g *Gate) remove(w http.ResponseWriter, name string, secure bool) {
	c := g.newCookie(name, secure, "")
	c.MaxAge = -1
	http.SetCookie(w, c)
}

func (g *Gate) newCookie(name string, secure bool, value string) *http.Cookie {
	return &http.Cookie{
		Name: g.cookieName(name, secure), Value: value, Path: g.cookiePath(), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: secure,
	}
}

func (g *Gate) cookieName(name string, secure bool) string {
	switch {
	case secure && g.Path == "":
		return hostPrefix + name
	case secure:
		return pathPrefix + name
	}
	return name
}

// byTLS reports whether the browser used TLS. Nobody gains by a wrong header: it only makes the cookie stricter.
func byTLS(r *http.Request) bool {
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return r.TLS != nil || strings.EqualFold(strings.TrimSpace(first), "https")
}

// login is a login that holds by its cookie alone; who "" is none.
type login struct {
	who, cookie, value string
	end                time.Time
}

// login returns the login of a request; found is false if it has no cookie of one at all.
func (g *Gate) login(r *http.Request) (l login, found bool) {
	for _, name := range slices.Compact([]string{g.cookie, oldCookie}) {
		found = found || len(r.CookiesNamed(g.cookieName(name, byTLS(r)))) > 0
		if l = g.opened(r, name); l.who != "" {
			return l, true
		}
	}
	return login{}, found
}

// opened reads the cookie of a name. Of two it takes neither: another site of the same domain has set one.
func (g *Gate) opened(r *http.Request, name string) login {
	all := r.CookiesNamed(g.cookieName(name, byTLS(r)))
	if len(all) != 1 {
		return login{}
	}
	who, sealed, _ := strings.Cut(all[0].Value, separator)
	signer := g.admitted.Load().logins[who]
	if signer == nil {
		return login{}
	}
	fields, ok := signer.Open(sealed)
	if !ok || len(fields) != 2 {
		return login{}
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	end := time.Unix(seconds, 0)
	if err != nil || !g.now().Before(end) {
		return login{}
	}
	return login{who, name, all[0].Value, end}
}
