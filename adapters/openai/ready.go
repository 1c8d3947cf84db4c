package openai

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Ready looks the model up in the server's list of models. Servers that load models say there whether they have, each in its own words; where
// nothing is said, the model counts as loaded.
func (p *Provider) Ready(ctx context.Context) error {
	a, err := p.send(ctx, http.MethodGet, "models", nil)
	if err != nil {
		if core.CategoryOf(err) == core.ProviderInvalidResponse {
			return p.failed(core.ProviderUnavailable, err, "%s gave no list of its models.", p.place())
		}
		return err
	}
	if a.status >= http.StatusMultipleChoices {
		err := p.refusal(a, false)
		switch core.CategoryOf(err) {
		case core.ProviderAuthentication, core.ProviderModelNotLoaded, core.ProviderUnavailable:
			return err
		}
		return p.failed(core.ProviderUnavailable, err, "%s gave no list of its models (%d). Check OPENAI_BASE_URL; it often ends in /v1.", p.place(), a.status)
	}
	v, err := strictjson.Parse(a.body, strictjson.Repeats, strictjson.Replace)
	if err != nil || v.Get("data") == nil {
		return p.failed(core.ProviderUnavailable, err, "%s gave a list of its models that can't be read.", p.place())
	}
	for _, m := range v.Get("data").Items {
		if id := m.Get("id"); id == nil || id.String != p.model && id.String != p.model+":latest" { // as Ollama completes names
			continue
		}
		if !isLoaded(m) {
			return p.failed(core.ProviderModelNotLoaded, nil, "%s knows the model %s, but has not loaded it.", p.place(), p.model)
		}
		return nil
	}
	return p.failed(core.ProviderInvalidModel, nil, "%s does not know the model %s. Check GATEHOUSE_MODEL.", p.place(), p.model)
}

// notLoaded are the words for it, without what stands between their parts.
var notLoaded = []string{"notloaded", "unloaded", "loading", "sleeping", "stopped", "failed"}

func isLoaded(m *strictjson.Value) bool {
	for _, key := range []string{"status", "state"} {
		word := m.Get(key)
		if word != nil && word.Kind == strictjson.Object {
			word = word.Get("value")
		}
		if word != nil && slices.Contains(notLoaded, strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(word.String))) {
			return false
		}
	}
	return true
}
