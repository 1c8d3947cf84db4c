package discordtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gatehouse/adapters/internal/fakeserver"
)

// fake is what every fake server offers to tests.
type fake = fakeserver.Server[Call, *Call]

// Call is one call of the REST API, or a download, in the order of arrival.
type Call struct {
	fakeserver.Call
	Route  string            // such as CreateMessage
	Path   string            // as asked for
	Params map[string]string // what stands in the route's braces: channel, message, ...
	Query  url.Values
	Fields map[string]any // the JSON of the body, or its payload_json
	Files  []string       // the names of the files sent along
	Code   int            // Discord's code of an error

	unknown bool
}

// Of says whether it is a call of a route. A step of the route may be *.
func (c *Call) Of(route string) bool { return sameRoute(route, c.Route) }

// callOf is a request as a call of a route.
func (s *Server) callOf(route string, r *http.Request) Call {
	return Call{Route: route, Path: r.URL.Path, Query: r.URL.Query(), Call: fakeserver.Call{At: s.o.Now(), Header: r.Header.Clone()}}
}

// codeOf notes the code of an answer that refuses.
func codeOf(out any) func(*Call) {
	return func(c *Call) {
		if o, is := out.(object); is {
			c.Code, _ = o["code"].(int)
		}
	}
}

// UnknownRoutes are the routes that were asked for and are not known here.
func (s *Server) UnknownRoutes() []string {
	var found []string
	for _, c := range s.Calls() {
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
