package slacktest

import (
	"net/http"
	"slices"
	"time"
)

// Call is one call of the Web API, in the order of arrival.
type Call struct {
	Method string
	At     time.Time // by the workspace's clock
	Args   Args      // as sent, the token among them
	Header http.Header
	Body   []byte

	Done   bool   // it was answered, or its connection cut
	Status int    // of the answer; 0 if there was none
	Error  string // "" if ok; "(cut)", "(lost)" or "(garbled)" for a fault of the wire
	Fault  string // the trouble that was injected, if any
}

func (s *Server) logCall(c Call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	s.changed()
	return len(s.calls) - 1
}

func (s *Server) finishCall(place, status int, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if place < len(s.calls) {
		c := &s.calls[place]
		c.Done, c.Status, c.Error = true, status, code
	}
	s.changed()
}

// Calls are the calls of the methods named, or of all, in the order of arrival.
func (s *Server) Calls(names ...string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Call
	for _, c := range s.calls {
		if len(names) == 0 || slices.Contains(names, c.Method) {
			found = append(found, c)
		}
	}
	return found
}

// CountCalls counts the calls of a method without copying them.
func (s *Server) CountCalls(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for i := range s.calls {
		if s.calls[i].Method == name {
			n++
		}
	}
	return n
}

// UnknownMethods are the methods that were called and are not known here.
func (s *Server) UnknownMethods() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var unknown []string
	for _, c := range s.calls {
		if c.Error == "unknown_method" && !slices.Contains(unknown, c.Method) {
			unknown = append(unknown, c.Method)
		}
	}
	return unknown
}
