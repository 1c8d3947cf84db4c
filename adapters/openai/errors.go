package openai

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// complaint is what an error's body says. The forms differ: OpenAI's, vLLM's without the outer object, Ollama's plain text.
type complaint struct{ message, kind, code string }

// longestMessage bounds what of a vendor's sentence is passed on.
const longestMessage = 500

func (p *Provider) complaintOf(a answer) complaint {
	v, err := strictjson.Parse(a.body, strictjson.Repeats, strictjson.Replace)
	if err != nil {
		return complaint{}
	}
	inner := v.Get("error")
	if inner == nil {
		inner = v
	}
	text := func(key string) string {
		switch s := inner.Get(key); {
		case s == nil:
			return ""
		case s.Kind == strictjson.Number:
			return s.Number.String()
		default:
			return s.String
		}
	}
	c := complaint{text("message"), text("type"), text("code")}
	if inner.Kind == strictjson.String {
		c.message = inner.String
	}
	if c.message == "" {
		c.message = text("detail")
	}
	c.message = strings.Join(strings.Fields(p.scrub(c.message)), " ")
	if len(c.message) > longestMessage {
		c.message = strings.ToValidUTF8(c.message[:longestMessage], "") + "…"
	}
	return c
}

var (
	aboutLoading = regexp.MustCompile(`(?i)(^|[^a-z])loading|not[ _-](yet[ _-])?(been[ _-])?loaded|warming[ _-]up`) // and not "overloaded"
	aboutModel   = regexp.MustCompile(`(?i)model`)
	aboutContent = regexp.MustCompile(`(?i)image|audio|vision|modalit|multi-?modal|media[ _-]?type|mime|content[ _-](block|part|type)`)
	aboutLength  = regexp.MustCompile(`(?i)context[ _-]?(length|window|size)|maximum context|too many tokens|prompt is too long`)
)

// refusal is the error of an answer with a bad status (llm-provider §8.1.3). images: the request had some.
func (p *Provider) refusal(a answer, images bool) error {
	c := p.complaintOf(a)
	all := c.message + " " + c.kind + " " + c.code
	cause := fmt.Errorf("status %d, type %q, code %q: %s", a.status, c.kind, c.code, c.message)
	fail := func(category core.Category, format string, args ...any) *core.Error {
		return p.failed(category, cause, format, args...)
	}
	switch s := a.status; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden || s == http.StatusPaymentRequired:
		return fail(core.ProviderAuthentication, "%s refuses the API key for the model %s (%d). Check OPENAI_API_KEY and what the key may use.", p.place(), p.model, s)
	case s == http.StatusNotFound && aboutModel.MatchString(all):
		return fail(core.ProviderInvalidModel, "%s does not know the model %s. Check GATEHOUSE_MODEL.", p.place(), p.model)
	case s == http.StatusNotFound:
		return fail(core.ProviderInvalidRequest, "There is no chat completions API at %s. Check OPENAI_BASE_URL; it often ends in /v1.", p.place())
	case s == http.StatusServiceUnavailable && aboutLoading.MatchString(all):
		e := fail(core.ProviderModelNotLoaded, "%s is still loading the model %s.", p.place(), p.model)
		e.RetryAfter = retryAfter(a.header)
		return e
	case s == http.StatusTooManyRequests:
		e := fail(core.ProviderRateLimit, "%s asks to wait: too many requests, or the quota is used up.", p.place())
		e.RetryAfter = retryAfter(a.header)
		return e
	case s < 400:
		return fail(core.ProviderInvalidResponse, "%s sends calls to another address (%d). Check OPENAI_BASE_URL.", p.place(), s)
	case s >= 500 || s == http.StatusRequestTimeout || s == http.StatusConflict || s == http.StatusTooEarly:
		e := fail(core.ProviderUnavailable, "%s can't answer now (%d).", p.place(), s)
		e.RetryAfter = retryAfter(a.header)
		return e
	case images && aboutContent.MatchString(all):
		return fail(core.ProviderUnsupportedContent, "The model %s can't read a part of the message: %s", p.model, c.or("it refuses an image."))
	case s == http.StatusRequestEntityTooLarge || aboutLength.MatchString(all):
		return fail(core.ProviderInvalidRequest, "The conversation is too long for the model %s: %s", p.model, c.or("it refuses its size."))
	}
	return fail(core.ProviderInvalidRequest, "%s refuses the request: %s", p.place(), c.or(fmt.Sprintf("status %d.", a.status)))
}

func (c complaint) or(other string) string {
	if c.message == "" {
		return other
	}
	return c.message
}

// statusIn is the status that an error inside a successful answer names, in its code; 502 if there is none.
func statusIn(fault *strictjson.Value) int {
	if code := fault.Get("code"); code != nil {
		n, err := strconv.Atoi(code.Number.String() + code.String)
		if err == nil && n >= 400 && n < 600 {
			return n
		}
	}
	return http.StatusBadGateway
}

// longestWait bounds what a server may ask for: a larger number is a mistake, or meant as "never".
const longestWait = 24 * time.Hour

// retryAfter reads how long the server asks to wait: milliseconds, seconds or a date; 0: it does not say.
func retryAfter(h http.Header) time.Duration {
	var wait time.Duration
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		wait = asDuration(ms, time.Millisecond)
	} else if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		wait = asDuration(s, time.Second)
	} else if date, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		wait = time.Until(date)
	}
	return min(max(wait, 0), longestWait)
}

func asDuration(n float64, unit time.Duration) time.Duration {
	if !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(longestWait)))
}
