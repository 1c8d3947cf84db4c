package discordtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Call is one call of the REST API, or a download, in the order of arrival.
type Call struct {
	Route  string            // such as CreateMessage
	Path   string            // as asked for
	Params map[string]string // what stands in the route's braces: channel, message, ...
	At     time.Time         // by Options.Now
	Query  url.Values
	Header http.Header
	Body   []byte         // as sent
	Fields map[string]any // the JSON of the body, or its payload_json
	Files  []string       // the names of the files sent along

	Done    bool // it was answered, or its connection cut
	Status  int  // of the answer; 0 if there was none
	Code    int  // Discord's code of an error
	Fault   string
	unknown bool
}

func (s *Server) logCall(c Call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	s.changed()
	return len(s.calls) - 1
}

func (s *Server) finishCall(place, status int, out any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.calls[place]
	c.Done, c.Status = true, status
	if o, is := out.(object); is && status >= 400 {
		c.Code, _ = o["code"].(int)
	}
	s.changed()
}

// Calls are the calls of the routes named, or of all, in the order of arrival.
func (s *Server) Calls(routes ...string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Call
	for _, c := range s.calls {
		if len(routes) == 0 || slices.ContainsFunc(routes, func(r string) bool { return sameRoute(r, c.Route) }) {
			found = append(found, c)
		}
	}
	return found
}

// CountCalls counts the calls of a route without copying them.
func (s *Server) CountCalls(route string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for i := range s.calls {
		if sameRoute(route, s.calls[i].Route) {
			n++
		}
	}
	return n
}

// UnknownRoutes are the routes that were asked for and are not known here.
func (s *Server) UnknownRoutes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for _, c := range s.calls {
		if c.unknown && !slices.Contains(found, c.Route) {
			found = append(found, c.Route)
		}
	}
	return found
}

// sameRoute compares a wanted route with one of the table. Whatever stands in braces, or *, fits whatever stands there in the table.
func sameRoute(want, have string) bool {
	if want == have {
		return true
	}
	a, b := strings.Split(want, "/"), strings.Split(have, "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		braces := strings.HasPrefix(a[i], "{") && strings.HasPrefix(b[i], "{")
		if a[i] != b[i] && a[i] != "*" && !braces {
			return false
		}
	}
	return true
}
