package modelapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// Answer is what came over the wire.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	fault error // of reading the body, which is then a part of it
	large bool  // there was more than the limit
}

// Bad reports whether the status says that the call failed.
func (a Answer) Bad() bool { return a.Status >= http.StatusMultipleChoices }

// Middleware is that of the vendors' SDKs: it stands around one HTTP call.
type Middleware = func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error)

// maxRefusal is how much is read of an answer with a bad status. The rest is cut.
const maxRefusal = 64 << 10

// Send makes one call: call makes it with the vendor's SDK, with keep around it, and reads nothing of the response. An answer with a bad
// status is an answer; what of its body is there may say more. Errors: provider_unavailable and provider_invalid_response where there is no whole
// answer, or the cause of a context that has ended (llm.Interrupted).
func (e *Endpoint) Send(ctx context.Context, call func(keep Middleware) error) (Answer, error) {
	var a Answer
	err := call(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		res, err := next(r)
		if err == nil {
			a = e.read(res)
		}
		return res, err
	})
	if a.fault != nil {
		err = a.fault
	}
	if a.Status != 0 && (a.Bad() || a.fault == nil && !a.large) {
		return a, nil
	}
	if interrupted := llm.Interrupted(ctx); interrupted != nil {
		return a, interrupted
	}
	switch {
	case a.large:
		return a, e.Failed(core.ProviderInvalidResponse, nil, "%s gave an answer of more than %d bytes.", e.Place, e.MaxResponse)
	case errors.Is(err, context.DeadlineExceeded):
		return a, e.Failed(core.ProviderUnavailable, err, "%s did not answer within %s.", e.Place, e.Timeout)
	case a.Status != 0:
		return a, e.Failed(core.ProviderUnavailable, err, "The connection to %s ended in the middle of its answer.", e.Place)
	}
	return a, e.Failed(core.ProviderUnavailable, err, "%s is not reachable.", e.Place)
}

// read takes the body out of a response.
func (e *Endpoint) read(res *http.Response) Answer {
	a := Answer{Status: res.StatusCode, Header: res.Header}
	most := e.MaxResponse
	if a.Bad() {
		most = maxRefusal
	}
	a.Body, a.fault = io.ReadAll(io.LimitReader(res.Body, most+1))
	_ = res.Body.Close() // all that is wanted was read
	if int64(len(a.Body)) > most {
		a.Body, a.large = a.Body[:most], true
	}
	res.Body = io.NopCloser(bytes.NewReader(nil))
	return a
}
