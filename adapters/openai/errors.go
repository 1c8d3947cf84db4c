package openai

import (
	"net/http"
	"regexp"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
)

var (
	// and not "overloaded"
	aboutLoading = regexp.MustCompile(`(?i)(^|[^a-z])loading|not[ _-](yet[ _-])?(been[ _-])?loaded|warming[ _-]up`)
	aboutModel   = regexp.MustCompile(`(?i)model|deployment`)
	aboutRoute   = regexp.MustCompile(`(?i)no endpoints found`) // OpenRouter's, for what the request asks
	aboutContent = regexp.MustCompile(
		`(?i)image|audio|vision|modalit|multi-?modal|media[ _-]?type|mime|content[ _-](block|part|type)`)
)

// refusal is the error of an answer with a bad status (llm-provider §8.1.3). images: the request had some.
func (p *Provider) refusal(c modelapi.Complaint, images bool) *core.Error {
	says := c.Says()
	switch {
	case c.Status == http.StatusNotFound && aboutRoute.MatchString(says):
		return p.api.Refusal(c, core.ProviderInvalidRequest, "%s refuses the request: %s", p.api.Place, c.Message)
	case c.Status == http.StatusNotFound && !aboutModel.MatchString(says):
		return p.api.Refusal(c, core.ProviderInvalidRequest,
			"There is no chat completions API at %s. Check OPENAI_BASE_URL; it often ends in /v1.", p.api.Place)
	case c.Status == http.StatusServiceUnavailable && aboutLoading.MatchString(says):
		return p.api.Refusal(c, core.ProviderModelNotLoaded, "%s is still loading the model %s.", p.api.Place,
			p.api.Model)
	}
	refused := p.api.Refused(c)
	if refused.Category == core.ProviderInvalidRequest && refused.Reason == "" && images &&
		aboutContent.MatchString(says) {
		return p.api.Unreadable(c)
	}
	return refused
}
