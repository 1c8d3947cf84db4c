package web

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/core"
)

// problem is why a page can't be shown, for the person who asked for it.
type problem struct {
	Status      int
	Title, Text string
	After       time.Duration // Retry-After
	// of a form of a page that was made for another person than the reader: the two, and where the page is
	Now, Page, Here string
}

func refuse(status int, title, text string) *problem {
	return &problem{Status: status, Title: title, Text: text}
}

// Error is the text.
func (p *problem) Error() string { return p.Text }

// statuses are how errors of other packages are answered.
var statuses = map[core.Category]int{
	core.NotFound: http.StatusNotFound, core.NotAllowed: http.StatusForbidden, core.Invalid: http.StatusBadRequest,
	core.ApprovalDecided: http.StatusConflict, core.ApprovalExpired: http.StatusConflict,
}

// problemOf is what a person reads of an error. What they can't mend is logged, and its cause is not shown.
func (w *Web) problemOf(err error) *problem {
	var p *problem
	var denied *access.Refusal
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &denied) && denied.Now != "":
		return &problem{
			Status: denied.Status, Title: "You are " + denied.Now + " here now", Now: denied.Now, Page: denied.Page,
			Text: "This page was made for " + denied.Page + ", so nothing was done.",
		}
	case errors.As(err, &denied):
		return &problem{Status: denied.Status, Title: "Not admitted", Text: denied.Message, After: denied.RetryAfter}
	}
	category := core.CategoryOf(err)
	switch status := statuses[category]; status {
	case 0:
	case http.StatusNotFound:
		return refuse(status, "Not found", cmp.Or(core.MessageOf(err), "There is nothing here."))
	default:
		return refuse(status, "That did not work", cmp.Or(core.MessageOf(err), "That is not possible."))
	}
	if category == core.StoreBusy {
		w.Log.Warn("a page could not be shown", "category", category, "err", err)
		p = refuse(http.StatusServiceUnavailable, "Busy", "The database is busy. Load the page again in a moment.")
		p.After = time.Second
		return p
	}
	w.Log.Error("a page could not be shown", "category", category, "err", err)
	return refuse(http.StatusInternalServerError, "That did not work",
		"The page could not be made. Gatehouse's log says why.")
}

// Nowhere answers what has no handler: a wrong address or, with the methods that the address takes, a request of
// another method. Whoever asks is told the same.
func (w *Web) Nowhere(methods ...string) http.Handler {
	return w.handler(func(v *request) error {
		if who, err := w.Gate.Identify(v.r); err == nil {
			v.who = who // for the ways on that every page has
		}
		if len(methods) > 0 {
			return v.allows(methods...)
		}
		return nothingHere()
	})
}

func nothingHere() *problem {
	return refuse(http.StatusNotFound, "Not found",
		"There is no page at this address, or you may not see it. The address may have been mistyped.")
}

func (v *request) fail(err error) {
	if errors.Is(err, context.Canceled) {
		return // the reader has gone
	}
	p := v.problemOf(err)
	v.retryAfter(p)
	if p.Status == http.StatusRequestTimeout || p.Status == http.StatusRequestEntityTooLarge {
		v.w.Header().Set("Connection", "close")
	}
	p.Here = ourPage(v.r.URL)
	_ = v.show(p.Status, "problem", p.Title, p)
}

func (v *request) retryAfter(p *problem) {
	if p.After > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(p.After.Seconds()))))
	}
}
