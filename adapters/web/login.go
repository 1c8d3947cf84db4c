package web

import (
	"errors"
	"net/http"
	"net/url"

	"gatehouse/adapters/access"
)

// loginPage is what the login page says.
type loginPage struct{ Next, Fault string }

// login shows the login page, and logs the holder of a token in.
func (v *request) login() error {
	if err := v.allows(http.MethodGet, http.MethodHead, http.MethodPost); err != nil {
		return err
	}
	if safe(v.r.Method) {
		return v.askForToken()
	}
	return v.takeToken()
}

func (v *request) askForToken() error {
	next := nextPage(v.r.URL.Query().Get("next"))
	_, err := v.Gate.Identify(v.r)
	switch {
	case err == nil:
		return v.redirect(next)
	case v.Gate.Open():
		return err
	}
	return v.show(http.StatusOK, "login", "Log in", loginPage{Next: next})
}

// takeToken logs in. A wrong token is said on the login page, with the status that programs read.
func (v *request) takeToken() error {
	if err := v.Gate.SameSite(v.r); err != nil {
		return err
	}
	if err := v.readForm(formSize, false); err != nil {
		return err
	}
	next := nextPage(v.r.PostForm.Get("next"))
	err := v.Gate.Login(v.w, v.r, v.r.PostForm.Get("token"))
	var denied *access.Refusal
	switch {
	case err == nil:
		return v.redirect(next)
	case errors.As(err, &denied) && denied.Status != http.StatusForbidden:
		p := v.problemOf(err)
		v.retryAfter(p)
		return v.show(p.Status, "login", "Log in", loginPage{Next: next, Fault: p.Text})
	}
	return err
}

// nextPage is where a login leads: to one of our pages, whatever the link says.
func nextPage(next string) string {
	u, err := url.Parse(next)
	if err != nil {
		return "/"
	}
	return ourPage(u)
}

// logout ends the login in this browser.
func (v *request) logout() error {
	if err := v.checkedForm(formSize); err != nil {
		return err
	}
	v.Gate.Logout(v.w)
	return v.redirect("/login")
}
