// Package webhook reads the requests that a platform signs and posts to gatehouse. Anybody can post to such an address,
// so a request that is not verified yet may cost only a little:
//
//   - What the headers show is checked before a byte of the body is read: that there are a signature and its time, the
//     content type and the announced length. The age of the time is checked after the signature: only of what the
//     platform signed does it say anything of this machine's clock.
//   - A body has at most 1 MiB, and must arrive within 3 seconds: the platforms don't wait longer for an answer.
//   - At most 512 bodies that are announced as small (64 KiB) are read at a time, and beside them 32 that are larger or
//     of unknown length. More requests are answered 503 at once. Nearly everything that the platforms send is small, so
//     who wants to keep it out by stalled requests needs hundreds of new connections every 3 seconds. The buffers take
//     64 MiB at most.
//   - A refused request is answered at once and its connection closed, whether or not its body arrives.
//   - Refusals are logged once a second at most, with the number of those that were not logged.
package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"strconv"
	"time"
)

// Limits of requests that are not verified yet.
const (
	MaxBody   = 1 << 20         // bytes of a body; far above what the platforms send
	Window    = 5 * time.Minute // how far the time of a signature may be off: an older request may be a replay
	smallBody = 64 << 10        // bytes of a body that counts as small
	maxSmall  = 512             // small bodies that are read at a time
	maxLarge  = 32              // others that are read at a time
	bodyTime  = 3 * time.Second // for a body to arrive
	drainTime = time.Second     // for the rest of a refused request, so that its sender can read the answer
)

// Options configure a Reader. All are required.
type Options struct {
	Signature, Time string // the headers with the signature and its time, in seconds since 1970
	Verifier
	Clock Clock
	Now   func() time.Time
	Log   *slog.Logger
}

// Clock hears of the platform's clock.
type Clock interface {
	// Signed notes that a request came whose signature is right, and which was signed so long ago by this machine's
	// clock. One that is farther off than Window is refused.
	Signed(ago time.Duration)
}

// Verifier knows a platform's signatures.
type Verifier interface {
	// Valid reports whether the signature of a request is right. Its body was read; it is passed as body.
	Valid(h http.Header, body []byte) bool
}

// Reader reads and verifies the requests of one platform.
type Reader struct {
	Options
	refusals refusals
	bodyTime time.Duration
	small    *buffers
	large    *buffers
}

// NewReader makes a Reader.
func NewReader(o Options) *Reader {
	return &Reader{
		Options: o, refusals: refusals{now: o.Now, log: o.Log}, bodyTime: bodyTime,
		small: newBuffers(maxSmall, smallBody), large: newBuffers(maxLarge, MaxBody+1),
	}
}

// Read returns the body of a request that the platform has signed. If it refuses the request, it answers and logs it,
// and ok is false. The statuses are 401 if the signature or its time is missing or wrong, 408 and 413 if the body comes
// too slowly or is too large, 400 if it is incomplete, 415 if it is of another content type than kind, and 503 if too
// many bodies are being read.
func (r *Reader) Read(w http.ResponseWriter, q *http.Request, kind string) (body []byte, ok bool) {
	signed, status, why := r.checkHeaders(q, kind)
	if status != 0 {
		r.refuse(w, q, status, why)
		return nil, false
	}
	room := r.large
	if q.ContentLength >= 0 && q.ContentLength <= smallBody { // the server reads no more than that
		room = r.small
	}
	buffer, ok := room.take()
	if !ok {
		w.Header().Set("Retry-After", "1")
		r.refuse(w, q, http.StatusServiceUnavailable, "too many requests at once; send it again")
		return nil, false
	}
	defer room.put(buffer)
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(r.bodyTime)) // fails only where there is no connection, as in a test
	n, err := read(q.Body, *buffer)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.refuse(w, q, http.StatusRequestTimeout, "the body did not arrive in time")
		return nil, false
	case err != nil:
		r.refuse(w, q, http.StatusBadRequest, "the body did not arrive completely")
		return nil, false
	case n > MaxBody:
		r.refuse(w, q, http.StatusRequestEntityTooLarge, "the body is too large")
		return nil, false
	}
	_ = connection.SetReadDeadline(time.Time{})
	if body = (*buffer)[:n]; !r.Valid(q.Header, body) {
		r.refuse(w, q, http.StatusUnauthorized, "the signature is wrong")
		return nil, false
	}
	ago := r.Now().Sub(signed)
	r.Clock.Signed(ago)
	if ago.Abs() > Window {
		r.refuse(w, q, http.StatusUnauthorized, fmt.Sprintf("its signature is right, but it was signed %s ago by this "+
			"machine's clock: it is old, or the clock is wrong (see gatehouse doctor)", ago.Round(time.Second)))
		return nil, false
	}
	return bytes.Clone(body), true
}

// read fills a buffer until it is full or the body ends, which is no error.
func read(body io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = body.Read(buffer[n:])
		n += more
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// checkHeaders returns when a request says that it was signed, and the status of one that is refused without its body,
// and the reason; 0 if its body may be read.
func (r *Reader) checkHeaders(q *http.Request, kind string) (signed time.Time, status int, why string) {
	seconds, err := strconv.ParseInt(q.Header.Get(r.Time), 10, 64)
	signed = time.Unix(seconds, 0)
	sent, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	switch {
	case q.Header.Get(r.Signature) == "":
		return signed, http.StatusUnauthorized, "the request has no signature"
	case err != nil:
		return signed, http.StatusUnauthorized, "the request has no timestamp"
	case sent != kind:
		return signed, http.StatusUnsupportedMediaType, "the content type is not " + kind
	case q.ContentLength > MaxBody:
		return signed, http.StatusRequestEntityTooLarge, "the body is too large"
	}
	return signed, 0, ""
}

// refuse answers a request and logs it. The connection is closed: else the server would wait for the body before it
// answers. What is on its way is read for a moment, since closing before that could discard the answer.
func (r *Reader) refuse(w http.ResponseWriter, q *http.Request, status int, why string) {
	r.refusals.add(q.URL.Path, status, why)
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTime))
	w.Header().Set("Connection", "close")
	http.Error(w, why, status)
}
