package anthropic

import (
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// longestName is how long a tool's name may be.
const longestName = 64

// payload is a request that was checked and can be sent.
type payload struct {
	body      []byte
	names     llm.Names
	arguments arguments
	images    bool // the messages have images
}

// payload checks a request and makes its body (llm-provider §8.2). Errors: provider_invalid_request, provider_unsupported_content_block.
func (p *Provider) payload(r llm.Request) (payload, error) {
	images, err := p.api.Check(r)
	if err == nil {
		err = checkConfig(r.Config)
	}
	if err != nil {
		return payload{}, err
	}
	out := payload{names: llm.NewNames(r, longestName), arguments: arguments{}, images: images}
	root := object{"model": p.api.Model, "max_tokens": *r.Config.MaxTokens}
	if err := out.addTools(root, r); err != nil {
		return payload{}, err
	}
	if err := out.addMessages(root, r.Messages); err != nil {
		return payload{}, err
	}
	addSampling(root, r.Config)
	out.body, err = modelapi.Encode(root, r.Config.Extra, "stop_sequences")
	return out, err
}

// addMessages adds the messages, and the system prompt, which is none of them here.
func (p *payload) addMessages(root object, messages []core.Message) (err error) {
	h := history{names: p.names, arguments: p.arguments}
	var system []string
	for _, m := range messages {
		if m.Role == core.System {
			system = append(system, m.Content.String())
			continue
		}
		if err := h.add(m); err != nil {
			return err
		}
	}
	if text := strings.Join(system, "\n\n"); strings.TrimSpace(text) != "" {
		root["system"] = text
	}
	root["messages"], err = h.messages()
	return err
}

// checkConfig refuses what the API has no field for, instead of leaving it out unsaid.
func checkConfig(c llm.Config) error {
	switch {
	case c.MaxTokens == nil:
		return core.Errorf(core.ProviderInvalidRequest, "Anthropic's models need max_tokens: set how long an answer may be.")
	case *c.MaxTokens < 1:
		return core.Errorf(core.ProviderInvalidRequest, "max_tokens must be at least 1, not %d.", *c.MaxTokens)
	case c.Seed != nil:
		return core.Errorf(core.ProviderInvalidRequest, "Anthropic's models have no seed: take it away.")
	case c.FrequencyPenalty != nil || c.PresencePenalty != nil:
		return core.Errorf(core.ProviderInvalidRequest, "Anthropic's models have no frequency_penalty and presence_penalty: take them away.")
	}
	return nil
}

func addSampling(root object, c llm.Config) {
	if c.Temperature != nil {
		root["temperature"] = *c.Temperature
	}
	if c.TopP != nil {
		root["top_p"] = *c.TopP
	}
	if _, extra := c.Extra["stop_sequences"]; extra || len(c.StopSequences) > 0 {
		root["stop_sequences"] = append([]string{}, c.StopSequences...) // an extra text by itself becomes a list
	}
}
