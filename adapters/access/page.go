package access

import (
	"cmp"
	"net/http"
)

// A request of a page says whom the page was made for, since a browser adds the cookie of whoever is logged in by then:
// by a header or, where there can be none, by a field of the form or a parameter of the address.
const (
	PageHeader = "Gatehouse-As"
	PageField  = "as"
)

// PageOf is the name that a request's header or address gives; "" if they give none.
func PageOf(r *http.Request) string {
	return cmp.Or(r.Header.Get(PageHeader), r.URL.Query().Get(PageField))
}

// MadeFor refuses, with 409, the request of a person by a page that was made for another one, and a login's by a page
// that does not say for whom. Nobody's page sends a bearer, and who is at this machine is one person. The error is a
// *Refusal.
func (g *Gate) MadeFor(p Person, page string) error {
	switch {
	case p.How == Bearer, page == p.Name, p.How == Loopback && page == "":
		return nil
	case NameOf(page) == "":
		return &Refusal{
			Status: http.StatusConflict, Code: "old_page",
			Message: "This page is of an older version. Nothing was done: load the page again, then repeat what you " +
				"did.",
		}
	}
	return &Refusal{
		Status: http.StatusConflict, Code: "other_person", Now: p.Name, Page: page,
		Message: "You are " + p.Name + " here now, and this page was made for " + page + ". Nothing was done: load " +
			"the page again to go on as " + p.Name + ", or log in as " + page + ".",
	}
}

// NameOf returns a text that can be a person's name; "" for any other one.
func NameOf(text string) string {
	if nameForm.MatchString(text) {
		return text
	}
	return ""
}
