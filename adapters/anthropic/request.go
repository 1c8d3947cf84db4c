package anthropic

import (
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// longestName is how long a tool's name may be.
const longestName = 64

// payload is a request that was checked and can be sent.
type payload struct {
	body      []byte
	names     llm.Names
	arguments arguments
	most      int64 // tokens of the answer

	images  bool // the messages have images
	bound   bool // and thinking, which belongs to what is before it
	bind    bool // what is to become of it is said
	sampled bool // it says how to sample
	forced  bool // it demands a call
}

// payload checks a request and makes its body in a form (llm-provider §8.2). Errors: provider_invalid_request,
// provider_unsupported_content_block.
func (p *Provider) payload(r llm.Request, f form) (payload, error) {
	images, err := p.api.Check(r)
	if err == nil {
		err = checkConfig(r.Config)
	}
	if err != nil {
		return payload{}, err
	}
	out := payload{
		names: llm.NewNames(r, longestName), arguments: arguments{}, images: images, most: *r.Config.MaxTokens,
	}
	if f.most > 0 {
		out.most = min(out.most, f.most)
	}
	root := object{"model": p.api.Model, "max_tokens": out.most}
	out.forced = r.Choice.Mode == llm.ChooseRequired || r.Choice.Mode == llm.ChooseTool
	r.Choice = f.choice(r.Choice)
	if err := out.addTools(root, r); err != nil {
		return payload{}, err
	}
	if err := out.addMessages(root, r.Messages, f); err != nil {
		return payload{}, err
	}
	extra := r.Config.Extra
	if out.bind = out.bound && f.bind && bindsThinking(p.api.Model); out.bind {
		extra = bindThinking(root, extra)
	}
	out.sampled = r.Config.Temperature != nil || r.Config.TopP != nil
	addSampling(root, r.Config, f)
	if r.Cache != "" {
		mark(root)
	}
	if r.Stream {
		root["stream"] = true
	}
	out.body, err = modelapi.Encode(root, extra, llm.TextList{Key: "stop_sequences"})
	return out, err
}

// addMessages adds the messages, and the system prompt, which is none of them here.
func (p *payload) addMessages(root object, messages []core.Message, f form) (err error) {
	h := history{names: p.names, arguments: p.arguments, thinking: f.thinking}
	var system []string
	for _, m := range messages {
		if m.Role == core.System {
			system = append(system, m.Content.String())
			continue
		}
		if err := h.add(m); err != nil {
			return err
		}
	}
	if text := strings.Join(system, "\n\n"); strings.TrimSpace(text) != "" {
		root["system"] = text
	}
	p.bound = h.bound
	root["messages"], err = h.messages()
	return err
}

// checkConfig refuses what the API has no field for, instead of leaving it out unsaid.
func checkConfig(c llm.Config) error {
	switch {
	case c.MaxTokens == nil:
		return core.Errorf(core.ProviderInvalidRequest,
			"Anthropic's models need max_tokens: set how long an answer may be.")
	case *c.MaxTokens < 1:
		return core.Errorf(core.ProviderInvalidRequest, "max_tokens must be at least 1, not %d.", *c.MaxTokens)
	case c.Seed != nil:
		return core.Errorf(core.ProviderInvalidRequest, "Anthropic's models have no seed: take it away.")
	case c.FrequencyPenalty != nil || c.PresencePenalty != nil:
		return core.Errorf(core.ProviderInvalidRequest,
			"Anthropic's models have no frequency_penalty and presence_penalty: take them away.")
	}
	return nil
}

func addSampling(root object, c llm.Config, f form) {
	if c.Temperature != nil && f.sampling {
		root["temperature"] = *c.Temperature
	}
	if c.TopP != nil && f.sampling {
		root["top_p"] = *c.TopP
	}
	if len(c.StopSequences) > 0 {
		root["stop_sequences"] = c.StopSequences
	}
}
