package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync/atomic"
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
		all = append(all, view.Bind(m.Vendor, llm.WithBadCalls(p)))
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
	vendor, err := openai.New(m.Name, cfg.OpenAI)
	p := llm.Provider(vendor)
	if cfg.OpenAI.IsOpenAI() { // whose newer models refuse the name that other servers know
		p = llm.WithMaxTokensAs(p, "max_completion_tokens")
	}
	if n := cfg.Model.MaxTokens; n > 0 {
		p = llm.WithMaxTokens(p, n)
	}
	return p, err
}

// observer makes a span of each attempt of a call.
func observer(tracer graph.Tracer) llm.Observer {
	if tracer == nil {
		return nil
	}
	return func(ctx context.Context, a llm.Attempt) (context.Context, func(llm.Response, error)) {
		ctx, end := graph.StartSpan(ctx, tracer, graph.Span{Kind: graph.SpanModel, Name: "openarmature.llm.complete", Attempt: a.Index})
		return ctx, func(r llm.Response, err error) {
			attributes := a.Attributes(r, err)
			maps.Copy(attributes, prompt.Attributes(ctx))
			end(graph.SpanEnd{Err: err, Attributes: attributes})
		}
	}
}

// newProviderModel makes the model of the agent from the configured models.
func newProviderModel(cfg settings.Config, store *storage.Store, tools *tool.Registry, tracer graph.Tracer, log *slog.Logger) (agent.ProviderModel, error) {
	p, err := newProvider(cfg, tracer)
	if err != nil {
		return agent.ProviderModel{}, err
	}
	return agent.ProviderModel{
		Provider: p, Tools: tools, TextOnly: cfg.Model.TextOnly, Budget: cfg.Model.Context, System: rendering(systemPrompt(cfg), time.Now),
		Image: store.LoadBlob, Count: store.AddTokens, Daily: cfg.Model.Daily,
		LeftOut: warnLeftOut(log),
	}, nil
}

// warnLeftOut logs how many tools a model is not told of, when that changes. log may be nil.
func warnLeftOut(log *slog.Logger) func(int) {
	var before atomic.Int64
	return func(tools int) {
		if before.Swap(int64(tools)) != int64(tools) && tools > 0 && log != nil {
			log.Warn("the model is not told of some tools, because there are too many or they take more than half of GATEHOUSE_MODEL_CONTEXT; remove the ones that it does not need", "left_out", tools)
		}
	}
}

// viewRef says in the evidence how a model is shown a conversation, and how it samples.
func viewRef(cfg settings.Config) (string, error) {
	p := systemPrompt(cfg)
	sampling, err := json.Marshal(p.Sampling)
	return fmt.Sprintf("prompt %s %s, context %d, text only %t, answers of %d tokens, sampling %s", p.Name, p.TemplateHash, cfg.Model.Context, cfg.Model.TextOnly, cfg.Model.MaxTokens, sampling), err
}

// modelRef names the configured models in the evidence.
func modelRef(m settings.Model) string {
	var names []string
	for _, one := range m.Chosen {
		names = append(names, one.String())
	}
	return strings.Join(names, ",")
}
