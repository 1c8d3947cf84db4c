package modelapi

import (
	"errors"
	"regexp"
	"strings"

	"gatehouse/core"
	"gatehouse/core/mask"
)

// Failed makes an error. Its texts have no API key, whoever wrote them, nor what looks like another one. Its cause is a
// text: an error of the transport may carry the request, and with it the key. cause may be nil.
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
	return e.Failed(core.ProviderInvalidResponse, nil, "%s gave an answer that can't be used: "+format+".",
		append([]any{e.Place}, args...)...)
}

// anyKey is whatever begins as a vendor's key does. Nobody decides by these texts, so hiding too much of them does no
// harm.
var anyKey = regexp.MustCompile(`\b(sk|pk|rk)-[\w*-]{6,}`)

// shortKey is a key's length below which it may be a word, such as those that are set for local servers. One that is in
// the address or in the model's name, too, hides nothing.
const shortKey = 16

func (e *Endpoint) scrub(text string) string {
	const instead = "(the API key)"
	switch {
	case len(e.Key) >= shortKey:
		text = strings.ReplaceAll(text, e.Key, instead)
	case !strings.Contains(e.BaseURL+" "+e.Model, e.Key):
		text = mask.Whole(text, e.Key, instead)
	}
	return anyKey.ReplaceAllString(mask.Text(text), "(a key)")
}
