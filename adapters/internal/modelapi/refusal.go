package modelapi

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// Refusal is the error of a complaint, with how long the vendor asks to wait.
func (e *Endpoint) Refusal(c Complaint, category core.Category, format string, args ...any) *core.Error {
	made := e.Failed(category, c, format, args...)
	made.RetryAfter = c.wait
	return made
}

const (
	statusFull    = 498 // Groq's: a tier has no room
	statusGivenUp = 499 // proxies': somebody has ended the call
)

// passing are the statuses below 500 of what passes by itself.
var passing = []int{
	http.StatusRequestTimeout, http.StatusConflict, http.StatusFailedDependency, http.StatusTooEarly, statusFull,
	statusGivenUp,
}

// Refused is the error of a complaint by its words where they are known, else by its status (llm-provider §8).
func (e *Endpoint) Refused(c Complaint) *core.Error {
	if known := e.known(c); known != nil {
		return known
	}
	switch s := c.Status; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden || s == http.StatusPaymentRequired:
		return e.Refusal(c, core.ProviderAuthentication,
			"%s refuses the API key for the model %s (%d). Check %s_API_KEY, what the key may use, and the account's "+
				"billing.",
			e.Place, e.Model, s, e.Settings)
	case s == http.StatusNotFound:
		return e.Refusal(c, core.ProviderInvalidModel,
			"%s does not know the model %s. Check GATEHOUSE_MODEL and %s_BASE_URL.", e.Place, e.Model, e.Settings)
	case s == http.StatusTooManyRequests:
		return e.Refusal(c, core.ProviderRateLimit, "%s asks to wait: too many requests, or the quota is used up.",
			e.Place)
	case s < http.StatusBadRequest:
		return e.Refusal(c, core.ProviderInvalidResponse, "%s sends calls to another address (%d). Check %s_BASE_URL.",
			e.Place, s, e.Settings)
	case s >= http.StatusInternalServerError || slices.Contains(passing, s):
		return e.Refusal(c, core.ProviderUnavailable, "%s can't answer now (%d).", e.Place, s)
	}
	return e.Refusal(c, core.ProviderInvalidRequest, "%s refuses the request: %s", e.Place,
		cmp.Or(c.Message, fmt.Sprintf("status %d.", c.Status)))
}

// TooLong is the error of a complaint about the size of a conversation.
func (e *Endpoint) TooLong(c Complaint) *core.Error {
	said := cmp.Or(c.Message, "it refuses its size.")
	return c.tooLarge(
		e.Refusal(c, core.ProviderInvalidRequest, "The conversation is too long for the model %s: %s", e.Model, said))
}

// Unreadable is the error of a complaint about a part of a message, such as an image.
func (e *Endpoint) Unreadable(c Complaint) *core.Error {
	return e.Refusal(c, core.ProviderUnsupportedContent, "The model %s can't read a part of the message: %s", e.Model,
		cmp.Or(c.Message, "it refuses an image."))
}

var (
	aboutStreamOptions = regexp.MustCompile(`(?i)stream_options|include_usage`)
	aboutStream        = regexp.MustCompile(`(?i)\bstream(ing|ed)?\b`)
)

// Streaming marks the error of a refused request, if the complaint is about the stream that it asks for
// (llm.StreamRefused).
func (e *Endpoint) Streaming(c Complaint, r llm.Request, refused *core.Error) *core.Error {
	if !r.Stream || c.Status != http.StatusBadRequest && c.Status != http.StatusUnprocessableEntity {
		return refused
	}
	says := c.Param + " " + c.Says()
	options := !r.Bare && aboutStreamOptions.MatchString(says)
	if options || aboutStream.MatchString(says) {
		refused.Err = llm.StreamRefused{Options: options, Err: refused.Err}
	}
	return refused
}
