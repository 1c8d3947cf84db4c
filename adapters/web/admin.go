package web

import (
	"html/template"
	"net/http"
	"net/url"
	"time"

	"gatehouse/adapters/internal/markup"
	"gatehouse/core"
)

// maxRows is how many rows a table of the pages for admins has.
const maxRows = 100

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
	Rows      []sessionRow
	Older     string // the address of the page with those that changed before; "" = there are none
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
	f := core.SessionFilter{Platform: query.Get("platform"), Limit: maxRows}
	if before, err := time.Parse(time.RFC3339Nano, query.Get("before")); err == nil {
		f.UpdatedBefore = before
	}
	all, err := v.Views.ListSessions(v.r.Context(), f)
	if err != nil {
		return err
	}
	page := sessionsPage{clock: clock{v.Now()}, Platforms: v.platformLinks(f.Platform)}
	for _, s := range all {
		page.Rows = append(page.Rows, sessionRow{s, v.sessionInWords(s.ID), pageOfSession(s.ID)})
	}
	if len(all) == maxRows {
		page.Older = "/sessions?" + url.Values{
			"platform": {f.Platform}, "before": {all[maxRows-1].UpdatedAt.UTC().Format(time.RFC3339Nano)},
		}.Encode()
	}
	return v.show(http.StatusOK, "sessions", "Sessions", page)
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
	if page.QueueView, err = v.Views.Queue(ctx, maxRows); err != nil {
		return err
	}
	dead, err := v.Views.Events(ctx, core.EventFilter{Ends: []core.EndKind{core.EndDead}, Bare: true, Limit: maxRows})
	if err != nil {
		return err
	}
	for _, e := range dead {
		page.DeadTurns = append(page.DeadTurns, v.turnRow(e))
	}
	refused, err := v.Views.ListPosts(ctx, []core.RowState{core.RowDead, core.RowUnknown}, "", maxRows)
	if err != nil {
		return err
	}
	for _, r := range refused {
		page.Refused = append(page.Refused, v.postRow(r))
	}
	if page.Held, err = v.Views.HeldPosts(ctx, maxRows); err != nil {
		return err
	}
	return v.show(http.StatusOK, "queue", "Queue", page)
}
