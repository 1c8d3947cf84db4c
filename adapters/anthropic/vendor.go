package anthropic

import (
	"gatehouse/core"
	"gatehouse/core/llm"
)

var _ llm.Vendor = (*Config)(nil)

// ownTokens is how many tokens an answer may have where nothing is set: the API needs a number, which also limits what
// the model thinks.
const ownTokens = 64000

// Name is "anthropic".
func (*Config) Name() string { return "anthropic" }

// Own is the access of the environment.
func (c *Config) Own() llm.Access {
	return llm.Access{Key: c.APIKey, BaseURL: c.BaseURL, MaxTokens: ownTokens}
}

// For is a configuration with another access.
func (*Config) For(a llm.Access) llm.Vendor {
	return &Config{
		APIKey: a.Key, BaseURL: a.BaseURL, Headers: a.Headers,
		Timeout: a.Timeout, Silence: a.Silence, TextOnly: a.TextOnly,
	}
}

// Sampled refuses what no model of Anthropic takes.
func (*Provider) Sampled(c llm.Config) (setting string, err error) {
	if c.Seed != nil || c.FrequencyPenalty != nil || c.PresencePenalty != nil {
		err = core.Errorf(core.Invalid, "Anthropic's models, of which GATEHOUSE_MODEL names one, take no seed, "+
			"frequency_penalty and presence_penalty; remove these from the prompt's sampling")
	}
	return "", err
}

// Open makes the provider of a model.
func (c *Config) Open(model string) (llm.Endpoint, error) { return New(model, *c) }
