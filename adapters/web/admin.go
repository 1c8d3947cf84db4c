package web

import (
	"html/template"
	"net/http"
	"time"

	"gatehouse/adapters/internal/markup"
	"gatehouse/core"
)

// How many rows the pages for admins have.
const (
	maxSessions = 100
	maxRows     = 100
)

// clock draws the times of a page.
type clock struct{ Now time.Time }

// At is a time, "" for none.
func (c clock) At(at time.Time) template.HTML { return markup.Moment{At: at, Now: c.Now}.HTML() }

type sessionsPage struct {
	clock
	Rows []core.SessionSummary
	Full bool // there may be more
}

func (v *request) sessions() error {
	if err := v.forAdmins(); err != nil {
		return err
	}
	all, err := v.Views.ListSessions(v.r.Context(), core.SessionFilter{Limit: maxSessions})
	if err != nil {
		return err
	}
	page := sessionsPage{clock{v.Now()}, all, len(all) == maxSessions}
	return v.show(http.StatusOK, "sessions", "Sessions", page)
}

// queuePage is what the page of the queue says. No cause holds a text of a message; what looks like a secret is masked.
type queuePage struct {
	clock
	core.QueueView
	DeadTurns []core.EventRecord // which were given up
	Held      []core.OutboxRow   // whose last attempt failed
}

func (v *request) queue() error {
	if err := v.forAdmins(); err != nil {
		return err
	}
	ctx := v.r.Context()
	q, err := v.Views.Queue(ctx, maxRows)
	if err != nil {
		return err
	}
	dead, err := v.Views.Events(ctx, core.EventFilter{Ends: []core.EndKind{core.EndDead}, Bare: true, Limit: maxRows})
	if err != nil {
		return err
	}
	held, err := v.Views.HeldPosts(ctx, maxRows)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "queue", "Queue", queuePage{clock{v.Now()}, q, dead, held})
}
