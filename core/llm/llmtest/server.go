package llmtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"gatehouse/core/strictjson"
)

// Server is what the vendors' fakes share: scripted answers, and a record of the calls.
type Server struct {
	URL string // http://127.0.0.1:…, without a path

	http    *httptest.Server
	closing chan struct{}
	once    sync.Once
	vendor  vendor

	mu      sync.Mutex
	answers []Answer
	think   func(Received) Answer
	calls   []Received
	lenient bool
	largest int // body that is taken; 0: any
	cache   cache
}

// vendor is the part of a fake that is a vendor's own.
type vendor interface {
	// check gives the answer that refuses a call which the vendor's API would refuse; nil if it would take it.
	check(c Received) *Answer
	// static answers calls that are not for the model, such as a list of models; nil: the call is for the model.
	static(c Received) *Answer
	// fault is an answer of the form of the vendor's errors.
	fault(status int, kind, message string) Answer
	// issue is an answer as it is sent to a call, with what the vendor adds and wants back.
	issue(c Received, a Answer) Answer
	// bill gives how many tokens a call has, and how many of them the vendor's cache knows.
	bill(c Received, body *strictjson.Value) (input, cached int)
	// events are the server-sent events of a good answer to a call that asks for a stream.
	events(c Received, body *strictjson.Value) []Event
}

// Received is a request that a fake got.
type Received struct {
	Method, Path string
	Header       http.Header
	Body         []byte
	Refused      string // why the vendor's API would refuse it; "": it would not
	Input        int    // about how many tokens it has, where it was answered
	Cached       int    // how many of them are billed as cached
}

// maxRequest is the largest body that a fake reads.
const maxRequest = 64 << 20

func (s *Server) start(v vendor) {
	s.vendor, s.closing, s.cache = v, make(chan struct{}), cache{}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
}

// Close ends the server, and the answers that hang.
func (s *Server) Close() {
	s.once.Do(func() { close(s.closing) })
	s.http.CloseClientConnections()
	s.http.Close()
}

// Then adds answers. Each is given once, in order, to calls of the model that are not refused.
func (s *Server) Then(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answers...)
}

// Think answers the calls for which no scripted answer is left.
func (s *Server) Think(think func(Received) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.think = think
}

// Lenient makes the server answer requests that the vendor's API would refuse: for requests whose form is what is
// examined.
func (s *Server) Lenient() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lenient = true
}

// Largest makes the server refuse a body of more bytes than that, as the vendors' APIs and the proxies before them do.
func (s *Server) Largest(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.largest = bytes
}

// Calls gives the calls so far, in order, those of static routes among them.
func (s *Server) Calls() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Refused says why calls were refused that the vendor's API would refuse too.
func (s *Server) Refused() []string {
	var all []string
	for _, c := range s.Calls() {
		if c.Refused != "" {
			all = append(all, c.Refused)
		}
	}
	return all
}

// Left counts the answers that were not given yet.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.answers)
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		s.vendor.fault(http.StatusRequestEntityTooLarge, "request_too_large", err.Error()).write(w, r, s.closing)
		return
	}
	call := Received{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	s.streamed(call, s.answerTo(&call)).write(w, r, s.closing)
}

// streamed is a good answer as the stream that a call asks for.
func (s *Server) streamed(c Received, a Answer) Answer {
	body, err := strictjson.Parse(c.Body)
	if err != nil || body.Get("stream") == nil || !body.Get("stream").Bool || a.Status >= http.StatusMultipleChoices ||
		a.Events != nil {
		return a
	}
	if answer, err := strictjson.Parse(a.Body); err == nil && answer.Kind == strictjson.Object {
		a.Events = s.vendor.events(c, answer)
	}
	return a
}

// answerTo decides on the answer and records the call.
func (s *Server) answerTo(c *Received) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.calls = append(s.calls, *c) }()
	if a := s.vendor.static(*c); a != nil {
		c.Refused = a.reason
		return *a
	}
	if s.largest > 0 && len(c.Body) > s.largest {
		c.Refused = fmt.Sprintf("the body has %d bytes, more than %d", len(c.Body), s.largest)
		return s.vendor.fault(http.StatusRequestEntityTooLarge, "request_too_large",
			"Request exceeds the maximum size.")
	}
	if a := s.vendor.check(*c); a != nil && !s.lenient {
		c.Refused = a.reason
		return *a
	}
	if body, err := strictjson.Parse(c.Body); err == nil {
		c.Input, c.Cached = s.vendor.bill(*c, body)
	}
	if len(s.answers) > 0 {
		a := s.answers[0]
		s.answers = s.answers[1:]
		return s.vendor.issue(*c, a)
	}
	if s.think != nil {
		return s.vendor.issue(*c, s.think(*c))
	}
	c.Refused = "the fake has no answer left"
	return s.vendor.fault(http.StatusInternalServerError, "server_error", c.Refused)
}

// Answer is what a fake gives to a call.
type Answer struct {
	Status  int // 0: 200
	Header  map[string]string
	Body    []byte
	Events  []Event // a stream in place of Body. An answer without them is streamed if the call asks for it
	Trouble Trouble

	reason string // of a refusal
}

// Event is a server-sent event.
type Event struct {
	Name string // "": it has none
	Data string
}

func (a Answer) text() []byte {
	if a.Events == nil {
		return a.Body
	}
	var out bytes.Buffer
	for _, e := range a.Events {
		if e.Name != "" {
			fmt.Fprintf(&out, "event: %s\n", e.Name)
		}
		fmt.Fprintf(&out, "data: %s\n\n", e.Data)
	}
	return out.Bytes()
}

// Trouble is a fault of the network.
type Trouble string

// The faults.
const (
	Drop     Trouble = "drop"     // the connection is closed without an answer
	Truncate Trouble = "truncate" // it is closed after half of the body
	Stall    Trouble = "stall"    // no answer comes until the client gives up
	Endless  Trouble = "endless"  // the body never ends
)

func (a Answer) write(w http.ResponseWriter, r *http.Request, closing <-chan struct{}) {
	switch a.Trouble {
	case Drop:
		panic(http.ErrAbortHandler)
	case Stall:
		select {
		case <-r.Context().Done():
		case <-closing:
		}
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	if a.Events != nil {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for k, v := range a.Header {
		w.Header().Set(k, v)
	}
	body := a.text()
	if a.Trouble == Truncate {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		body = body[:len(body)/2]
	}
	w.WriteHeader(max(a.Status, http.StatusOK))
	_, err := w.Write(body) // if the client is gone, there is nobody to tell
	for filler := bytes.Repeat([]byte(" "), 1<<16); a.Trouble == Endless && err == nil; {
		_, err = w.Write(filler)
	}
	if a.Trouble == Truncate {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// After is the answer with a Retry-After header, in seconds or as a date.
func (a Answer) After(retryAfter string) Answer {
	header := map[string]string{"Retry-After": retryAfter}
	for k, v := range a.Header {
		header[k] = v
	}
	a.Header = header
	return a
}

// With is the answer with a fault of the network.
func (a Answer) With(t Trouble) Answer {
	a.Trouble = t
	return a
}

// bearer is the token of an Authorization header.
func bearer(h http.Header) string {
	token, _ := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	return token
}
