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
func (w *Web) login(rw http.ResponseWriter, r *http.Request) {
	secure(rw.Header())
	v := &visit{Web: w, w: rw, r: r}
	var err error
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		err = v.askForToken()
	case http.MethodPost:
		err = v.takeToken()
	default:
		rw.Header().Set("Allow", "GET, HEAD, POST")
		err = &problem{Status: http.StatusMethodNotAllowed, Title: "Not possible here", Text: "This address can't be used in this way."}
	}
	if err != nil {
		v.fail(err)
	}
}

func (v *visit) askForToken() error {
	next := nextPage(v.r.URL.Query().Get("next"))
	_, err := v.Gate.Identify(v.r)
	switch {
	case err == nil:
		v.redirect(next)
		return nil
	case v.Gate.Open():
		return err
	}
	v.show(http.StatusOK, "login", "Log in", loginPage{Next: next})
	return nil
}

// takeToken logs in. A wrong token is said on the login page, with the status that programs read.
func (v *visit) takeToken() error {
	if err := v.Gate.SameSite(v.r); err != nil {
		return err
	}
	if err := v.readForm(v.w, v.r, formSize); err != nil {
		return err
	}
	next := nextPage(v.r.PostForm.Get("next"))
	err := v.Gate.Login(v.w, v.r, v.r.PostForm.Get("token"))
	var denied *access.Refusal
	switch {
	case err == nil:
		v.redirect(next)
		return nil
	case errors.As(err, &denied) && denied.Status != http.StatusForbidden:
		p := v.problemOf(err)
		v.retryAfter(p)
		v.show(p.Status, "login", "Log in", loginPage{Next: next, Fault: p.Text})
		return nil
	}
	return err
}

// nextPage is where a login leads: to one of our pages, whatever the link says.
func nextPage(next string) string {
	u, err := url.Parse(next)
	if err != nil {
		return "/"
	}
	return onward(u)
}

// logout ends the login in this browser.
func (v *visit) logout() error {
	if err := v.checkedForm(formSize); err != nil {
		return err
	}
	v.Gate.Logout(v.w)
	v.redirect("/login")
	return nil
}
