package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/anthropic"
	"gatehouse/adapters/openai"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/graph"
	"gatehouse/core/llm"
	"gatehouse/core/llm/prompt"
	"gatehouse/core/llm/view"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// anthropicTokens is how many tokens an answer of Anthropic's may have where nothing is set: its API needs a number.
const anthropicTokens = 8192

// newProvider makes the provider of the configured models: the first one that can answer does. tracer may be nil.
func newProvider(cfg settings.Config, tracer graph.Tracer) (llm.Provider, error) {
	var all []llm.Provider
	for _, m := range cfg.Model.Chosen {
		p, err := newVendor(cfg, m)
		if err != nil {
			return nil, err
		}
		p = llm.NewRetry(llm.NewLimit(p, cfg.Model.Calls), llm.RetryConfig{Total: cfg.Model.Timeout, Model: m.Name, Observe: observer(tracer)})
		all = append(all, view.Bind(m.Vendor, p))
	}
	if len(all) == 0 {
		return nil, core.Errorf(core.Invalid, "GATEHOUSE_MODEL: no model is set")
	}
	return llm.NewFallback(all[0], all[1:]...), nil
}

func newVendor(cfg settings.Config, m settings.ChosenModel) (llm.Provider, error) {
	if m.Vendor == settings.Anthropic {
		p, err := anthropic.New(m.Name, cfg.Anthropic)
		return llm.WithMaxTokens(p, cmp.Or(cfg.Model.MaxTokens, anthropicTokens)), err
	}
	p, err := openai.New(m.Name, cfg.OpenAI)
	switch n := cfg.Model.MaxTokens; {
	case n == 0:
		return p, err
	case cfg.OpenAI.IsOpenAI(): // whose newer models refuse the name that other servers know
		return llm.WithExtra(p, "max_completion_tokens", strconv.AppendInt(nil, n, 10)), err
	default:
		return llm.WithMaxTokens(p, n), err
	}
}

// observer makes a span of each attempt of a call.
func observer(tracer graph.Tracer) llm.Observer {
	if tracer == nil {
		return nil
	}
	return func(ctx context.Context, a llm.Attempt) (context.Context, func(llm.Response, error)) {
		ctx, end := graph.StartSpan(ctx, tracer, graph.Span{Kind: graph.SpanModel, Name: "openarmature.llm.complete", Attempt: a.Index})
		return ctx, func(r llm.Response, err error) { end(graph.SpanEnd{Err: err, Attributes: a.Attributes(r, err)}) }
	}
}

// newProviderModel makes the model of the agent from the configured models.
func newProviderModel(cfg settings.Config, store *storage.Store, tools *tool.Registry, tracer graph.Tracer) (agent.ProviderModel, error) {
	p, err := newProvider(cfg, tracer)
	if err != nil {
		return agent.ProviderModel{}, err
	}
	return agent.ProviderModel{
		Provider: p, Tools: tools, TextOnly: cfg.Model.TextOnly, Budget: cfg.Model.Context, System: systemPrompt(cfg.SystemPrompt, time.Now),
		Image: store.LoadBlob, Count: store.AddTokens, Daily: cfg.Model.Daily,
	}, nil
}

// systemPrompt renders the system prompt of a turn: the configured one, or the one that is built in.
func systemPrompt(p *prompt.Prompt, now func() time.Time) func(core.Turn) (string, error) {
	if p == nil {
		p = &builtInPrompt
	}
	return func(turn core.Turn) (string, error) {
		rendered, err := p.Render(prompt.SystemInput(botName, turn.Address.Platform, now().UTC()))
		if err != nil {
			return "", err
		}
		return rendered.Messages[0].Content.String(), nil
	}
}

// botName is what the bot is called where nobody gave it another name.
const botName = "gatehouse"

// viewRef says in the evidence how a model is shown a conversation.
func viewRef(cfg settings.Config) string {
	p := cmp.Or(cfg.SystemPrompt, &builtInPrompt)
	return fmt.Sprintf("prompt %s, context %d, text only %t, answers of %d tokens", prompt.HashTemplate(*p), cfg.Model.Context, cfg.Model.TextOnly, cfg.Model.MaxTokens)
}

// modelRef names the configured models in the evidence.
func modelRef(m settings.Model) string {
	var names []string
	for _, one := range m.Chosen {
		names = append(names, one.String())
	}
	return strings.Join(names, ",")
}
