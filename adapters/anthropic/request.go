package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// longestName is how long a tool's name may be.
const longestName = 64

// payload is a request that was checked and can be sent.
type payload struct {
	body   []byte
	names  llm.Names
	images bool // the messages have images
}

// payload checks a request and makes its body (llm-provider §8.2). Errors: provider_invalid_request, provider_unsupported_content_block.
func (p *Provider) payload(r llm.Request) (payload, error) {
	if err := r.Validate(); err != nil {
		return payload{}, err
	}
	if err := checkConfig(r.Config); err != nil {
		return payload{}, err
	}
	out := payload{names: llm.NewNames(r, longestName), images: hasImages(r)}
	if out.images && p.config.TextOnly {
		return payload{}, core.Errorf(core.ProviderUnsupportedContent, "The model %s can't read images.", p.model)
	}
	h := history{names: out.names}
	var system []string
	for _, m := range r.Messages {
		if m.Role == core.System {
			system = append(system, m.Content.String())
			continue
		}
		if err := h.add(m); err != nil {
			return payload{}, err
		}
	}
	messages, err := h.messages()
	if err != nil {
		return payload{}, err
	}
	root := object{"model": p.model, "max_tokens": *r.Config.MaxTokens, "messages": messages}
	if text := strings.Join(system, "\n\n"); strings.TrimSpace(text) != "" {
		root["system"] = text
	}
	if err := addTools(root, r, out.names); err != nil {
		return payload{}, err
	}
	addSampling(root, r.Config)
	out.body, err = encode(root, r.Config.Extra)
	return out, err
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
	if stream, asked := c.Extra["stream"]; asked && string(bytes.TrimSpace(stream)) != "false" {
		return core.Errorf(core.ProviderInvalidRequest, "The extra setting stream must be false: one answer is read, not a stream of its parts.")
	}
	return nil
}

func hasImages(r llm.Request) bool {
	for _, m := range r.Messages {
		for _, b := range m.Content.Blocks() {
			if b.Type == core.ImageBlock {
				return true
			}
		}
	}
	return false
}

func addSampling(root object, c llm.Config) {
	if c.Temperature != nil {
		root["temperature"] = *c.Temperature
	}
	if c.TopP != nil {
		root["top_p"] = *c.TopP
	}
	if len(c.StopSequences) > 0 {
		root["stop_sequences"] = c.StopSequences
	}
}

// encode writes the root and the extra settings in the one canonical form.
func encode(root object, extra map[string]json.RawMessage) ([]byte, error) {
	if _, there := extra["stop_sequences"]; there && root["stop_sequences"] == nil {
		root["stop_sequences"] = []string{} // an extra text by itself becomes a list
	}
	body := map[string]json.RawMessage{}
	for key, value := range root {
		data, err := json.Marshal(value)
		if err != nil {
			return nil, core.Wrap(core.ProviderInvalidRequest, err, "The field %s of the request can't be written as JSON.", key)
		}
		body[key] = data
	}
	if err := llm.MergeExtra(body, extra, "stop_sequences"); err != nil {
		return nil, err
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, core.Wrap(core.ProviderInvalidRequest, err, "The request can't be written as JSON.")
	}
	return llm.Canonical(data)
}
