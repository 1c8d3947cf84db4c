package anthropic

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config is Anthropic's part of the configuration.
type Config struct {
	APIKey  string `envconfig:"ANTHROPIC_API_KEY" secret:"all" help:"The key of Anthropic's API."`
	BaseURL string `envconfig:"ANTHROPIC_BASE_URL" default:"https://api.anthropic.com" help:"Where Anthropic's API is; for proxies and tests."`

	Timeout     time.Duration `ignored:"true"` // of one call, which is not streamed: of the whole generation; 0: ten minutes
	MaxResponse int64         `ignored:"true"` // of one answer, in bytes; 0: 8 MiB
	TextOnly    bool          `ignored:"true"` // the model can't read images: a request with one is refused before it is sent

	Transport http.RoundTripper `ignored:"true"` // nil: Go's, with room for many calls at a time
	Now       func() time.Time  `ignored:"true"` // for a Retry-After that is a date; nil: time.Now
}

const (
	defaultBaseURL           = "https://api.anthropic.com"
	defaultTimeout           = 10 * time.Minute
	defaultMaxResponse int64 = 8 << 20
	idleConnections          = 64 // of one host; a turn holds none while it waits for a person
)

// Validate returns all faults, one line each, which begins with the setting's name. None contains the key.
func (c Config) Validate() []string {
	var faults []string
	switch {
	case c.APIKey == "":
		faults = append(faults, "ANTHROPIC_API_KEY: it is missing")
	case strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		faults = append(faults, "ANTHROPIC_API_KEY: there is a space, a line break or a foreign character in it; copy the key again")
	}
	if u, err := url.Parse(c.BaseURL); c.BaseURL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "") {
		faults = append(faults, "ANTHROPIC_BASE_URL: it is not of the form https://HOST, without a user or a query")
	}
	return faults
}

func (c Config) withDefaults() Config {
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxResponse <= 0 {
		c.MaxResponse = defaultMaxResponse
	}
	if c.Transport == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = idleConnections
		c.Transport = transport
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
