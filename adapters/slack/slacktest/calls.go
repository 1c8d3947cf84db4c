package slacktest

import (
	"net/http"
	"slices"
	"strconv"
	"time"

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

// Of reports whether it is a call of a method.
func (c *Call) Of(method string) bool { return c.Method == method }

// UnknownMethods returns the methods that were called and that the fake does not know.
func (s *Server) UnknownMethods() []string {
	var unknown []string
	for _, c := range s.Calls() {
		if c.Error == "unknown_method" && !slices.Contains(unknown, c.Method) {
			unknown = append(unknown, c.Method)
		}
	}
	return unknown
}

// The fault types that all fake servers share.
type (
	Fault    = fakeserver.Fault[Call]
	Injected = fakeserver.Injected[Call]
	Trouble  = fakeserver.Trouble
)

// RateLimited answers HTTP 429 with Retry-After in whole seconds, as Slack does.
func RateLimited(after time.Duration) Trouble {
	return Trouble{Name: "rate limited", Status: http.StatusTooManyRequests, Body: `{"ok":false,"error":"ratelimited"}`,
		Header: map[string]string{"Retry-After": strconv.Itoa(int(after.Seconds()))}}
}

// RateLimitedWithoutHeader answers HTTP 429 without Retry-After.
func RateLimitedWithoutHeader() Trouble {
	return Trouble{
		Name: "rate limited without header", Status: http.StatusTooManyRequests,
		Body: `{"ok":false,"error":"ratelimited"}`,
	}
}

// RateLimitedInBody answers HTTP 200 with ok:false and the error ratelimited, as some methods do.
func RateLimitedInBody() Trouble { return Refused("ratelimited") }

// Refused answers ok:false with an error.
func Refused(code string) Trouble {
	return Trouble{Name: code, Status: http.StatusOK, Body: string(fakeserver.JSON(object{"ok": false, "error": code}))}
}

// MissesScope answers missing_scope with the scope that is needed.
func MissesScope(scope string) Trouble {
	return Trouble{Name: "missing_scope", Status: http.StatusOK,
		Body: string(
			fakeserver.JSON(object{"ok": false, "error": "missing_scope", "needed": scope, "provided": "identify"}))}
}

// The troubles that every platform has. Others are in package fakeserver.
var (
	ServerError = fakeserver.ServerError
	Cut         = fakeserver.Cut
	AnswerLost  = fakeserver.AnswerLost
	Held        = fakeserver.Held
)

// answerTrouble adds Slack's headers to the answer of an injected trouble.
func answerTrouble(_ *Call, _ Trouble, header http.Header) {
	header.Set("Content-Type", "application/json; charset=utf-8")
}

// The names of the requests that are not methods of the Web API, in the record of calls and in faults.
const (
	DialSocket   = "(dial)"     // the opening of a socket
	DownloadFile = "(download)" // a file's url_private
)

// recorded records a request that is not a call of a method. Faults make it fail before its work only.
func (s *Server) recorded(name string, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		call := fakeserver.Begin(&s.Record,
			Call{Method: name, Args: Args{}, Call: fakeserver.Call{At: s.o.Now(), Header: r.Header.Clone()}})
		if call.Before(w, r) {
			return
		}
		call.Finish(0, nil)
		serve(w, r)
	}
}
