package openai

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"gatehouse/adapters/internal/modelapi"
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

const defaultBaseURL = "https://api.openai.com/v1"

func (c Config) endpoint() modelapi.Config {
	return modelapi.Config{Settings: "OPENAI", Key: c.APIKey, BaseURL: c.BaseURL, Default: defaultBaseURL,
		Timeout: c.Timeout, MaxResponse: c.MaxResponse, TextOnly: c.TextOnly, Transport: c.Transport}
}

// Validate returns all faults, one line each, which begins with the setting's name. None contains the key.
func (c Config) Validate() []string { return c.endpoint().Faults() }

// IsOpenAI reports whether the API is OpenAI's own, not another one of the same form.
func (c Config) IsOpenAI() bool {
	u, err := url.Parse(cmp.Or(c.BaseURL, defaultBaseURL))
	return err == nil && u.Hostname() == "api.openai.com"
}

// Provider is one model. It may be used by many goroutines.
type Provider struct {
	api     *modelapi.Endpoint
	execute execute
}

// execute is the SDK's client. A function, since a field of the client's type would keep all of its services in the program: twelve megabytes.
type execute func(ctx context.Context, method, path string, params, result any, options ...option.RequestOption) error

var _ llm.Provider = (*Provider)(nil)

// New makes the Provider of a model. It calls nothing and reads nothing from the environment. The error lists what is wrong with the
// configuration, of category invalid.
func New(model string, c Config) (*Provider, error) {
	api, err := modelapi.New(model, c.endpoint())
	if err != nil {
		return nil, err
	}
	options := []option.RequestOption{ // no client of the SDK's own making: it would read the environment
		option.WithBaseURL(api.BaseURL), option.WithMaxRetries(0), option.WithRequestTimeout(api.Timeout), option.WithHTTPClient(api.HTTPClient()),
	}
	if c.APIKey != "" {
		options = append(options, option.WithAPIKey(c.APIKey))
	}
	client := openai.Client{Options: options}
	return &Provider{api: api, execute: client.Execute}, nil
}

// Complete sends the messages once.
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	images, err := p.api.Check(r)
	if err != nil {
		return llm.Response{}, err
	}
	names := llm.NewNames(r, longestName)
	body, err := p.body(r, names)
	if err != nil {
		return llm.Response{}, err
	}
	a, err := p.send(ctx, http.MethodPost, "chat/completions", body)
	if err != nil {
		return llm.Response{}, err
	}
	if a.Bad() {
		return llm.Response{}, p.refusal(p.api.Complaint(a), images)
	}
	return p.read(a, names)
}

// send makes one call with the SDK.
func (p *Provider) send(ctx context.Context, method, path string, body []byte) (modelapi.Answer, error) {
	return p.api.Send(ctx, func(keep modelapi.Middleware) error {
		options := []option.RequestOption{option.WithMiddleware(keep)}
		if body != nil {
			options = append(options, option.WithRequestBody("application/json", body))
		}
		var unread *http.Response
		return p.execute(ctx, method, path, nil, &unread, options...)
	})
}

// String names the provider for logs.
func (p *Provider) String() string { return "openai:" + p.api.Model }
