package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gatehouse/adapters/access"
	"gatehouse/core/inflight"
)

// pageWeight is what a page is taken to hold while it is made: that of the approvals, with a hundred cards, is the
// largest.
const pageWeight = 4 << 20

// request is what somebody who is known asks for, and the answer to it.
type request struct {
	*Web
	w   http.ResponseWriter
	r   *http.Request
	who access.Person
}

func (v *request) admin() bool { return v.Views.IsAdmin(v.who.Actor) }

// handler answers requests with what show does. An error becomes a page.
func (w *Web) handler(show func(*request) error) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		secure(rw.Header())
		v := &request{Web: w, w: rw, r: r}
		if err := show(v); err != nil {
			v.fail(err)
		}
	})
}

// page is a handler for those who are known. Without methods, the page is read only.
func (w *Web) page(show func(*request) error, methods ...string) http.Handler {
	if len(methods) == 0 {
		methods = []string{http.MethodGet, http.MethodHead}
	}
	return w.handler(func(v *request) (err error) {
		if v.who, err = w.Gate.Identify(v.r); err != nil {
			return v.turnedAway(err)
		}
		w.Gate.Renew(v.w, v.r)
		hold := inflight.Of(v.r.Context())
		hold.As(inflight.People, v.who.Actor.ID)
		if safe(v.r.Method) && !hold.Take(pageWeight) {
			return tooBusy()
		}
		if err = v.allows(methods...); err == nil {
			err = w.Gate.SameSite(v.r)
		}
		if err == nil {
			err = show(v)
		}
		return err
	})
}

// allows refuses a request of another method.
func (v *request) allows(methods ...string) error {
	if slices.Contains(methods, v.r.Method) {
		return nil
	}
	v.w.Header().Set("Allow", strings.Join(methods, ", "))
	return refuse(http.StatusMethodNotAllowed, "Not possible here", "This address can't be used in this way.")
}

// turnedAway answers somebody who is not known: with the way to the login page, if there is one.
func (v *request) turnedAway(err error) error {
	var denied *access.Refusal
	switch {
	case !errors.As(err, &denied) || v.Gate.Open() || denied.Status != http.StatusUnauthorized:
		return err
	case v.r.Header.Get("Sec-Fetch-Site") == "cross-site" && safe(v.r.Method):
		// A browser that follows a link of another site leaves the login out. It sends it if our own page leads on.
		return v.show(http.StatusOK, "continue", "One moment", ourPage(v.r.URL))
	}
	to := "/login"
	if next := ourPage(v.r.URL); next != "/" && v.r.URL.Path != "/logout" {
		to += "?next=" + url.QueryEscape(next)
	}
	return v.redirect(to)
}

func safe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// redirect leads on to a page of ours, which the browser gets by GET.
func (v *request) redirect(to string) error {
	v.w.Header().Set("Location", v.Gate.At(to))
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// maxNext is the longest address that a login leads to, in bytes.
const maxNext = 1000

// ourPage is the address of one of our pages, without a proxy's prefix; "/" for any other address, such as one that a
// link to the login page names.
func ourPage(u *url.URL) string {
	id, approval := strings.CutPrefix(u.Path, "/approvals/")
	switch {
	case len(u.Path)+len(u.RawQuery) > maxNext, u.Scheme != "" || u.Host != "" || u.Opaque != "" || u.User != nil:
		return "/"
	case slices.Contains([]string{"/", "/approvals", "/sessions", "/queue"}, u.Path),
		approval && id != "" && !strings.ContainsAny(id, `/\.`):
		return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
	}
	return "/"
}

// forAdmins shows everybody else what they see of an address at which there is nothing.
func (v *request) forAdmins() error {
	if v.admin() {
		return nil
	}
	return nothingHere()
}
