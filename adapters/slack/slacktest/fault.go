package slacktest

import (
	"net/http"
	"strconv"
	"time"

	"gatehouse/adapters/internal/fakeserver"
)

// What every fake server has in faults.
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

// RateLimitedWithoutHeader answers HTTP 429 and does not say for how long.
func RateLimitedWithoutHeader() Trouble {
	return Trouble{Name: "rate limited without header", Status: http.StatusTooManyRequests, Body: `{"ok":false,"error":"ratelimited"}`}
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
		Body: string(fakeserver.JSON(object{"ok": false, "error": "missing_scope", "needed": scope, "provided": "identify"}))}
}

// The troubles that no platform has of its own.
var (
	ServerError           = fakeserver.ServerError
	ServerErrorAfterwards = fakeserver.ServerErrorAfterwards
	Cut                   = fakeserver.Cut
	AnswerLost            = fakeserver.AnswerLost
	Garbled               = fakeserver.Garbled
	Held                  = fakeserver.Held
	AnswerHeld            = fakeserver.AnswerHeld
)

// answerTrouble adds to the answer of an injected trouble what Slack has in it.
func answerTrouble(_ *Call, _ Trouble, header http.Header) {
	header.Set("Content-Type", "application/json; charset=utf-8")
}
