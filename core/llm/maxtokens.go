package llm

import "context"

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
