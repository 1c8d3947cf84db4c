package access

import (
	"net/http"
	"strings"

	"gatehouse/core"
)

// Identify returns who makes a request. A bearer counts before a login, also if it is wrong. The error is a *Refusal.
func (g *Gate) Identify(r *http.Request) (Person, error) {
	if g.Open() {
		if err := trueLoopback(r); err != nil {
			return Person{}, err
		}
		return local, nil
	}
	token, sent, err := bearer(r)
	if err != nil {
		return Person{}, err
	}
	if sent {
		return g.withBearer(r, token)
	}
	l, found := g.login(r)
	switch {
	case l.who != "" && !g.ended(r.Context(), l):
		return person(l.who, Cookie), nil
	case found:
		return Person{}, unauthorized("This login is not valid any more. Log in again.")
	}
	return Person{}, unauthorized("Nobody is logged in. Log in, or send a token as Authorization: Bearer TOKEN.")
}

func person(who string, how How) Person {
	return Person{who, core.Actor{ID: Platform + ":" + who, Name: who}, how}
}

// withBearer never makes a right token wait: those who guess may share its holder's address.
func (g *Gate) withBearer(r *http.Request, token string) (Person, error) {
	if who, ok := g.admitted.Load().holder(token); ok {
		return person(who.Name, Bearer), nil
	}
	return Person{}, g.guesses.wrong(r, token)
}

// bearer returns the bearer of a request; sent is false if it has none. Other schemes are ignored, since a proxy may
// ask a browser for a password of its own.
func bearer(r *http.Request) (token string, sent bool, err error) {
	headers := r.Header.Values("Authorization")
	if len(headers) > 1 {
		return "", false, unauthorized("The request has more than one Authorization header. Send one.")
	}
	if len(headers) == 0 {
		return "", false, nil
	}
	words := strings.Fields(headers[0])
	if len(words) == 0 || !strings.EqualFold(words[0], "Bearer") {
		return "", false, nil
	}
	return strings.Join(words[1:], " "), true, nil
}
