package openai

import "gatehouse/core/llm"

var _ llm.Vendor = (*Config)(nil)

// Name is "openai".
func (*Config) Name() string { return "openai" }

// Own is the access of the environment.
func (c *Config) Own() llm.Access { return llm.Access{Key: c.APIKey, BaseURL: c.BaseURL} }

// For is a configuration with another access.
func (*Config) For(a llm.Access) llm.Vendor {
	return &Config{
		APIKey: a.Key, API: a.API, BaseURL: a.BaseURL, Headers: a.Headers,
		Timeout: a.Timeout, Silence: a.Silence, TextOnly: a.TextOnly,
	}
}

// Open makes the provider of a model.
func (c *Config) Open(model string) (llm.Endpoint, error) { return New(model, *c) }
