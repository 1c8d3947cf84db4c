package anthropic

import (
	"maps"
	"net/http"
	"time"

	"gatehouse/adapters/internal/modelapi"
)

// Config is Anthropic's part of the configuration.
type Config struct {
	APIKey  string `envconfig:"ANTHROPIC_API_KEY" secret:"all" help:"The key of Anthropic's API."`
	BaseURL string `envconfig:"ANTHROPIC_BASE_URL" default:"https://api.anthropic.com" help:"Where Anthropic's API is; for proxies and tests."`

	Headers map[string]string `ignored:"true"` // of each call, beside the key's and the API's version

	Timeout time.Duration `ignored:"true"` // of one call, its whole answer included; 0: no limit
	// after which a call is given up if not one byte has come; 0: ten minutes
	Silence     time.Duration `ignored:"true"`
	MaxResponse int64         `ignored:"true"` // of one answer, in bytes; 0: 8 MiB
	// the model can't read images: a request with one is refused before it is sent
	TextOnly bool `ignored:"true"`

	Transport http.RoundTripper `ignored:"true"` // nil: Go's, with room for many calls at a time
}

const (
	defaultBaseURL = "https://api.anthropic.com"
	version        = "2023-06-01" // of the API
)

func (c Config) endpoint() modelapi.Config {
	headers := map[string]string{"X-Api-Key": c.APIKey, "Anthropic-Version": version}
	maps.Copy(headers, c.Headers)
	return modelapi.Config{
		Settings: "ANTHROPIC", Key: c.APIKey, NeedsKey: true, BaseURL: c.BaseURL, Default: defaultBaseURL,
		Headers: headers,
		Timeout: c.Timeout, Silence: c.Silence, MaxResponse: c.MaxResponse, TextOnly: c.TextOnly,
		Transport: c.Transport,
	}
}

// Validate returns all faults, one line each, which begins with the setting's name. None contains the key.
func (c Config) Validate() []string { return c.endpoint().Faults() }
