package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/cmd/gatehouse/internal/metrics"
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

// retryWait is how long a chain waits before it asks a model again; nil: as it likes.
var retryWait func() time.Duration

// newProvider makes the provider of the configured models: the first one that can answer does. tracer, health and log
// may be nil.
func newProvider(
	cfg settings.Config, tracer graph.Tracer, health *modelHealth, log *slog.Logger,
) (llm.Provider, error) {
	var all []llm.Link
	for _, m := range cfg.Model.Chosen {
		p, origin, err := m.Open()
		if err != nil {
			return nil, err
		}
		if m.Stream {
			p = llm.NewStreamed(p, warnNoStream(m.Name, log))
		}
		p = view.Bind(origin, llm.WithBadCalls(llm.NewLimit(p, cfg.Model.Calls)))
		all = append(all,
			llm.Link{
				Provider: p, Model: strings.TrimPrefix(m.Name, m.Vendor+":"), Observe: observer(m, tracer, health),
			})
	}
	if len(all) == 0 {
		return nil, core.Errorf(core.Invalid, "GATEHOUSE_MODEL: no model is set")
	}
	first := cfg.Model.Chosen[0]
	chain := llm.NewChain(llm.ChainConfig{Time: cfg.Model.RetryTime, Wait: retryWait, Failed: warnFailed(log)}, all[0],
		all[1:]...)
	return llm.Told{Provider: chain, Vendor: first.Vendor, Model: first.Model, Tell: graph.Emit}, nil
}

// warnFailed logs what a vendor says where a model fails. log may be nil.
func warnFailed(log *slog.Logger) func(model string, class llm.Class, err error) {
	return func(model string, class llm.Class, err error) {
		if log != nil {
			log.Warn("a model did not answer", "model", model, "remedy", string(class),
				"category", core.CategoryOf(err), "err", err)
		}
	}
}

// observer makes a span of each attempt of a call, and notes how it ended.
func observer(m settings.ChosenModel, tracer graph.Tracer, health *modelHealth) llm.Observer {
	return func(ctx context.Context, a llm.Attempt) (context.Context, func(llm.Response, error)) {
		ctx, end := graph.StartSpan(ctx, tracer,
			graph.Span{Kind: graph.SpanModel, Name: "openarmature.llm.complete", Attempt: a.Index})
		began := time.Now()
		return ctx, func(r llm.Response, err error) {
			if health != nil {
				health.note(a.Model, err)
				health.metrics.Model(a.Model, r, err, time.Since(began))
			}
			attributes := a.Attributes(r, err)
			attributes["gen_ai.provider.name"], attributes["gen_ai.request.model"] = m.Vendor, m.Model
			maps.Copy(attributes, prompt.Attributes(ctx))
			end(graph.SpanEnd{Err: err, Attributes: attributes})
		}
	}
}

// newProviderModel makes the model of the agent from the configured models.
func newProviderModel(
	cfg settings.Config, store *storage.Store, tools *tool.Registry, tracer graph.Tracer, health *modelHealth,
	log *slog.Logger,
) (agent.ProviderModel, error) {
	p, err := newProvider(cfg, tracer, health, log)
	if err != nil {
		return agent.ProviderModel{}, err
	}
	return agent.ProviderModel{
		Provider: p,
		Tools:    tools,
		System:   systemPrompt(cfg),
		Zone:     zone(),
		Budget:   cfg.Model.Context,
		TextOnly: cfg.Model.TextOnly,
		Images:   store,
		Tokens:   store,
		Daily:    cfg.Model.Daily,
		LeftOut:  warnLeftOut(log),
	}, nil
}

// warnNoStream logs what an endpoint refuses of a stream. log may be nil.
func warnNoStream(model string, log *slog.Logger) func(options bool) {
	return func(options bool) {
		what := "its answers come at once, so that a call that hangs is noticed late; set stream: false in " +
			"GATEHOUSE_MODELS"
		if options {
			what = "its streams don't say how many tokens were used"
		}
		if log != nil {
			log.Warn("the model's endpoint refuses to stream as it was asked to: "+what, "model", model)
		}
	}
}

// warnLeftOut logs how many tools a model is not told of, when that changes. log may be nil.
func warnLeftOut(log *slog.Logger) func(int) {
	var before atomic.Int64
	return func(tools int) {
		if before.Swap(int64(tools)) != int64(tools) && tools > 0 && log != nil {
			log.Warn("the model is not told of some tools, because there are too many or they take more than half of "+
				"GATEHOUSE_MODEL_CONTEXT; remove the ones that it does not need", "left_out", tools)
		}
	}
}

// viewRef says in the evidence how a model is shown a conversation, and how it samples.
func viewRef(cfg settings.Config) (string, error) {
	p := systemPrompt(cfg)
	sampling, err := json.Marshal(p.Sampling)
	return fmt.Sprintf("prompt %s %s, context %d, text only %t, answers of %d tokens, sampling %s", p.Name,
		p.TemplateHash, cfg.Model.Context, cfg.Model.TextOnly, cfg.Model.MaxTokens, sampling), err
}

// modelRef names the configured models in the evidence.
func modelRef(m settings.Model) string {
	var names []string
	for _, one := range m.Chosen {
		names = append(names, one.String())
	}
	return strings.Join(names, ",")
}

// modelHealth remembers what the last call of each model tells of it, by the model's name: "" = it answered. It is safe
// for concurrent use.
type modelHealth struct {
	metrics *metrics.Metrics

	mu    sync.Mutex
	asked []string // the models that are asked; nil: any
	last  map[string]core.Category
}

func newModelHealth() *modelHealth { return &modelHealth{last: map[string]core.Category{}} }

// keep forgets the models that are not asked any more, also what turns that began before tell of them.
func (h *modelHealth) keep(m settings.Model) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = []string{}
	for _, one := range m.Chosen {
		h.asked = append(h.asked, strings.TrimPrefix(one.Name, one.Vendor+":"))
	}
	maps.DeleteFunc(h.last, func(name string, _ core.Category) bool { return !slices.Contains(h.asked, name) })
}

// note takes the result of a call. Only a model that can't be asked is down: a refused request, a limit or a turn that
// was stopped tell nothing.
func (h *modelHealth) note(model string, err error) {
	category := core.CategoryOf(err)
	switch category {
	case "", core.ProviderAuthentication, core.ProviderUnavailable, core.ProviderInvalidModel,
		core.ProviderModelNotLoaded:
	default:
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.asked != nil && !slices.Contains(h.asked, model) {
		return
	}
	h.last[model] = category
}

func (h *modelHealth) all() map[string]core.Category {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.last)
}

// notes are lines for /readyz. They do not make it fail: people are told, and everything but the model works.
func (h *modelHealth) notes() (lines []string) {
	all := h.all()
	for _, model := range slices.Sorted(maps.Keys(all)) {
		if all[model] == core.ProviderAuthentication {
			lines = append(lines, fmt.Sprintf("model %s: key refused", model))
		}
	}
	return lines
}
