package openharness

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// The codes of errors that are not the protocol's own, besides the categories of failed turns.
const (
	codeInvalid      = "invalid_request" // the protocol's
	codeContinuation = "continuation_invalid"
	codeExpired      = "continuation_expired"
	codeConflict     = "request_id_conflict"
	codeTooLarge     = "request_too_large"
	codeNotFound     = "not_found"
	codeMethod       = "method_not_allowed"
	codeMediaType    = "unsupported_media_type"
	codeSlow         = "request_timeout"
	codeAttachment   = "attachment_not_found"
	codeRate         = "rate_limited"
	codeUnavailable  = "unavailable"
	codeInternal     = "internal_error"
)

// refusal is why a request is not served. The same request may be sent again if its status is 429, or of the server.
type refusal = access.Refusal

func refuse(status int, code, message string) *refusal {
	return &refusal{Status: status, Code: code, Message: message}
}

// invalid refuses a request for one of its fields or parameters.
func invalid(field, message string) *refusal {
	r := refuse(http.StatusBadRequest, codeInvalid, message)
	r.Field = field
	return r
}

// unsupported refuses what a request sends for its type.
func unsupported(message string) *refusal {
	return refuse(http.StatusUnsupportedMediaType, codeMediaType, message)
}

// unknownContinuation is the one answer to every token that is forged, somebody else's, of another run or session, or
// used.
func (e *Engine) unknownContinuation() *refusal {
	return refuse(http.StatusConflict, codeContinuation, e.desk.PressNotOurs)
}

// refusalOf is how an error is answered. What the caller can't mend is logged, and shown without its cause.
func (e *Engine) refusalOf(err error) *refusal {
	var r *refusal
	var fault *wire.Fault
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &fault):
		r = refuse(http.StatusBadRequest, fault.Code, fault.Message)
		r.Field = fault.Field
		return r
	}
	category, text := core.CategoryOf(err), core.MessageOf(err)
	switch bucket := core.BucketOf(category); {
	case bucket == core.UserCorrectable && text != "":
		return refuse(http.StatusBadRequest, codeInvalid, text)
	case bucket == core.RetryableTransient && category != core.Internal:
		e.Log.Warn("a request could not be served", "platform", Name, "category", category, "err", err)
		r = refuse(http.StatusServiceUnavailable, codeUnavailable,
			"The request could not be stored now. Send it again in a moment, under the same request_id.")
		r.RetryAfter = time.Second
		return r
	}
	e.Log.Error("a request failed", "platform", Name, "category", category, "err", err)
	return refuse(http.StatusInternalServerError, codeInternal,
		"The request failed inside gatehouse. Its log says why.")
}

// writeRefusal answers a request that is not served. q has what could be read of it.
func (e *Engine) writeRefusal(w http.ResponseWriter, q wire.Request, err error) {
	r := e.refusalOf(err)
	if r.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(r.RetryAfter.Seconds()))))
	}
	switch r.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="gatehouse"`)
	case http.StatusRequestTimeout, http.StatusRequestEntityTooLarge:
		w.Header().Set("Connection", "close")
	}
	a := wire.New(q)
	a.Body = wire.Body{Status: wire.Failure, Error: &wire.Error{
		Code: r.Code, Message: r.Message, Retryable: r.Status == http.StatusTooManyRequests || r.Status >= 500,
	}}
	switch {
	case r.Field != "":
		a.Body.Error.Details = map[string]any{"field": r.Field}
	case r.Cause != "":
		a.Body.Error.Details = map[string]any{"cause": r.Cause}
	case r.Now != "":
		a.Body.Error.Details = map[string]any{"now": r.Now}
	}
	write(w, r.Status, a)
}

func write(w http.ResponseWriter, status int, a wire.Response) {
	begin(w, status, "application/json")
	_, _ = w.Write(a.Encode()) // the client has disconnected; it may ask again
}

// begin sends the head of an answer.
func begin(w http.ResponseWriter, status int, kind string) {
	h := w.Header()
	h.Set("Content-Type", kind+"; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
}
