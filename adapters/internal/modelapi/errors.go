package modelapi

import (
	"errors"
	"strings"

	"gatehouse/core"
)

// Failed makes an error. Its texts have no API key, whoever wrote them, and its cause is a text: the SDKs' errors carry the request, and with
// it the key. cause may be nil.
func (e *Endpoint) Failed(c core.Category, cause error, format string, args ...any) *core.Error {
	made := core.Errorf(c, format, args...)
	made.Message = e.scrub(made.Message)
	if cause != nil {
		made.Err = errors.New(e.scrub(cause.Error()))
	}
	return made
}

// Malformed is the error of an answer that can't be used; the rest says why.
func (e *Endpoint) Malformed(format string, args ...any) *core.Error {
	return e.Failed(core.ProviderInvalidResponse, nil, "%s gave an answer that can't be used: "+format+".", append([]any{e.Place}, args...)...)
}

func (e *Endpoint) scrub(text string) string {
	if e.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, e.Key, "(the API key)")
}
