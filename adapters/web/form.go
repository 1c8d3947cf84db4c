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
	formSize   = 64 << 10  // bytes
	answerSize = 512 << 10 // of the answer to a question: ten long texts, each of whose characters a browser may write as twelve
	formTime   = 10 * time.Second
)

// readForm reads the form of a request, of at most limit bytes, within the bounds.
func (w *Web) readForm(rw http.ResponseWriter, r *http.Request, limit int64) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return &problem{Status: http.StatusUnsupportedMediaType, Title: "Not a form", Text: "This address takes forms only."}
	}
	connection := http.NewResponseController(rw)
	_ = connection.SetReadDeadline(time.Now().Add(w.formTime)) // fails only where there is no connection
	r.Body = http.MaxBytesReader(rw, r.Body, limit)
	err := r.ParseForm()
	var long *http.MaxBytesError
	switch {
	case err == nil:
		_ = connection.SetReadDeadline(time.Time{})
		return nil
	case errors.As(err, &long):
		return &problem{Status: http.StatusRequestEntityTooLarge, Title: "Too long", Text: "The form is too long, so nothing was done. Shorten what you wrote."}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &problem{Status: http.StatusRequestTimeout, Title: "Too slow", Text: "The form did not arrive in time, so nothing was done. Send it again."}
	}
	return &problem{Status: http.StatusBadRequest, Title: "Not readable", Text: "The form can't be read, so nothing was done. Load the page again, then send it again."}
}

// checkedForm reads a form of one of our pages.
func (v *visit) checkedForm(limit int64) error {
	if err := v.readForm(v.w, v.r, limit); err != nil {
		return err
	}
	return v.Gate.CheckForm(v.r, v.who)
}
