package web

import (
	"errors"
	"net/http"
	"net/url"

	"gatehouse/adapters/access"
)

// loginPage is what the login page says. As is who is meant to log in, Now who is logged in; "" = nobody in particular.
type loginPage struct{ Next, As, Now, Fault string }

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

// done is the parameter of the login page that a login leads to, before it leads on: there it shows whether the browser
// has kept the cookie.
const done = "done"

func (v *request) askForToken() error {
	query := v.r.URL.Query()
	p := loginPage{Next: v.nextPage(query.Get("next")), As: query.Get(access.PageField)}
	who, err := v.Gate.Identify(v.r)
	switch {
	case err == nil && (p.As == "" || p.As == who.Name):
		return v.redirect(p.Next)
	case v.Gate.Open():
		return err
	case err != nil && query.Has(done):
		p.Fault = "The token is right, but your browser did not keep the login: it blocks the cookies of this site, " +
			"or deletes them at once. Allow them for " + v.r.Host + ", then log in again."
	}
	p.Now = who.Name
	return v.showLogin(http.StatusOK, p)
}

// takeToken logs in. A wrong token is said on the login page, with the status that programs read.
func (v *request) takeToken() error {
	if err := v.Gate.SameSite(v.r); err != nil {
		return err
	}
	if err := v.readForm(formSize, false); err != nil {
		return err
	}
	p := loginPage{Next: v.nextPage(v.r.PostForm.Get("next")), As: v.r.PostForm.Get(access.PageField)}
	err := v.Gate.Login(v.w, v.r, v.r.PostForm.Get("token"))
	var denied *access.Refusal
	switch {
	case err == nil:
		return v.redirect("/login?" + url.Values{done: {"1"}, "next": {p.Next}}.Encode())
	case errors.As(err, &denied) && denied.Status != http.StatusForbidden:
		fault := v.problemOf(err)
		v.retryAfter(fault)
		p.Fault = fault.Text
		if who, err := v.Gate.Identify(v.r); err == nil {
			p.Now = who.Name
		}
		return v.showLogin(fault.Status, p)
	}
	return err
}

func (v *request) showLogin(status int, p loginPage) error {
	title := "Log in"
	if p.As = access.NameOf(p.As); p.As != "" {
		title += " as " + p.As
	}
	return v.show(status, "login", title, p)
}

// nextPage is where a login leads: to one of our pages, whatever the link says.
func (v *request) nextPage(next string) string {
	u, err := url.Parse(next)
	if err != nil {
		return "/"
	}
	u.Path = v.Gate.Within(u.Path)
	return ourPage(u)
}

// logout ends the login in this browser.
func (v *request) logout() error {
	if err := v.checkedForm(formSize); err != nil {
		return err
	}
	if err := v.Gate.Logout(v.w, v.r); err != nil {
		v.Log.Warn("a log-out could not be stored, so a copy of its cookie holds until its end", "err", err)
	}
	return v.redirect("/login")
}
