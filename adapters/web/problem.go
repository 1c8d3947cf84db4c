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
	case errors.As(err, &denied):
		return &problem{Status: denied.Status, Title: "Not admitted", Text: denied.Message, After: denied.RetryAfter}
	}
	category := core.CategoryOf(err)
	switch status := statuses[category]; status {
	case 0:
	case http.StatusNotFound:
		return &problem{Status: status, Title: "Not found", Text: cmp.Or(core.MessageOf(err), "There is nothing here.")}
	default:
		return &problem{Status: status, Title: "That did not work", Text: cmp.Or(core.MessageOf(err), "That is not possible.")}
	}
	if category == core.StoreBusy {
		w.Log.Warn("a page could not be shown", "category", category, "err", err)
		return &problem{Status: http.StatusServiceUnavailable, Title: "Busy", Text: "The database is busy. Load the page again in a moment.", After: time.Second}
	}
	w.Log.Error("a page could not be shown", "category", category, "err", err)
	return &problem{Status: http.StatusInternalServerError, Title: "That did not work", Text: "The page could not be made. Gatehouse's log says why."}
}

func (v *visit) fail(err error) {
	if errors.Is(err, context.Canceled) {
		return // the reader has gone
	}
	p := v.problemOf(err)
	v.retryAfter(p)
	if p.Status == http.StatusRequestTimeout || p.Status == http.StatusRequestEntityTooLarge {
		v.w.Header().Set("Connection", "close")
	}
	v.show(p.Status, "problem", p.Title, p)
}

func (v *visit) retryAfter(p *problem) {
	if p.After > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(p.After.Seconds()))))
	}
}
