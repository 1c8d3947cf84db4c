package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"gatehouse/adapters/internal/outbound"
)

// maxBody is the limit of an answer, in bytes; far above what Discord sends.
const maxBody = 8 << 20

// response is the metadata of a call's answer, which discordgo does not always return. Its status is 0 if there was no
// answer.
type response struct {
	status int
	header http.Header
}

type responseKey struct{}

// in returns a context that makes the transport record the answer of a call in r.
func (r *response) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, responseKey{}, r)
}

// The scopes of a 429. A shared one was caused by others too, and does not count against this bot.
const (
	scopeGlobal = "global"
	scopeShared = "shared"
)

func (r response) scope() string { return r.header.Get("X-RateLimit-Scope") }

// counted reports whether Discord itself has answered: it says what it counts the call against.
func (r response) counted() bool {
	return r.header.Get("X-RateLimit-Bucket") != "" || r.header.Get("X-RateLimit-Limit") != "" || r.scope() != ""
}

// reached reports whether a refused call has reached Discord, or the network in front of it that bans addresses.
func (r response) reached(fault error) bool {
	refusal, ok := errors.AsType[*Refusal](fault)
	return !ok || !refusal.Proxy || r.header.Get("Cf-Ray") != ""
}

// limited returns which calls a 429 applies to: those of the call's route, those that count against the global limit,
// or all calls, if it comes from a proxy before Discord, which knows no routes. If Discord's own answer names no scope,
// it applies to the route alone: a channel in slow mode.
func (r response) limited(route string, body []byte) string {
	if r.header.Get("X-RateLimit-Global") != "" || r.scope() == scopeGlobal {
		return globalLimit
	}
	var answer struct {
		Global *bool `json:"global"`
		Code   int   `json:"code"`
	}
	ofRoute := json.Unmarshal(body, &answer) == nil && (answer.Code != 0 || answer.Global != nil && !*answer.Global)
	if r.scope() == "" && r.header.Get("X-RateLimit-Bucket") == "" && !ofRoute {
		return allCalls
	}
	return route
}

// boundReset bounds how long a bucket may be used up, which discordgo reads in an answer's headers: a day would silence
// a channel that long, though Discord counts in seconds.
func boundReset(h http.Header) {
	const after, at = "X-RateLimit-Reset-After", "X-RateLimit-Reset"
	wait, err := strconv.ParseFloat(h.Get(after), 64)
	if h.Get(after) == "" {
		var reset float64
		if reset, err = strconv.ParseFloat(h.Get(at), 64); err == nil {
			date, _ := http.ParseTime(h.Get("Date")) // without it discordgo waits for nothing
			wait = reset - float64(date.Unix())
		}
	}
	if err == nil && !(wait <= outbound.MaxWait.Seconds()) { // as NaN is not
		h.Set(after, strconv.Itoa(int(outbound.MaxWait.Seconds())))
	}
}

// transport records each answer's metadata in the context of its call, and limits the body.
type transport struct{ *http.Transport }

// RoundTrip makes the call.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	boundReset(answer.Header)
	if got, ok := r.Context().Value(responseKey{}).(*response); ok {
		got.status, got.header = answer.StatusCode, answer.Header
	}
	answer.Body = http.MaxBytesReader(nil, answer.Body, maxBody)
	return answer, nil
}
