package openai

import (
	"net/http"
	"regexp"
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// The APIs of a service.
const (
	Chat      = "chat"
	Responses = "responses"
)

// isOwn reports whether a host is OpenAI's or Azure's.
func isOwn(host string) bool {
	host, _, _ = strings.Cut(host, ":")
	return host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com")
}

// overResponses reports whether a request goes over the Responses API. What that has no field for goes over chat
// completions, if the model takes the request there. Error: provider_invalid_request.
func (p *Provider) overResponses(r llm.Request) (bool, error) {
	if !p.responses.Load() {
		return false, nil
	}
	setting := p.notInResponses(r.Config)
	switch {
	case setting == "":
		return true, nil
	case p.family.toolsOnChat(r):
		return false, nil
	}
	return false, core.Errorf(core.ProviderInvalidRequest, "The model %s can't be asked with %s and tools at the "+
		"same time: take the setting away.", p.api.Model, setting)
}

// Sampled says which setting sends requests with tools over chat completions, since the Responses API lacks it; "":
// they don't go there for it. Error: provider_invalid_request, if the model takes no tools there.
func (p *Provider) Sampled(c llm.Config) (setting string, err error) {
	over, err := p.overResponses(llm.Request{Config: c, Tools: make([]llm.Tool, 1)})
	if err == nil && !over && p.responses.Load() {
		setting = p.notInResponses(c)
	}
	return setting, err
}

// notInResponses is a setting that the Responses API does not have, or not for this model; "": there is none.
func (p *Provider) notInResponses(c llm.Config) string {
	switch {
	case len(c.StopSequences) > 0 || c.Extra["stop"] != nil:
		return "stop_sequences"
	case c.Seed != nil:
		return "seed"
	case c.FrequencyPenalty != nil || c.PresencePenalty != nil:
		return "frequency_penalty and presence_penalty"
	case p.family.reasoning && c.Temperature != nil:
		return "temperature"
	case p.family.reasoning && c.TopP != nil:
		return "top_p"
	}
	return ""
}

var (
	namesNewLimit  = regexp.MustCompile(`max_completion_tokens`)
	namesResponses = regexp.MustCompile(`(?i)/?v1/responses|responses api`)
	aboutTools     = regexp.MustCompile(`(?i)tool|function`)
)

// learn reports whether a refused request is to be made again in another form, which the server has named, and
// remembers it. responses and limit are the form in which it was refused, which another call may have learned of
// meanwhile.
func (p *Provider) learn(c modelapi.Complaint, r llm.Request, responses bool, limit string) bool {
	if c.Status != http.StatusBadRequest && c.Status != http.StatusNotFound {
		return false
	}
	says := c.Says()
	switch {
	case !responses && len(r.Tools) > 0 && namesResponses.MatchString(says) && aboutTools.MatchString(says):
		p.responses.Store(true)
		over, err := p.overResponses(r)
		return over && err == nil
	case !responses && r.Config.MaxTokens != nil && namesNewLimit.MatchString(says) && limit == oldLimit:
		p.newLimit.Store(true)
		return true
	}
	return false
}
