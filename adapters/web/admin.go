package web

import (
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/internal/markup"
	"gatehouse/core"
)

// How many rows a table of the pages for admins has, and how many it may be asked for.
const (
	maxRows  = 100
	mostRows = 5000
)

// rows is how many rows of each table the reader asks for.
func (v *request) rows() int {
	n, _ := strconv.Atoi(v.r.URL.Query().Get("rows"))
	return min(max(n, maxRows), mostRows)
}

// more is the address of the page with more rows, which has these now; "" if there may be none, or not here.
func (v *request) more(n int) string {
	if n < v.rows() || n >= mostRows {
		return ""
	}
	return address(v.r.URL.Path, "id", v.r.URL.Query().Get("id"), "rows", strconv.Itoa(min(2*n, mostRows)))
}

// address is that of a page with a query of names and values; the empty ones are left out.
func address(path string, query ...string) string {
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		if query[i+1] != "" {
			values.Set(query[i], query[i+1])
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// clock draws the times of a page.
type clock struct{ Now time.Time }

// At is a time, "" for none.
func (c clock) At(at time.Time) template.HTML { return markup.Moment{At: at, Now: c.Now}.HTML() }

// sessionRow is a session in the list of them.
type sessionRow struct {
	core.SessionSummary
	Name, Page string
}

type sessionsPage struct {
	clock
	Platforms []platformLink
	Standings []choice
	Platform  string
	By        string // a person's name or id
	Whole     string // the address without the filter; "" = it has none
	Rows      []sessionRow
	Older     string // the address of the page with those that changed before; "" = there are none
}

// choice is an option of a form.
type choice struct {
	Value, Title string
	Chosen       bool
}

// standings are what sessions are filtered by, in words.
var standings = []choice{
	{"", "Any", false}, {string(core.SessionAsks), "An approval is open", false},
	{string(core.SessionRuns), "A turn runs or is tried again", false},
	{string(core.SessionFailed), "A turn was given up", false},
}

// platformLink narrows the list to a platform.
type platformLink struct {
	Title, Page string
	Chosen      bool
}

func (v *request) sessions() error {
	if err := v.forAdmins(); err != nil {
		return err
	}
	query := v.r.URL.Query()
	if id := core.SessionID(query.Get("id")); id != "" {
		return v.session(id)
	}
	f := core.SessionFilter{
		Platform: query.Get("platform"), People: v.peopleCalled(query.Get("by")),
		Standing: core.SessionStanding(query.Get("is")), Limit: maxRows,
	}
	if before, err := time.Parse(time.RFC3339Nano, query.Get("before")); err == nil {
		f.UpdatedBefore, f.BeforeID = before, core.SessionID(query.Get("from"))
	}
	all, err := v.Views.ListSessions(v.r.Context(), f)
	if err != nil {
		return err
	}
	page := sessionsPage{
		clock: clock{v.Now()}, Platforms: v.platformLinks(f.Platform), Platform: f.Platform, By: query.Get("by"),
	}
	for _, s := range standings {
		s.Chosen = s.Value == string(f.Standing)
		page.Standings = append(page.Standings, s)
	}
	if f.People != nil || f.Standing != "" {
		page.Whole = address("/sessions", "platform", f.Platform)
	}
	for _, s := range all {
		page.Rows = append(page.Rows, sessionRow{s, v.sessionInWords(s.ID), pageOfSession(s.ID)})
	}
	if len(all) == maxRows {
		last := all[maxRows-1]
		page.Older = address("/sessions", "platform", f.Platform, "by", page.By, "is", string(f.Standing),
			"before", last.UpdatedAt.UTC().Format(time.RFC3339Nano), "from", string(last.ID))
	}
	return v.show(http.StatusOK, "sessions", "Sessions", page)
}

// peopleCalled are the ids that a text may mean: itself or, without a platform, one of that name on each; nil for "".
func (v *request) peopleCalled(text string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	all := []string{text}
	if !strings.Contains(text, ":") {
		for _, p := range v.Platforms {
			all = append(all, p.Name+":"+text)
		}
	}
	return all
}

func (v *request) platformLinks(chosen string) []platformLink {
	all := []platformLink{{"All", "/sessions", chosen == ""}}
	for _, p := range v.Platforms {
		if p.Name == core.LocalPerson {
			continue // it has no conversations
		}
		all = append(all, platformLink{p.Title, "/sessions?platform=" + url.QueryEscape(p.Name), chosen == p.Name})
	}
	return all
}

// pageOfSession is the address of a session's page, without the prefix of a proxy. A session's id has slashes, which
// some proxies decode in a path.
func pageOfSession(id core.SessionID) string { return "/sessions?id=" + url.QueryEscape(string(id)) }

// queuePage is what the page of the queue says. No cause holds a text of a message; what looks like a secret is masked.
type queuePage struct {
	clock
	core.QueueView
	Said      string           // what was done about a dead letter just now
	DeadTurns []turnRow        // which were given up
	Refused   []postRow        // likewise
	Held      []core.OutboxRow // whose last attempt failed
	More      string           // the address of the page with more of each; "" = all are here
	Most      bool             // there may be more than the page can have
}

func (v *request) queue() error {
	if err := v.forAdmins(); err != nil {
		return err
	}
	if v.r.Method == http.MethodPost {
		return v.mendDeadLetter()
	}
	if d, ok := deadLetterOf(v.r.URL.Query()); ok {
		return v.deadLetter(d)
	}
	ctx, page := v.r.Context(), queuePage{clock: clock{v.Now()}, Said: saidOf[v.r.URL.Query().Get("done")]}
	var err error
	n := v.rows()
	if page.QueueView, err = v.Views.Queue(ctx, n); err != nil {
		return err
	}
	dead, err := v.Views.Events(ctx, core.EventFilter{Ends: []core.EndKind{core.EndDead}, Bare: true, Limit: n})
	if err != nil {
		return err
	}
	for _, e := range dead {
		page.DeadTurns = append(page.DeadTurns, v.turnRow(e))
	}
	refused, err := v.Views.ListPosts(ctx, []core.RowState{core.RowDead, core.RowUnknown}, "", n)
	if err != nil {
		return err
	}
	for _, r := range refused {
		page.Refused = append(page.Refused, v.postRow(r))
	}
	if page.Held, err = v.Views.HeldPosts(ctx, n); err != nil {
		return err
	}
	longest := max(len(page.Entries), len(page.DeadTurns), len(page.Refused), len(page.Held))
	page.More, page.Most = v.more(longest), longest == mostRows
	return v.show(http.StatusOK, "queue", "Queue", page)
}
