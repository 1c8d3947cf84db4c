package web

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"sync"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/core"
	"gatehouse/core/mask"
)

// policy is what a browser may do on our pages: use what comes from here, and no more.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

var guards = map[string]string{
	"Content-Security-Policy":      policy,
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "same-origin", // not no-referrer: see the package comment
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-store",
}

func secure(h http.Header) {
	for name, value := range guards {
		h.Set(name, value)
	}
}

//go:embed templates
var templateFiles embed.FS

// templates are those of the pages by their names, each with the layout around it. They are parsed for the first page,
// so that nothing else waits for them. In them, at makes the address of a page of ours.
type templates struct {
	once sync.Once
	all  map[string]*template.Template
}

func (t *templates) named(name string, site access.Site) *template.Template {
	t.once.Do(func() {
		t.all = parsePages(site, "approval", "approvals", "chat", "login", "continue", "problem", "queue", "sessions",
			"session", "deadletter")
	})
	return t.all[name]
}

func parsePages(site access.Site, names ...string) map[string]*template.Template {
	all := map[string]*template.Template{}
	functions := template.FuncMap{"at": site.At, "chatModules": chatModules, "masked": mask.Text}
	shared := template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/layout.html"))
	for _, name := range names {
		all[name] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, "templates/"+name+".html"))
	}
	return all
}

// layout is what every page has.
type layout struct {
	Name   string // of the template
	Title  string
	Assets string // where they are
	Who    string // "" = nobody is known
	Login  bool   // the reader can log out
	// the name of the reader's login, for the script; "" = it has none
	Session string
	// approvals that wait for the reader's decision
	Waiting int
	Admin   bool
	Token   string         // of forms
	Reader  *access.Person // who is logged in, for the script; of nobody the zero value; nil = it can't be known
	Now     string         // when the page was made, RFC 3339
	Body    any
}

// show writes a page. It is made as a whole before the first byte is sent.
func (v *request) show(status int, name, title string, body any) error {
	l := layout{
		Name: name, Title: title, Assets: v.Gate.At(assetPath), Who: v.who.Name, Login: v.who.How == access.Cookie,
		Now: v.Now().UTC().Format(time.RFC3339Nano), Body: body,
	}
	if l.Who != "" {
		l.Admin, l.Token, l.Reader = v.admin(), v.Gate.FormToken(v.who, v.r), &v.who
		l.Session, l.Waiting = v.Gate.LoginOf(v.r), v.waiting()
	}
	if p, login := body.(loginPage); login && v.r.Header.Get("Sec-Fetch-Site") != "cross-site" {
		l.Reader = &access.Person{Name: p.Now} // a browser that follows another site's link leaves the login out
	}
	var b bytes.Buffer
	if err := v.templates.named(name, v.Gate.Site).ExecuteTemplate(&b, "layout", l); err != nil {
		v.Log.Error("a page could not be drawn", "page", name, "err", err)
		http.Error(v.w, "The page could not be drawn. Gatehouse's log says why.", http.StatusInternalServerError)
		return nil
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(b.Bytes()) // the reader has gone
	return nil
}

// waiting is how many approvals wait for the reader's decision. A page is shown without, if it can't be read.
func (v *request) waiting() int {
	n, err := v.Approvals.Count(v.r.Context(), core.ApprovalFilter{Decider: v.who.Actor, At: v.Now()})
	if err != nil {
		v.Log.Warn("the approvals that wait can't be counted", "err", err)
	}
	return n
}
