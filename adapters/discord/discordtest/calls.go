package discordtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/limits"
	"gatehouse/adapters/internal/fakeserver"
)

// The types of injected faults, which all fake servers share.
type (
	Fault    = fakeserver.Fault[Call]
	Injected = fakeserver.Injected[Call]
	Trouble  = fakeserver.Trouble
)

// The faults of all platforms. Others are in package fakeserver.
var (
	AnswerHeld  = fakeserver.AnswerHeld
	AnswerLost  = fakeserver.AnswerLost
	Cut         = fakeserver.Cut
	Held        = fakeserver.Held
	ServerError = fakeserver.ServerError
)

// Scope is the limit that a 429 is about.
type Scope string

// The scopes of rate limits. A shared one is not counted as an invalid request.
const (
	ScopeUser   Scope = "user"
	ScopeGlobal Scope = "global"
	ScopeShared Scope = "shared"
)

// RateLimited answers 429 with Discord's body and headers.
func RateLimited(after time.Duration, scope Scope) Trouble {
	t := Trouble{Name: "rate limited", Status: http.StatusTooManyRequests, Wait: after,
		Header: map[string]string{headerScope: string(scope)}}
	body := limits.Body(after, scope == ScopeGlobal)
	if scope == ScopeShared {
		body["message"], body["code"] = "The resource is being rate limited.", 20016
	}
	t.Body = string(fakeserver.JSON(body))
	return t
}

// RateLimitedByProxy answers 429 with a page that is not JSON, as the proxy in front of Discord does to a banned
// address.
func RateLimitedByProxy(after time.Duration) Trouble {
	return Trouble{Name: "rate limited by proxy", Status: http.StatusTooManyRequests, Body: "error code: 1015",
		Header: map[string]string{"Retry-After": limits.WholeSeconds(after), "Content-Type": "text/html"}}
}

// Refused answers an error with its code and message.
func Refused(status, code int, message string) Trouble {
	return Trouble{
		Name: message, Status: status, Body: string(fakeserver.JSON(object{"message": message, "code": code})),
	}
}

// Unauthorized answers 401 as for a bad token.
func Unauthorized() Trouble { return Refused(401, 0, "401: Unauthorized") }

// MissesAccess answers 403 as for a channel that the bot can't see.
func MissesAccess() Trouble { return Refused(403, 50001, "Missing Access") }

// MissesPermissions answers 403 as for something that the bot may not do in a channel.
func MissesPermissions() Trouble { return Refused(403, 50013, "Missing Permissions") }

const headerScope = "X-RateLimit-Scope"

// answerTrouble completes the answer of an injected fault with Discord's code and rate limit headers, and counts it as
// an invalid request if it is one.
func (s *Server) answerTrouble(c *Call, t Trouble, header http.Header) {
	header.Set("Content-Type", "application/json")
	scope := Scope(t.Header[headerScope])
	switch scope {
	case "":
	case ScopeGlobal:
		header.Set("X-RateLimit-Global", "true")
	default:
		limits.SetHeaders(header, c.Route, 5, 0, s.o.LimitNow().Add(t.Wait), t.Wait)
	}
	if scope != "" {
		header.Set("Retry-After", limits.WholeSeconds(t.Wait))
	}
	if (t.Status == 401 || t.Status == 403 || t.Status == 429) && scope != ScopeShared {
		s.countInvalid()
	}
	if !t.Handled {
		var body struct{ Code int }
		_ = json.Unmarshal([]byte(t.Body), &body)
		c.Code = body.Code
	}
}

// fake has the methods that all fake servers offer to tests.
type fake = fakeserver.Server[Call, *Call]

// Call is one call of the REST API, or a download, in the order of arrival.
type Call struct {
	fakeserver.Call
	Route  string            // such as CreateMessage
	Path   string            // of the request
	Params map[string]string // the values of the route's braces: channel, message, ...
	Query  url.Values
	Fields map[string]any // the JSON of the body, or its payload_json
	Files  []string       // the names of the uploaded files
	Code   int            // Discord's code of an error

	unknown bool
}

// Of reports whether it is a call of a route. A step of the route may be *.
func (c *Call) Of(route string) bool { return sameRoute(route, c.Route) }

// callOf makes the log entry of a request to a route.
func (s *Server) callOf(route string, r *http.Request) Call {
	return Call{
		Route: route, Path: r.URL.Path, Query: r.URL.Query(),
		Call: fakeserver.Call{At: s.o.Now(), Header: r.Header.Clone()},
	}
}

// codeOf records the code of an error answer.
func codeOf(out any) func(*Call) {
	return func(c *Call) {
		if o, is := out.(object); is {
			c.Code, _ = o["code"].(int)
		}
	}
}

// UnknownRoutes returns the routes that were called and that the fake does not have.
func (s *Server) UnknownRoutes() []string {
	var found []string
	for _, c := range s.Calls() {
		if c.unknown && !slices.Contains(found, c.Route) {
			found = append(found, c.Route)
		}
	}
	return found
}

// sameRoute compares a wanted route with one of the table. A step in braces matches any step in braces, and * matches
// any step.
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
