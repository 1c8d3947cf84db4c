package web

import (
	"errors"
	"mime"
	"net/http"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/intake"
)

// Bounds of a form.
const (
	formSize = 64 << 10 // bytes
	// of the answer to a question: ten long texts, each of whose characters a browser may write as twelve
	answerSize = 512 << 10
	formTime   = 10 * time.Second
	formWeight = 4
)

// readForm reads the form of a request, of at most limit bytes, within the bounds. One that is prompt may use what is
// kept of the process's memory.
func (v *request) readForm(limit int64, prompt bool) error {
	r := v.r
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/x-www-form-urlencoded" {
		return refuse(http.StatusUnsupportedMediaType, "Not a form", "This address takes forms only.")
	}
	body := intake.Body{Most: limit, Within: v.formTime, Weight: formWeight, Prompt: prompt}
	form, err := body.Form(v.w, r)
	if err == nil {
		r.PostForm = form
		if err = r.ParseForm(); err == nil { // the address's, since the form's are there
			return nil
		}
	}
	refusal := &intake.Refusal{Status: http.StatusBadRequest}
	errors.As(err, &refusal)
	switch refusal.Status {
	case http.StatusRequestEntityTooLarge:
		return refuse(refusal.Status, "Too long",
			"The form is too long, so nothing was done. Shorten what you wrote.")
	case http.StatusRequestTimeout:
		return refuse(refusal.Status, "Too slow",
			"The form did not arrive in time, so nothing was done. Send it again.")
	case http.StatusServiceUnavailable:
		return tooBusy()
	}
	return refuse(refusal.Status, "Not readable",
		"The form can't be read, so nothing was done. Load the page again, then send it again.")
}

// tooBusy refuses what there is no memory for now.
func tooBusy() *problem {
	p := refuse(http.StatusServiceUnavailable, "Busy",
		"There are too many requests at once, so nothing was done. Try it again in a moment.")
	p.After = time.Second
	return p
}

// checkedForm reads a form of one of our pages.
func (v *request) checkedForm(limit int64) error {
	if err := v.readForm(limit, true); err != nil {
		return err
	}
	if err := v.Gate.MadeFor(v.who, v.r.PostForm.Get(access.PageField)); err != nil {
		return err
	}
	return v.Gate.CheckForm(v.r, v.who)
}
