package openai

import (
	"context"
	"slices"
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Ready looks the model up in the server's list of models. Servers that load models say there whether they have, each
// in its own words; where nothing is said, the model counts as loaded.
func (p *Provider) Ready(ctx context.Context) error {
	a, err := p.api.Send(ctx, modelapi.Call{Path: "models"})
	if err != nil {
		if core.CategoryOf(err) == core.ProviderInvalidResponse {
			return p.api.Failed(core.ProviderUnavailable, err, "%s gave no list of its models.", p.api.Place)
		}
		return err
	}
	if a.Bad() {
		err := p.refusal(p.api.Complaint(a), false)
		switch core.CategoryOf(err) {
		case core.ProviderAuthentication, core.ProviderModelNotLoaded, core.ProviderUnavailable:
			return err
		}
		return p.api.Failed(core.ProviderUnavailable, err,
			"%s gave no list of its models (%d). Check OPENAI_BASE_URL; it often ends in /v1.", p.api.Place, a.Status)
	}
	v, err := strictjson.Parse(a.Body, strictjson.Repeats, strictjson.Replace)
	if err != nil || v.Get("data") == nil {
		return p.api.Failed(core.ProviderUnavailable, err, "%s gave a list of its models that can't be read.",
			p.api.Place)
	}
	for _, m := range v.Get("data").Items {
		// as Ollama completes names
		if id := m.Get("id"); id == nil || id.String != p.api.Model && id.String != p.api.Model+":latest" {
			continue
		}
		if !isLoaded(m) {
			return p.api.Failed(core.ProviderModelNotLoaded, nil, "%s knows the model %s, but has not loaded it.",
				p.api.Place, p.api.Model)
		}
		return nil
	}
	return p.api.Failed(core.ProviderInvalidModel, nil, "%s does not know the model %s. Check GATEHOUSE_MODEL.",
		p.api.Place, p.api.Model)
}

// notLoaded are the words for it, without what stands between their parts.
var notLoaded = []string{"notloaded", "unloaded", "loading", "sleeping", "stopped", "failed"}

func isLoaded(m *strictjson.Value) bool {
	for _, key := range []string{"status", "state"} {
		word := m.Get(key)
		if word != nil && word.Kind == strictjson.Object {
			word = word.Get("value")
		}
		if word != nil &&
			slices.Contains(notLoaded,
				strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(word.String))) {
			return false
		}
	}
	return true
}
