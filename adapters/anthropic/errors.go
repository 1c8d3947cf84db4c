package anthropic

import (
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
)

// refusal is the error of an answer with a bad status (llm-provider §8.2.3). images: the request had some.
func (p *Provider) refusal(c modelapi.Complaint, images bool) *core.Error {
	refused := p.api.Refused(c)
	if refused.Category == core.ProviderInvalidRequest && refused.Reason == "" && refusesBlock(c.Message, images) {
		return p.api.Unreadable(c)
	}
	return refused
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
