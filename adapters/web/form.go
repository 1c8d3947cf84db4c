package web

import (
	"errors"
	"mime"
	"net/http"
	"os"
	"time"
)

// Bounds of a form.
const (
	formSize = 64 << 10 // bytes
	// of the answer to a question: ten long texts, each of whose characters a browser may write as twelve
	answerSize = 512 << 10
	formTime   = 10 * time.Second
)

// readForm reads the form of a request, of at most limit bytes, within the bounds.
func (v *request) readForm(limit int64) error {
	r := v.r
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/x-www-form-urlencoded" {
		return refuse(http.StatusUnsupportedMediaType, "Not a form", "This address takes forms only.")
	}
	connection := http.NewResponseController(v.w)
	_ = connection.SetReadDeadline(time.Now().Add(v.formTime)) // fails only where there is no connection
	r.Body = http.MaxBytesReader(v.w, r.Body, limit)
	err := r.ParseForm()
	var long *http.MaxBytesError
	switch {
	case err == nil:
		_ = connection.SetReadDeadline(time.Time{})
		return nil
	case errors.As(err, &long):
		return refuse(http.StatusRequestEntityTooLarge, "Too long",
			"The form is too long, so nothing was done. Shorten what you wrote.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, "Too slow",
			"The form did not arrive in time, so nothing was done. Send it again.")
	}
	return refuse(http.StatusBadRequest, "Not readable",
		"The form can't be read, so nothing was done. Load the page again, then send it again.")
}

// checkedForm reads a form of one of our pages.
func (v *request) checkedForm(limit int64) error {
	if err := v.readForm(limit); err != nil {
		return err
	}
	return v.Gate.CheckForm(v.r, v.who)
}
