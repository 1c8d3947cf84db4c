package access

import (
	"net/http"
	"slices"
)

// FormField is the hidden field of a form that has the form token.
const FormField = "csrf"

// FormToken returns the value of the hidden field: a page of another site can't read it. It holds as long as the login;
// that of the local person, as long as the signing key.
func (g *Gate) FormToken(p Person, r *http.Request) string {
	return g.forms.Seal(g.formOf(p, r)...)
}

// CheckForm refuses a form without the token for this person and this login. It reads the body, which the caller has
// limited. With a bearer no token is needed: no page can make a browser send one. The error is a *Refusal.
func (g *Gate) CheckForm(r *http.Request, p Person) error {
	if p.How == Bearer {
		return nil
	}
	fields, ok := g.forms.Open(r.PostFormValue(FormField))
	if !ok || !slices.Equal(fields, g.formOf(p, r)) {
		return forbidden("The page is from before the last login, or the form was changed. Load the page again, then " +
			"repeat what you did.")
	}
	return nil
}

// formOf are the fields of the token. The cookie is in it as a digest, since pages show the token.
func (g *Gate) formOf(p Person, r *http.Request) []string {
	session := ""
	if p.How == Cookie {
		l, _ := g.login(r)
		session = l.id()
	}
	return []string{string(p.How), p.Name, session}
}
