package prompts

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/prompt"
)

// backend counts the calls of a backend.
type backend struct {
	prompt.Backend
	declared    string // where
	unavailable bool
	calls       int
}

// Fetch counts, and fails if the backend is unavailable.
func (b *backend) Fetch(ctx context.Context, name, label string) (prompt.Prompt, error) {
	b.calls++
	if b.unavailable {
		return prompt.Prompt{}, prompt.Unavailable(name, label, errors.New("simulated"))
	}
	return b.Backend.Fetch(ctx, name, label)
}

func newBackend(declared string, d *fixture.Node) *backend {
	var prompts []prompt.Prompt
	for _, p := range d.Get("prompts").Items() {
		prompts = append(prompts, promptOf(p))
	}
	return &backend{
		Backend: prompt.NewStatic(time.Now(), prompts...), declared: declared,
		unavailable: d.Get("simulate_unavailable").Flag(false),
	}
}

// promptOf reads a prompt. It may be invalid: rendering must find that.
func promptOf(d *fixture.Node) prompt.Prompt {
	p := prompt.Prompt{
		Name: d.Need("name").Text(), Label: d.Get("label").Text(), Version: d.Get("version").Text(),
		TemplateHash: d.Get("template_hash").Text(),
		Template:     d.Get("template").Text(), Sampling: sampling(d.Get("sampling")),
	}
	if chat := d.Get("chat_template"); chat != nil {
		p.Chat = []prompt.Segment{}
		for _, item := range chat.Items() {
			p.Chat = append(p.Chat, segment(item))
		}
	}
	if d.Has("template") == d.Has("chat_template") {
		d.Malformed("a prompt needs either template or chat_template")
	}
	return p
}

func segment(d *fixture.Node) prompt.Segment {
	s := prompt.Segment{Role: core.Role(d.Get("role").Text()), Placeholder: d.Get("placeholder").Text()}
	content := d.Get("content")
	if !content.IsList() {
		s.Content = core.Text(content.Text())
		return s
	}
	blocks := []core.Block{}
	for _, item := range content.Items() {
		b := core.Block{
			Type: core.BlockType(item.Need("type").Text()), Text: item.Get("text").Text(),
			MediaType: item.Get("media_type").Text(),
			Detail:    item.Get("detail").Text(), Signature: item.Get("signature").Text(),
			Data: item.Get("data").Text(),
		}
		if source := item.Get("source"); source != nil {
			b.Source = &core.ImageSource{
				Type: source.Need("type").Text(), URL: source.Get("url").Text(),
				Base64Data: source.Get("base64_data").Text(),
			}
		}
		blocks = append(blocks, b)
	}
	s.Content = core.Blocks(blocks...)
	return s
}

// sampling reads a sub-record of the fields of llm-provider §6; nil and null are none.
func sampling(d *fixture.Node) *llm.Config {
	if d.IsNull() {
		return nil
	}
	number := func(key string) *float64 {
		v := d.Get(key)
		if v.IsNull() {
			return nil
		}
		n := v.Number()
		return &n
	}
	whole := func(key string) *int64 {
		v := d.Get(key)
		if v.IsNull() {
			return nil
		}
		n, ok := v.Value().(int64)
		if !ok {
			v.Malformed("must be a whole number")
		}
		return &n
	}
	c := &llm.Config{
		Temperature: number("temperature"), TopP: number("top_p"), FrequencyPenalty: number("frequency_penalty"),
		PresencePenalty: number("presence_penalty"), MaxTokens: whole("max_tokens"), Seed: whole("seed"),
	}
	if stops := d.Get("stop_sequences"); !stops.IsNull() {
		c.StopSequences = append([]string{}, stops.Texts()...)
	}
	if extras := d.Get("extras"); !extras.IsNull() {
		c.Extra = map[string]json.RawMessage{}
		for key, value := range extras.Fields() {
			data, err := json.Marshal(value)
			if err != nil {
				extras.Malformed("%v", err)
			}
			c.Extra[key] = data
		}
	}
	return c
}
