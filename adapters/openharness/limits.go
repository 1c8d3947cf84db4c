package openharness

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"sync"
	"time"

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
)

// usage is what a principal uses now.
type usage struct {
	requests, streams int
	all               *rate.Limiter // requests of every kind
	messages          *rate.Limiter // messages; nil: no limit
}

// limits keeps one principal from taking what the others need. There are as many entries as principals that have sent something.
type limits struct {
	mu        sync.Mutex
	perMinute int
	used      map[string]*usage
}

func (l *limits) of(who access.Person) *usage {
	u := l.used[who.Name]
	if u == nil {
		u = &usage{all: rate.NewLimiter(perSecond, burst)}
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

// readBody reads the JSON of a request whose sender is known.
func (e *Engine) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, refuse(http.StatusUnsupportedMediaType, codeMediaType, "Send the request as application/json.")
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, refuse(http.StatusUnsupportedMediaType, codeMediaType, "Send the request without a content encoding.")
	}
	most := int64(e.MaxMessage + bodySlack)
	tooLarge := refuse(http.StatusRequestEntityTooLarge, codeTooLarge, "The request is too large. Send less at a time, and attachments as references.")
	if r.ContentLength > most {
		return nil, tooLarge
	}
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(bodyTime)) // fails only where there is no connection, as in a test
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	_ = connection.SetReadDeadline(time.Time{})
	var over *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &over):
		return nil, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refuse(http.StatusRequestTimeout, codeSlow, "The request did not arrive in time. Send it again.")
	}
	return nil, refuse(http.StatusBadRequest, codeInvalid, "The request did not arrive completely. Send it again.")
}
