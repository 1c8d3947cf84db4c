package openharness

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"gatehouse/adapters/access"
)

// Limits of requests.
const (
	bodySlack   = 256 << 10        // bytes of a body beyond the longest user_intent
	bodyTime    = 10 * time.Second // for a body to arrive
	answerTime  = 10 * time.Second // for an answer to be written, after the wait
	maxWait     = 25 * time.Second // for a turn; Shells wait for a minute at most
	maxRequests = 64               // requests of one principal at a time
	maxStreams  = 32               // streams of one principal at a time
	perSecond   = 20               // requests of one principal, of every kind
	burst       = 200
	tenfold     = 10 // a principal may stand for several people
	maxFiles    = 4  // uploads in memory at a time
	maxOwnFiles = 2  // those of one principal
)

// usage is what a principal uses now.
type usage struct {
	requests, streams int
	all               *rate.Limiter // requests of every kind
	messages          *rate.Limiter // messages and uploads; nil: no limit
	files             *semaphore.Weighted
}

// limits keeps one principal from taking what the others need. There are as many entries as principals that have sent
// something.
type limits struct {
	mu        sync.Mutex
	perMinute int
	used      map[string]*usage
	files     *semaphore.Weighted
}

func newLimits(perMinute int) limits {
	return limits{perMinute: perMinute, used: map[string]*usage{}, files: semaphore.NewWeighted(maxFiles)}
}

func (l *limits) of(who access.Person) *usage {
	u := l.used[who.Name]
	if u == nil {
		u = &usage{all: rate.NewLimiter(perSecond, burst), files: semaphore.NewWeighted(maxOwnFiles)}
		if n := l.perMinute * tenfold; n > 0 {
			u.messages = rate.NewLimiter(rate.Limit(float64(n)/60), n)
		}
		l.used[who.Name] = u
	}
	return u
}

func tooMany(after time.Duration) *refusal {
	r := refuse(http.StatusTooManyRequests, codeRate,
		"There are too many requests under this name. Wait, then send this one again.")
	r.RetryAfter = after
	return r
}

// enter counts a request or a stream of a principal; leave must be called if it is let in.
func (l *limits) enter(who access.Person, stream bool) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(who)
	n, most := &u.requests, maxRequests
	if stream {
		n, most = &u.streams, maxStreams
	}
	if *n >= most || !u.all.Allow() {
		return nil, tooMany(time.Second)
	}
	*n++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		*n--
	}, nil
}

// message counts a message of a principal.
func (l *limits) message(who access.Person) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(who)
	if u.messages == nil || u.messages.Allow() {
		return nil
	}
	wait := u.messages.Reserve()
	defer wait.Cancel()
	return tooMany(max(time.Second, wait.Delay()))
}

// hold waits, not for long, until one more file of a principal may be in memory; leave must be called if it may.
func (l *limits) hold(ctx context.Context, who access.Person) (leave func(), err error) {
	l.mu.Lock()
	own := l.of(who).files
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, bodyTime)
	defer cancel()
	if own.Acquire(ctx, 1) != nil {
		return nil, tooMany(time.Second)
	}
	if l.files.Acquire(ctx, 1) != nil {
		own.Release(1)
		return nil, tooMany(time.Second)
	}
	return func() {
		l.files.Release(1)
		own.Release(1)
	}, nil
}

// readBody reads the JSON of a request whose sender is known.
func (e *Engine) readBody(w http.ResponseWriter, r *http.Request) (body []byte, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, unsupported("Send the request as application/json.")
	}
	tooLarge := refuse(http.StatusRequestEntityTooLarge, codeTooLarge,
		"The request is too large. Send less at a time, and attachments as references.")
	err = receive(w, r, int64(e.MaxMessage+bodySlack), bodyTime, tooLarge, func(sent io.Reader) (err error) {
		body, err = io.ReadAll(sent)
		return err
	})
	return body, err
}

// receive calls read with the body of a request. It refuses a body that is too long or does not arrive in time, and
// passes on a refusal of read.
func receive(
	w http.ResponseWriter, r *http.Request, most int64, within time.Duration, tooLarge *refusal,
	read func(sent io.Reader) error,
) error {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return unsupported("Send the request without a content encoding.")
	}
	if r.ContentLength > most {
		return tooLarge
	}
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(within)) // fails only where there is no connection, as in a test
	err := read(http.MaxBytesReader(w, r.Body, most))
	_ = connection.SetReadDeadline(time.Time{})
	var refused *refusal
	var over *http.MaxBytesError
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case errors.As(err, &over):
		return tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, codeSlow, "The request did not arrive in time. Send it again.")
	}
	return refuse(http.StatusBadRequest, codeInvalid, "The request did not arrive completely. Send it again.")
}
