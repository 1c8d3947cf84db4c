package openai

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// Config is OpenAI's part of the configuration.
type Config struct {
	APIKey  string `envconfig:"OPENAI_API_KEY" secret:"all" help:"The key of OpenAI's API, or of the one at OPENAI_BASE_URL; local servers need none."`
	BaseURL string `envconfig:"OPENAI_BASE_URL" default:"https://api.openai.com/v1" help:"Where the API is; any that follows OpenAI's chat completions, such as http://127.0.0.1:11434/v1 for Ollama."`

	Timeout     time.Duration `ignored:"true"` // of one call; 0: ten minutes
	MaxResponse int64         `ignored:"true"` // of one answer, in bytes; 0: 8 MiB
	TextOnly    bool          `ignored:"true"` // the model can't read images: a request with one is refused before it is sent

	Transport http.RoundTripper `ignored:"true"` // nil: Go's, with room for many calls at a time
}

const (
	defaultBaseURL     = "https://api.openai.com/v1"
	defaultTimeout     = 10 * time.Minute
	defaultMaxResponse = 8 << 20
	idleConnections    = 64 // of one host; a turn holds none while it waits for a person
)

// Validate returns all faults, one line each, which begins with the setting's name.
func (c Config) Validate() []string {
	var faults []string
	if strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		faults = append(faults, "OPENAI_API_KEY: there is a space, a line break or a foreign character in it; copy the key again")
	}
	if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" {
		faults = append(faults, "OPENAI_BASE_URL: it is not of the form https://HOST/v1, without a user or a query")
	}
	return faults
}

// Provider is one model. It may be used by many goroutines.
type Provider struct {
	model  string
	config Config
	client openai.Client
}

var _ llm.Provider = (*Provider)(nil)

// New makes the Provider of a model. The error lists what is wrong with the configuration, of category invalid.
func New(model string, c Config) (*Provider, error) {
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	faults := c.Validate()
	if model == "" {
		faults = append(faults, "the model has no name")
	}
	if len(faults) > 0 {
		return nil, core.Errorf(core.Invalid, "%s", strings.Join(faults, "; "))
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
	options := []option.RequestOption{ // no client of the SDK's own making: it would read the environment
		option.WithBaseURL(c.BaseURL), option.WithMaxRetries(0), option.WithRequestTimeout(c.Timeout),
		option.WithHTTPClient(&http.Client{
			Transport:     c.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key would go along
		}),
	}
	if c.APIKey != "" {
		options = append(options, option.WithAPIKey(c.APIKey))
	}
	return &Provider{model: model, config: c, client: openai.Client{Options: options}}, nil
}

// Complete sends the messages once.
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	names := llm.NewNames(r, longestName)
	body, err := p.body(r, names)
	if err != nil {
		return llm.Response{}, err
	}
	a, err := p.send(ctx, http.MethodPost, "chat/completions", body)
	if err != nil {
		return llm.Response{}, err
	}
	if a.status >= http.StatusMultipleChoices {
		return llm.Response{}, p.refusal(a, hasImages(r))
	}
	return p.read(a, names)
}

// place is the host that errors name.
func (p *Provider) place() string {
	if u, err := url.Parse(p.config.BaseURL); err == nil {
		return u.Host
	}
	return "the model's server"
}

// String names the provider for logs.
func (p *Provider) String() string { return fmt.Sprintf("openai:%s", p.model) }

// IsOpenAI reports whether the API is OpenAI's own, not another one of the same form.
func (c Config) IsOpenAI() bool {
	u, err := url.Parse(cmp.Or(c.BaseURL, defaultBaseURL))
	return err == nil && u.Hostname() == "api.openai.com"
}
