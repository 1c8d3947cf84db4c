package llm

import (
	"context"
	"encoding/json"
	"maps"
)

// WithDefaults is a provider whose answers have at most MaxTokens tokens where a request does not say how many, and
// whose requests have the extra settings that they do not have themselves. What else is in c does not count.
func WithDefaults(p Provider, c Config) Provider { return defaults{p, c} }

type defaults struct {
	Provider
	config Config
}

// Complete is the provider's.
func (d defaults) Complete(ctx context.Context, r Request) (Response, error) {
	if r.Config.MaxTokens == nil {
		r.Config.MaxTokens = d.config.MaxTokens
	}
	if len(d.config.Extra) > 0 {
		extra := map[string]json.RawMessage{}
		maps.Copy(extra, d.config.Extra)
		maps.Copy(extra, r.Config.Extra)
		r.Config.Extra = extra
	}
	return d.Provider.Complete(ctx, r)
}
