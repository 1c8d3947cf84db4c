package anthropic

import (
	"context"
	"net/url"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// Provider is one model. It may be used by many goroutines. It remembers what the model has refused, and does not send
// that again.
type Provider struct {
	api     *modelapi.Endpoint
	learned learned
}

var _ llm.Provider = (*Provider)(nil)

// New makes the Provider of a model. It calls nothing and reads nothing from the environment. The error lists what is
// wrong with the configuration, of category invalid.
func New(model string, c Config) (*Provider, error) {
	api, err := modelapi.New(model, c.endpoint())
	if err != nil {
		return nil, err
	}
	return &Provider{api: api}, nil
}

// Complete sends the messages once (llm-provider §5, §8.2). A request that is refused for its form is made again at
// once in another one. An answer that the API has paused is continued.
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	tokens := llm.Tokens{Hear: r.OnToken}
	f := p.form()
	for {
		request, err := p.payload(r, f)
		if err != nil {
			return llm.Response{}, err
		}
		a, err := p.whole(ctx, request, &tokens)
		if err != nil {
			return llm.Response{}, err
		}
		if !a.Bad() {
			return p.read(a, request)
		}
		c := p.api.Complaint(a)
		again, ok := p.next(f, c, request)
		if !ok {
			return llm.Response{}, p.api.Streaming(c, r, p.refusal(c, request.images))
		}
		f = again
	}
}

// whole gets an answer that the API does not pause any more.
func (p *Provider) whole(ctx context.Context, request payload, tokens *llm.Tokens) (modelapi.Answer, error) {
	var before paused
	for {
		call := modelapi.Call{Path: "v1/messages", Body: request.body, Stream: &stream{tokens: tokens}}
		if request.bind {
			call.Header = map[string]string{betaHeader: bindingBeta}
		}
		a, err := p.api.Send(ctx, call)
		if err != nil || a.Bad() {
			return a, err
		}
		if request.body, err = before.add(request.body, &a); err != nil || request.body == nil {
			return a, err
		}
	}
}

// Origin identifies the model, its endpoint and the account: what it sent with a message goes back to it alone
// (core.Kept).
func (p *Provider) Origin() string { return p.api.Origin() }

// Ready asks for the model's description, which shows that the key is accepted and the model exists (llm-provider §5).
// It uses no tokens.
func (p *Provider) Ready(ctx context.Context) error {
	a, err := p.api.Send(ctx, modelapi.Call{Path: "v1/models/" + url.PathEscape(p.api.Model)})
	if err == nil && a.Bad() {
		err = p.refusal(p.api.Complaint(a), false)
	}
	switch core.CategoryOf(err) {
	case core.ProviderRateLimit, core.ProviderInvalidRequest, core.ProviderInvalidResponse:
		return &core.Error{
			Category: core.ProviderUnavailable, Message: core.MessageOf(err), RetryAfter: core.RetryAfterOf(err),
			Err: err,
		}
	}
	return err
}

// String names the provider for logs.
func (p *Provider) String() string { return "anthropic:" + p.api.Model }
