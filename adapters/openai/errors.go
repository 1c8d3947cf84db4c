package openai

import (
	"net/http"
	"regexp"
	"strconv"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/strictjson"
)

var (
	aboutLoading = regexp.MustCompile(`(?i)(^|[^a-z])loading|not[ _-](yet[ _-])?(been[ _-])?loaded|warming[ _-]up`) // and not "overloaded"
	aboutModel   = regexp.MustCompile(`(?i)model`)
	aboutContent = regexp.MustCompile(`(?i)image|audio|vision|modalit|multi-?modal|media[ _-]?type|mime|content[ _-](block|part|type)`)
	aboutLength  = regexp.MustCompile(`(?i)context[ _-]?(length|window|size)|maximum context|too many tokens|prompt is too long`)
)

// refusal is the error of an answer with a bad status (llm-provider §8.1.3). images: the request had some.
func (p *Provider) refusal(c modelapi.Complaint, images bool) error {
	says := c.Says()
	switch {
	case c.Status == http.StatusNotFound && !aboutModel.MatchString(says):
		return p.api.Refusal(c, core.ProviderInvalidRequest, "There is no chat completions API at %s. Check OPENAI_BASE_URL; it often ends in /v1.", p.api.Place)
	case c.Status == http.StatusServiceUnavailable && aboutLoading.MatchString(says):
		return p.api.Refusal(c, core.ProviderModelNotLoaded, "%s is still loading the model %s.", p.api.Place, p.api.Model)
	}
	refused := p.api.Refused(c)
	switch invalid := refused.Category == core.ProviderInvalidRequest; {
	case invalid && images && aboutContent.MatchString(says):
		return p.api.Unreadable(c)
	case invalid && aboutLength.MatchString(says):
		return p.api.TooLong(c)
	}
	return refused
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
