package openai

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core/llm"
)

// Config is OpenAI's part of the configuration.
type Config struct {
	APIKey  string `envconfig:"OPENAI_API_KEY" secret:"all" help:"The key of OpenAI's API, or of the one at OPENAI_BASE_URL; local servers need none."`
	API     string `ignored:"true"` // Chat or Responses; "": Responses at OpenAI and Azure, Chat elsewhere
	BaseURL string `envconfig:"OPENAI_BASE_URL" default:"https://api.openai.com/v1" help:"Where the API is; any that follows OpenAI's chat completions, such as http://127.0.0.1:11434/v1 for Ollama."`

	Headers map[string]string `ignored:"true"` // of each call, beside the key's

	Timeout time.Duration `ignored:"true"` // of one call, its whole answer included; 0: no limit
	// after which a call is given up if not one byte has come; 0: ten minutes
	Silence     time.Duration `ignored:"true"`
	MaxResponse int64         `ignored:"true"` // of one answer, in bytes; 0: 8 MiB
	// the model can't read images: a request with one is refused before it is sent
	TextOnly bool `ignored:"true"`

	Transport http.RoundTripper `ignored:"true"` // nil: Go's, with room for many calls at a time
}

const defaultBaseURL = "https://api.openai.com/v1"

func (c Config) endpoint() modelapi.Config {
	headers := map[string]string{}
	maps.Copy(headers, c.Headers)
	if c.APIKey != "" {
		headers["Authorization"] = "Bearer " + c.APIKey
	}
	return modelapi.Config{
		Settings: "OPENAI", Key: c.APIKey, NeedsKey: c.needsKey(), BaseURL: c.BaseURL, Default: defaultBaseURL,
		Headers: headers,
		Timeout: c.Timeout, Silence: c.Silence, MaxResponse: c.MaxResponse, TextOnly: c.TextOnly,
		Transport: c.Transport,
	}
}

// needsKey reports whether the API is OpenAI's or Azure's; a server elsewhere may need no key.
func (c Config) needsKey() bool {
	u, err := url.Parse(c.BaseURL)
	return c.BaseURL == "" || err == nil && isOwn(u.Host)
}

// Validate returns all faults, one line each, which begins with the setting's name. None contains the key.
func (c Config) Validate() []string { return c.endpoint().Faults() }

// Provider is one model. It may be used by many goroutines. What a server has refused once it is not asked again.
type Provider struct {
	api    *modelapi.Endpoint
	family family
	own    bool // the service is OpenAI's or Azure's

	newLimit  atomic.Bool // it refused max_tokens
	responses atomic.Bool // calls go to the Responses API
}

var _ llm.Provider = (*Provider)(nil)

// New makes the Provider of a model. It calls nothing and reads nothing from the environment. The error lists what is
// wrong with the configuration, of category invalid.
func New(model string, c Config) (*Provider, error) {
	api, err := modelapi.New(model, c.endpoint())
	if err != nil {
		return nil, err
	}
	p := &Provider{api: api, family: familyOf(model), own: isOwn(api.Place)}
	p.responses.Store(c.API == Responses || c.API == "" && p.own)
	return p, nil
}

// Complete sends the messages once (llm-provider §5, §8.1). A server that refuses the request for its form, and names
// the form that it takes, is asked again at once, and from then on in that form.
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	images, err := p.api.Check(r)
	if err != nil {
		return llm.Response{}, err
	}
	names := llm.NewNames(r, longestName)
	for {
		responses, err := p.overResponses(r)
		if err != nil {
			return llm.Response{}, err
		}
		limit := p.limit()
		call, err := p.call(r, names, responses)
		if err != nil {
			return llm.Response{}, err
		}
		a, err := p.api.Send(ctx, call)
		switch {
		case err != nil:
			return llm.Response{}, err
		case a.Bad():
			c := p.api.Complaint(a)
			if p.learn(c, r, responses, limit) {
				continue
			}
			if without, some := withoutKept(c, r); some { // of this conversation, so it is not remembered
				r = without
				continue
			}
			return llm.Response{}, p.api.Streaming(c, r, p.refusal(c, images))
		case responses:
			return p.readResponses(a, names)
		}
		return p.read(a, names)
	}
}

func (p *Provider) call(r llm.Request, names llm.Names, responses bool) (c modelapi.Call, err error) {
	switch {
	case responses:
		c.Path, c.Stream = "responses", &responseEvents{tokens: llm.Tokens{Hear: r.OnToken}}
		c.Body, err = p.responsesBody(r, names)
	default:
		c.Path, c.Stream = "chat/completions", newChunks(r.OnToken)
		c.Body, err = p.body(r, names)
	}
	return c, err
}

// Origin identifies the model, its endpoint and the account: what it sent with a message goes back to it alone
// (core.Kept).
func (p *Provider) Origin() string { return p.api.Origin() }

// String names the provider for logs.
func (p *Provider) String() string { return "openai:" + p.api.Model }
