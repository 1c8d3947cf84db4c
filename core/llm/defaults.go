package llm

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
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

// WithMaxTokensAs is a provider whose vendor has a name of its own for the limit of an answer.
func WithMaxTokensAs(p Provider, name string) Provider { return maxTokensAs{p, name} }

type maxTokensAs struct {
	Provider
	name string
}

// Complete is the provider's.
func (m maxTokensAs) Complete(ctx context.Context, r Request) (Response, error) {
	if n := r.Config.MaxTokens; n != nil {
		extra := map[string]json.RawMessage{m.name: strconv.AppendInt(nil, *n, 10)}
		maps.Copy(extra, r.Config.Extra)
		r.Config.MaxTokens, r.Config.Extra = nil, extra
	}
	return m.Provider.Complete(ctx, r)
}
