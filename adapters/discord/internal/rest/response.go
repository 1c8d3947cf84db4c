package rest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// maxBody is how many bytes an answer may have; far above what Discord sends.
const maxBody = 8 << 20

// response is the metadata of a call's answer: discordgo does not give it for all of them. Its status is 0 where there was no answer.
type response struct {
	status int
	header http.Header
}

type responseKey struct{}

// in has the transport note the answer of a call.
func (r *response) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, responseKey{}, r)
}

// The scopes of a 429. One that is shared was brought about by others too, and does not count against this bot.
const (
	scopeGlobal = "global"
	scopeShared = "shared"
)

func (r response) scope() string { return r.header.Get("X-RateLimit-Scope") }

// limited says which calls a 429 is about: those of the call's route; all that count against the global limit; or all calls, where it
// comes from a proxy before Discord that knows no routes. One with an answer of Discord's own that does not say so is about its route alone: a
// channel in slow mode.
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

// transport notes each answer's metadata in the context of its call, and bounds the body.
type transport struct{ http.RoundTripper }

// RoundTrip makes the call.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if got, ok := r.Context().Value(responseKey{}).(*response); ok {
		got.status, got.header = answer.StatusCode, answer.Header
	}
	answer.Body = &boundedBody{answer.Body, maxBody}
	return answer, nil
}

// CloseIdleConnections lets the client end them.
func (t transport) CloseIdleConnections() {
	if c, ok := t.RoundTripper.(*http.Transport); ok {
		c.CloseIdleConnections()
	}
}

// boundedBody fails where a body is larger than any of Discord's.
type boundedBody struct {
	io.ReadCloser
	left int
}

var errTooLong = errors.New("the answer is too long")

// Read reads on while there is room.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
