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
	codeRate         = "rate_limited"
	codeUnavailable  = "unavailable"
	codeInternal     = "internal_error"
)

// refusal is a request that is not served.
type refusal struct {
	Status    int
	Code      string
	Message   string
	Retryable bool
	After     time.Duration // Retry-After
	Field     string        // details.field
}

func (r *refusal) Error() string { return r.Code + ": " + r.Message }

func refuse(status int, code, message string) *refusal {
	return &refusal{Status: status, Code: code, Message: message}
}

// invalid refuses a request for one of its fields or parameters.
func invalid(field, message string) *refusal {
	r := refuse(http.StatusBadRequest, codeInvalid, message)
	r.Field = field
	return r
}

// unknownContinuation is the one answer to every token that is forged, somebody else's, of another run or session, or used.
func (e *Engine) unknownContinuation() *refusal {
	return refuse(http.StatusConflict, codeContinuation, e.desk.PressNotOurs)
}

// refusalOf is how an error is answered. What the caller can't mend is logged, and shown without its cause.
func (e *Engine) refusalOf(err error) *refusal {
	var r *refusal
	var denied *access.Refusal
	var fault *wire.Fault
	switch {
	case errors.As(err, &r):
		return r
	case errors.As(err, &denied):
		return &refusal{Status: denied.Status, Code: denied.Code, Message: denied.Message, Retryable: denied.Status == http.StatusTooManyRequests, After: denied.RetryAfter, Field: denied.Field}
	case errors.As(err, &fault):
		return &refusal{Status: http.StatusBadRequest, Code: fault.Code, Message: fault.Message, Field: fault.Field}
	}
	category := core.CategoryOf(err)
	switch core.BucketOf(category) {
	case core.UserCorrectable:
		if text := core.MessageOf(err); text != "" {
			return refuse(http.StatusBadRequest, codeInvalid, text)
		}
	case core.RetryableTransient:
		if category != core.Internal {
			e.Log.Warn("a request could not be served", "platform", Name, "category", category, "err", err)
			return &refusal{Status: http.StatusServiceUnavailable, Code: codeUnavailable, Message: "The request could not be stored now. Send it again in a moment, under the same request_id.", Retryable: true, After: time.Second}
		}
	}
	e.Log.Error("a request failed", "platform", Name, "category", category, "err", err)
	return &refusal{Status: http.StatusInternalServerError, Code: codeInternal, Message: "The request failed inside gatehouse. Its log says why.", Retryable: true}
}

// writeRefusal answers a request that is not served. q has what could be read of it.
func (e *Engine) writeRefusal(w http.ResponseWriter, q wire.Request, err error) {
	r := e.refusalOf(err)
	if r.After > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(r.After.Seconds()))))
	}
	switch r.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="gatehouse"`)
	case http.StatusRequestTimeout, http.StatusRequestEntityTooLarge:
		w.Header().Set("Connection", "close")
	}
	a := wire.New(q)
	a.Body = wire.Body{Status: wire.Failure, Error: &wire.Error{Code: r.Code, Message: r.Message, Retryable: r.Retryable}}
	if r.Field != "" {
		a.Body.Error.Details = map[string]any{"field": r.Field}
	}
	write(w, r.Status, a)
}

func write(w http.ResponseWriter, status int, a wire.Response) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(a.Encode()) // the client has disconnected; it may ask again
}
