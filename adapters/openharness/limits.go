package openharness

import (
	"errors"
	"mime"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/intake"
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

// How many times its length a body's work holds: a message is stored, read again, answered by a turn, and written as
// an answer; a file is taken out of its form and stored.
const (
	messageWeight = 8
	fileWeight    = 3
)

// usage is what a principal uses now.
type usage struct {
	requests, streams int
	all               *rate.Limiter // requests of every kind
	messages          *rate.Limiter // messages and uploads; nil: no limit
}

// limits keeps one principal from taking what the others need. There are as many entries as principals that have sent
// something.
type limits struct {
	mu        sync.Mutex
	perMinute int
	used      map[string]*usage
}

func newLimits(perMinute int) limits {
	return limits{perMinute: perMinute, used: map[string]*usage{}}
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
func (e *Engine) readBody(w http.ResponseWriter, r *http.Request) (body []byte, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, unsupported("Send the request as application/json.")
	}
	if err := unencoded(r); err != nil {
		return nil, err
	}
	take := intake.Body{Most: int64(e.MaxMessage + bodySlack), Within: bodyTime, Weight: messageWeight}
	body, err = take.JSON(w, r)
	return body, e.notTaken(err, "The request is too large. Send less at a time, and attachments as references.")
}

// unencoded refuses a body that is encoded.
func unencoded(r *http.Request) error {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return unsupported("Send the request without a content encoding.")
	}
	return nil
}

// notTaken is how a body is refused that was not taken; nil for nil.
func (e *Engine) notTaken(err error, tooLarge string) error {
	var body *intake.Refusal
	if !errors.As(err, &body) {
		return err
	}
	switch body.Status {
	case http.StatusRequestEntityTooLarge:
		return refuse(body.Status, codeTooLarge, tooLarge)
	case http.StatusRequestTimeout:
		return refuse(body.Status, codeSlow, "The request did not arrive in time. Send it again.")
	case http.StatusServiceUnavailable:
		r := refuse(body.Status, codeUnavailable, body.Why)
		r.RetryAfter = time.Second
		return r
	}
	if body == intake.TooMany {
		return refuse(body.Status, codeInvalid, body.Why)
	}
	return refuse(body.Status, codeInvalid, "The request did not arrive completely. Send it again.")
}
