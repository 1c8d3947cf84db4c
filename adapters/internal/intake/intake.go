// Package intake reads the bodies of HTTP requests within the process's budget (package inflight), for everybody who
// sends some: the request's context says what it holds. A body's room is taken before a byte of it is read, by the
// length that it announces, or in steps where it announces none, and given back when the request has been answered.
// Who is refused is answered at once, and the connection is closed.
package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"gatehouse/core/inflight"
	"gatehouse/core/strictjson"
)

// Body says how a body is read.
type Body struct {
	Most   int64         // bytes
	Within time.Duration // for it to arrive
	Weight int64         // how many times its length the work on it holds at most
	Prompt bool          // it may use what is kept: its sender does not repeat it, or a person waits for it
}

const (
	smallBody = 16 << 10               // bytes of a body that is always prompt, if it is signed
	firstStep = 16 << 10               // bytes of a body's buffer, and then as many again as have come
	drainTime = 500 * time.Millisecond // for the rest of a refused request, so that its sender can read the answer
	maxFields = 200                    // of a form
	valueSize = 512                    // bytes of a value in JSON, in two trees
)

// Small reports whether a request announces a small body.
func Small(r *http.Request) bool { return 0 <= r.ContentLength && r.ContentLength <= smallBody }

// Refusal is why a body is not taken.
type Refusal struct {
	// of HTTP: 400 if it is incomplete or has too many values, 408 if it came too slowly, 413 if it is too large, 503
	// if there is no room for it
	Status int
	Why    string // a sentence
}

// Error is the sentence.
func (r *Refusal) Error() string { return r.Why }

// ErrFull refuses what there is no room for now.
var ErrFull = &Refusal{http.StatusServiceUnavailable,
	"There are too many requests at once for the memory that gatehouse may use. Send this one again in a moment."}

// arriving is a body that can be cut.
type arriving struct{ connection *http.ResponseController }

// Cut ends the wait for it.
func (a arriving) Cut() { _ = a.connection.SetReadDeadline(time.Now()) }

// Read reads a body. The error is a *Refusal; the answer to it closes the connection.
func (b Body) Read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	hold := inflight.Of(r.Context())
	body := arriving{http.NewResponseController(w)}
	// fails only where there is no connection, as in a test
	_ = body.connection.SetReadDeadline(time.Now().Add(b.Within))
	data, err := b.read(r, hold, body)
	if !hold.Arrived() {
		err = ErrFull
	}
	if err != nil {
		return nil, Refuse(w, err)
	}
	_ = body.connection.SetReadDeadline(time.Time{})
	return data, nil
}

func (b Body) read(r *http.Request, hold *inflight.Hold, body inflight.Body) ([]byte, error) {
	length, known := r.ContentLength, r.ContentLength >= 0
	switch {
	case length > b.Most:
		return nil, tooLarge
	case length == 0:
		return nil, nil
	case !known:
		length = b.Most + 1
	case !hold.Receive(length*b.Weight, body, b.Prompt):
		return nil, ErrFull
	}
	var data []byte
	for step := min(firstStep, length); ; step = min(int64(len(data)), length-int64(len(data))) {
		if !known && !hold.Receive(step*b.Weight, body, b.Prompt) {
			return nil, ErrFull
		}
		data = append(make([]byte, 0, int64(len(data))+step), data...)
		n, err := io.ReadFull(r.Body, data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case !known && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && ended(r.Body)):
			return data, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, tooSlow
		case err != nil:
			return nil, incomplete
		case int64(len(data)) == length && known:
			return data, nil
		case int64(len(data)) == length:
			return nil, tooLarge
		}
	}
}

// ended tells the end of a body from one that was broken off, which io.ReadFull calls the same.
func ended(body io.Reader) bool {
	_, err := body.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

var (
	tooLarge   = &Refusal{http.StatusRequestEntityTooLarge, "the body is too large"}
	tooSlow    = &Refusal{http.StatusRequestTimeout, "the body did not arrive in time"}
	incomplete = &Refusal{http.StatusBadRequest, "the body did not arrive completely"}

	// TooMany refuses what would make too large a tree.
	TooMany = &Refusal{http.StatusBadRequest,
		fmt.Sprintf("The request has more than %d values, or nests too deep.", strictjson.MaxValues)}
)

// JSON reads a body and takes the room of the trees that are made of it. It does not parse it.
func (b Body) JSON(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	data, err := b.Read(w, r)
	if err != nil {
		return nil, err
	}
	switch depth, values := strictjson.Measure(data); {
	case depth > strictjson.MaxDepth || values > strictjson.MaxValues:
		return nil, TooMany
	case !inflight.Of(r.Context()).Take(int64(values) * valueSize):
		return nil, Refuse(w, ErrFull)
	}
	return data, nil
}

// Form reads a form.
func (b Body) Form(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	data, err := b.Read(w, r)
	if err != nil {
		return nil, err
	}
	if bytes.Count(data, []byte("&")) >= maxFields {
		return nil, TooMany
	}
	form, err := url.ParseQuery(string(data))
	if err != nil {
		return nil, &Refusal{http.StatusBadRequest, "the form can't be read"}
	}
	return form, nil
}

// Refuse makes the answer to a request close its connection, and returns why: else the server would wait for the body
// before it answers. What is on its way is read for a moment, since closing before that could discard the answer.
func Refuse(w http.ResponseWriter, why error) error {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTime))
	w.Header().Set("Connection", "close")
	if errors.Is(why, ErrFull) {
		w.Header().Set("Retry-After", "1")
	}
	return why
}
