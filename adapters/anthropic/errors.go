package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// failure is what an answer with a bad status says.
type failure struct {
	status  int
	kind    string // the API's type of error
	message string // the API's sentence
	request string // the API's id of the request
}

// longestMessage bounds what of the API's sentence is passed on.
const longestMessage = 500

func readFailure(e *sdk.Error) failure {
	f := failure{status: e.StatusCode, request: e.RequestID}
	v, err := strictjson.Parse([]byte(e.RawJSON()), strictjson.Repeats, strictjson.Replace)
	if err != nil {
		return f
	}
	f.kind = text(v.Get("error"), "type")
	f.message = strings.Join(strings.Fields(text(v.Get("error"), "message")), " ")
	if len(f.message) > longestMessage {
		f.message = strings.ToValidUTF8(f.message[:longestMessage], "") + "…"
	}
	return f
}

// Error is for the log.
func (f failure) Error() string {
	return fmt.Sprintf("status %d, type %q, request %q: %s", f.status, f.kind, f.request, f.message)
}

// fail gives the error of a call that failed (llm-provider §7, §8.2).
func (p *Provider) fail(ctx context.Context, err error, res *http.Response, images bool) error {
	if interrupted := llm.Interrupted(ctx); interrupted != nil {
		return interrupted
	}
	var e *sdk.Error
	switch {
	case errors.As(err, &e):
		return p.refusal(readFailure(e), e.Response.Header, images)
	case res != nil && res.StatusCode >= http.StatusBadRequest: // an error whose body broke off, or is no object
		return p.refusal(failure{status: res.StatusCode}, res.Header, images)
	case errors.Is(err, errTooLarge):
		return p.failed(core.ProviderInvalidResponse, err, "%s gave an answer of more than %d bytes.", p.place(), p.config.MaxResponse)
	case errors.Is(err, context.DeadlineExceeded):
		return p.failed(core.ProviderUnavailable, err, "%s did not answer within %s.", p.place(), p.config.Timeout)
	case res != nil:
		return p.failed(core.ProviderUnavailable, err, "The connection to %s ended in the middle of its answer.", p.place())
	}
	return p.failed(core.ProviderUnavailable, err, "%s is not reachable.", p.place())
}

// refusal is the error of an answer with a bad status.
func (p *Provider) refusal(f failure, h http.Header, images bool) error {
	category, sentence := p.classify(f, images)
	e := p.failed(category, f, "%s", sentence)
	e.RetryAfter = retryAfter(h, p.config.Now())
	return e
}

// classify gives the category of a status (llm-provider §8.2.3), and the sentence for people.
func (p *Provider) classify(f failure, images bool) (core.Category, string) {
	place := p.place()
	switch s := f.status; {
	case s == http.StatusUnauthorized || s == http.StatusPaymentRequired || s == http.StatusForbidden:
		return core.ProviderAuthentication, fmt.Sprintf("%s refuses the API key for the model %s (%d). Check ANTHROPIC_API_KEY, what the key may use, and the account's billing.", place, p.model, s)
	case s == http.StatusNotFound:
		return core.ProviderInvalidModel, fmt.Sprintf("%s does not know the model %s. Check GATEHOUSE_MODEL and ANTHROPIC_BASE_URL.", place, p.model)
	case s == http.StatusTooManyRequests:
		return core.ProviderRateLimit, place + " asks to wait: too many requests, or the quota is used up."
	case s >= 500 || s == http.StatusRequestTimeout || s == http.StatusConflict || s == http.StatusTooEarly:
		return core.ProviderUnavailable, fmt.Sprintf("%s can't answer now (%d).", place, s)
	case s == http.StatusBadRequest && refusesBlock(f.message, images):
		return core.ProviderUnsupportedContent, fmt.Sprintf("The model %s can't read a part of the message: %s", p.model, f.message)
	case s == http.StatusRequestEntityTooLarge || strings.Contains(f.message, "prompt is too long"):
		return core.ProviderInvalidRequest, fmt.Sprintf("The conversation is too long for the model %s: %s", p.model, f.or("the request is too large."))
	}
	return core.ProviderInvalidRequest, fmt.Sprintf("%s refuses the request: %s", place, f.or(fmt.Sprintf("status %d.", f.status)))
}

func (f failure) or(other string) string {
	if f.message == "" {
		return other
	}
	return f.message
}

// refusesBlock reports whether the API's sentence is about a block and not about the request's form.
func refusesBlock(message string, images bool) bool {
	message = strings.ToLower(message)
	if images && strings.Contains(message, "image") {
		return true
	}
	unsupported := strings.Contains(message, "not support") || strings.Contains(message, "unsupported")
	return unsupported && (strings.Contains(message, "content block") || strings.Contains(message, "block type"))
}

// failed makes an error. Its texts have no API key, whoever wrote them, and its cause is a text: the SDK's errors carry the request, and with
// it the key.
func (p *Provider) failed(c core.Category, cause error, format string, args ...any) *core.Error {
	e := core.Errorf(c, format, args...)
	e.Message = p.scrub(e.Message)
	if cause != nil {
		e.Err = errors.New(p.scrub(cause.Error()))
	}
	return e
}

func (p *Provider) scrub(text string) string {
	return strings.ReplaceAll(text, p.config.APIKey, "(the API key)")
}
