package anthropic

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"gatehouse/core"
	"gatehouse/core/llm"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// Provider is one model. It may be used by many goroutines.
type Provider struct {
	model  string
	config Config
	client sdk.Client
}

var _ llm.Provider = (*Provider)(nil)

// New makes the Provider of a model. It calls nothing and reads nothing from the environment. The error lists what is wrong with the
// configuration, of category invalid.
func New(model string, c Config) (*Provider, error) {
	faults := c.Validate()
	if model == "" {
		faults = append(faults, "the model has no name")
	}
	if len(faults) > 0 {
		return nil, core.Errorf(core.Invalid, "%s", strings.Join(faults, "; "))
	}
	c = c.withDefaults()
	return &Provider{model: model, config: c, client: sdk.NewClient(
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(), // a turn has spans of its own
		option.WithBaseURL(c.BaseURL),
		option.WithAPIKey(c.APIKey),
		option.WithHTTPClient(httpClient(c)),
		option.WithMaxRetries(0),
		option.WithRequestTimeout(c.Timeout),
	)}, nil
}

// Complete sends the messages once (llm-provider §5, §8.2).
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	request, err := p.payload(r)
	if err != nil {
		return llm.Response{}, err
	}
	raw, err := p.call(ctx, http.MethodPost, "v1/messages", request.body, request.images)
	if err != nil {
		return llm.Response{}, err
	}
	return p.read(raw, request.names)
}

// Ready asks for the model's description, which shows that the key is accepted and the model exists (llm-provider §5). It uses no tokens.
func (p *Provider) Ready(ctx context.Context) error {
	_, err := p.call(ctx, http.MethodGet, "v1/models/"+url.PathEscape(p.model), nil, false)
	switch core.CategoryOf(err) {
	case core.ProviderRateLimit, core.ProviderInvalidRequest, core.ProviderInvalidResponse:
		return &core.Error{Category: core.ProviderUnavailable, Message: core.MessageOf(err), RetryAfter: core.RetryAfterOf(err), Err: err}
	}
	return err
}

// call makes one HTTP request and gives the answer's bytes.
func (p *Provider) call(ctx context.Context, method, path string, body []byte, images bool) ([]byte, error) {
	var params any
	if body != nil {
		params = body
	}
	var raw []byte
	var res *http.Response
	if err := p.client.Execute(ctx, method, path, params, &raw, option.WithResponseInto(&res)); err != nil {
		return nil, p.fail(ctx, err, res, images)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return nil, p.failed(core.ProviderInvalidResponse, nil, "%s sends calls to another address (%d). Check ANTHROPIC_BASE_URL.", p.place(), res.StatusCode)
	}
	return raw, nil
}

// place is the host that errors name.
func (p *Provider) place() string {
	if u, err := url.Parse(p.config.BaseURL); err == nil {
		return u.Host
	}
	return "Anthropic"
}

// String names the provider for logs.
func (p *Provider) String() string { return "anthropic:" + p.model }
