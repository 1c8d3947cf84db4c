package anthropic

import (
	"context"
	"net/http"
	"net/url"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// Provider is one model. It may be used by many goroutines.
type Provider struct {
	api     *modelapi.Endpoint
	execute execute
}

// execute is the SDK's client. A function, since a field of the client's type would keep all of its services in the program.
type execute func(ctx context.Context, method, path string, params, result any, options ...option.RequestOption) error

var _ llm.Provider = (*Provider)(nil)

// New makes the Provider of a model. It calls nothing and reads nothing from the environment. The error lists what is wrong with the
// configuration, of category invalid.
func New(model string, c Config) (*Provider, error) {
	api, err := modelapi.New(model, c.endpoint())
	if err != nil {
		return nil, err
	}
	client := sdk.NewClient(
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(), // a turn has spans of its own
		option.WithBaseURL(api.BaseURL),
		option.WithAPIKey(c.APIKey),
		option.WithHTTPClient(api.HTTPClient()),
		option.WithMaxRetries(0),
		option.WithRequestTimeout(api.Timeout),
	)
	return &Provider{api: api, execute: client.Execute}, nil
}

// Complete sends the messages once (llm-provider §5, §8.2).
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	request, err := p.payload(r)
	if err != nil {
		return llm.Response{}, err
	}
	a, err := p.send(ctx, http.MethodPost, "v1/messages", request.body)
	if err != nil {
		return llm.Response{}, err
	}
	if a.Bad() {
		return llm.Response{}, p.refusal(p.api.Complaint(a), request.images)
	}
	return p.read(a, request)
}

// Ready asks for the model's description, which shows that the key is accepted and the model exists (llm-provider §5). It uses no tokens.
func (p *Provider) Ready(ctx context.Context) error {
	a, err := p.send(ctx, http.MethodGet, "v1/models/"+url.PathEscape(p.api.Model), nil)
	if err == nil && a.Bad() {
		err = p.refusal(p.api.Complaint(a), false)
	}
	switch core.CategoryOf(err) {
	case core.ProviderRateLimit, core.ProviderInvalidRequest, core.ProviderInvalidResponse:
		return &core.Error{Category: core.ProviderUnavailable, Message: core.MessageOf(err), RetryAfter: core.RetryAfterOf(err), Err: err}
	}
	return err
}

// send makes one call with the SDK.
func (p *Provider) send(ctx context.Context, method, path string, body []byte) (modelapi.Answer, error) {
	return p.api.Send(ctx, func(keep modelapi.Middleware) error {
		var params any
		if body != nil {
			params = body
		}
		var unread *http.Response
		return p.execute(ctx, method, path, params, &unread, option.WithMiddleware(keep))
	})
}

// String names the provider for logs.
func (p *Provider) String() string { return "anthropic:" + p.api.Model }
