package slacktest

import (
	"slices"

	"gatehouse/adapters/internal/fakeserver"
)

// fake is what every fake server offers to tests.
type fake = fakeserver.Server[Call, *Call]

// Call is one call of the Web API, in the order of arrival.
type Call struct {
	fakeserver.Call
	Method string
	Args   Args // as sent, the token among them
}

// Of says whether it is a call of a method.
func (c *Call) Of(method string) bool { return c.Method == method }

// UnknownMethods are the methods that were called and are not known here.
func (s *Server) UnknownMethods() []string {
	var unknown []string
	for _, c := range s.Calls() {
		if c.Error == "unknown_method" && !slices.Contains(unknown, c.Method) {
			unknown = append(unknown, c.Method)
		}
	}
	return unknown
}
