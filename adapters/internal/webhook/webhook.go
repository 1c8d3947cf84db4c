// Package webhook reads the requests that a platform signs and posts to gatehouse. Anybody can post to such an address,
// so a request that is not verified yet may cost only a little:
//
//   - What the headers show is checked before a byte of the body is read: that there are a signature and its time, the
//     content type and the announced length. The age of the time is checked after the signature: only of what the
//     platform signed does it say anything of this machine's clock.
//   - A body has at most 1 MiB, and must arrive within 3 seconds: the platforms don't wait longer for an answer.
//   - Its room is taken from the process's budget before it is read (package intake). A small one, and one that the
//     platform does not send again, may use what is kept; where that is full too, the oldest body that still arrives is
//     cut. The platforms' bodies arrive at once, so who wants to keep them out by stalled requests can't.
//   - A refused request is answered at once and its connection closed, whether or not its body arrives.
//   - Refusals are logged once a second at most, with the number of those that were not logged.
package webhook

import (
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"time"

	"gatehouse/adapters/internal/intake"
)

// Limits of requests that are not verified yet.
const (
	MaxBody  = 1 << 20         // bytes of a body; far above what the platforms send
	Window   = 5 * time.Minute // how far the time of a signature may be off: an older request may be a replay
	bodyTime = 3 * time.Second // for a body to arrive
	weight   = 6               // of a body: with what is read of it, stored, and sent to the database
)

// Options configure a Reader. All are required but Once.
type Options struct {
	Signature, Time string // the headers with the signature and its time, in seconds since 1970
	Once            bool   // the platform does not send a request again that was not answered
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
}

// NewReader makes a Reader.
func NewReader(o Options) *Reader {
	return &Reader{Options: o, refusals: refusals{now: o.Now, log: o.Log}, bodyTime: bodyTime}
}

// Read returns the body of a request that the platform has signed. If it refuses the request, it answers and logs it,
// and ok is false. The statuses are 401 if the signature or its time is missing or wrong, 408 and 413 if the body comes
// too slowly or is too large, 400 if it is incomplete, 415 if it is of another content type than kind, and 503 if there
// is no room for it.
func (r *Reader) Read(w http.ResponseWriter, q *http.Request, kind string) (body []byte, ok bool) {
	signed, status, why := r.checkHeaders(q, kind)
	if status != 0 {
		r.refuse(w, q, status, why)
		return nil, false
	}
	take := intake.Body{
		Most: MaxBody, Within: r.bodyTime, Weight: weight, Prompt: r.Once || intake.Small(q),
	}
	body, err := take.Read(w, q)
	if refusal := (*intake.Refusal)(nil); errors.As(err, &refusal) {
		r.refuse(w, q, refusal.Status, refusal.Why)
		return nil, false
	}
	if !r.Valid(q.Header, body) {
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
	return body, true
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

// refuse answers a request, logs it, and closes its connection.
func (r *Reader) refuse(w http.ResponseWriter, q *http.Request, status int, why string) {
	r.refusals.add(q.URL.Path, status, why)
	http.Error(w, intake.Refuse(w, errors.New(why)).Error(), status)
}
