package llm

import (
	"context"
	"encoding/json"
	"maps"
)

// WithMaxTokens is a provider whose answers have at most n tokens where a request does not say how many. A vendor may need a number.
func WithMaxTokens(p Provider, n int64) Provider { return maxTokens{p, n} }

type maxTokens struct {
	Provider
	n int64
}

// Complete is the provider's.
func (m maxTokens) Complete(ctx context.Context, r Request) (Response, error) {
	if r.Config.MaxTokens == nil {
		r.Config.MaxTokens = &m.n
	}
	return m.Provider.Complete(ctx, r)
}

// WithExtra is a provider whose requests have one more setting of the vendor's own.
func WithExtra(p Provider, name string, value json.RawMessage) Provider { return extra{p, name, value} }

type extra struct {
	Provider
	name  string
	value json.RawMessage
}

// Complete is the provider's.
func (e extra) Complete(ctx context.Context, r Request) (Response, error) {
	r.Config.Extra = maps.Clone(r.Config.Extra)
	if r.Config.Extra == nil {
		r.Config.Extra = map[string]json.RawMessage{}
	}
	r.Config.Extra[e.name] = e.value
	return e.Provider.Complete(ctx, r)
}
