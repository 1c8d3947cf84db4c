package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// modelTime is how long a model may take to say that it is there, and callTime to answer.
const (
	modelTime = 15 * time.Second
	callTime  = time.Minute
)

// checkModels asks each configured model as people's messages do, with a tool; with --quick, only whether it is there.
func (c Command) checkModels(ctx context.Context, cfg settings.Config) []finding {
	if cfg.Agent != "llm" && cfg.Script == nil {
		return nil
	}
	var found []finding
	for _, m := range cfg.Model.Chosen {
		p, _, err := m.Open()
		switch {
		case err != nil:
			found = append(found, refusedModel(m.String(), err))
		case c.Quick:
			found = append(found, isThere(ctx, m.String(), p))
		default:
			if m.Stream {
				p = llm.NewStreamed(p, nil)
			}
			found = append(found, callModel(ctx, m.String(), p))
		}
	}
	return found
}

func isThere(ctx context.Context, name string, p llm.Provider) finding {
	ctx, cancel := context.WithTimeout(ctx, modelTime)
	defer cancel()
	if err := p.Ready(ctx); err != nil {
		return refusedModel(name, err)
	}
	return finding{"model", stateOK, name + " is there.", ""}
}

// The tool that doctor has a model call, and how to let a model call it.
var ping = llm.Tool{
	Name: "ping", Description: "Answers pong.",
	Parameters: json.RawMessage(
		`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"],"additionalProperties":false}`),
}

const withTools = "Take a model that calls tools. vLLM needs --enable-auto-tool-choice and the --tool-call-parser of " +
	"the model; " +
	"ollama.com lists which of its models have tools."

// callModel makes one call with a tool, and says what a person would meet.
func callModel(ctx context.Context, name string, p llm.Provider) finding {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	request := llm.Request{Tools: []llm.Tool{ping}, Messages: []core.Message{
		{Role: core.User, Content: core.Text(`Call the tool ping with the word "pong", and say nothing else.`)},
	}}
	answer, err := p.Complete(ctx, request)
	if category := core.CategoryOf(err); category == core.ProviderInvalidRequest ||
		category == core.ProviderUnsupportedContent {
		request.Tools = nil
		if _, plain := p.Complete(ctx, request); plain == nil {
			return finding{
				"model", stateFail, fmt.Sprintf("%s answers, and refuses tools: %s", name, cli.Explain(err)), withTools,
			}
		}
	}
	switch {
	case err != nil:
		return refusedModel(name, err)
	case len(answer.Message.ToolCalls) > 0:
		return finding{"model", stateOK, name + " answers, and calls tools.", ""}
	case answer.Message.Content.String() == "":
		return finding{
			"model", stateWarn, name + " gives an empty answer, and did not call the tool that it was asked to call.",
			withTools,
		}
	}
	return finding{
		"model", stateWarn, name + " answers, and did not call the tool that it was asked to call.", withTools,
	}
}

// refusedModel says why a model can't answer, what people read then, and what to do.
func refusedModel(name string, err error) finding {
	fix := "The log of gatehouse has the same words. The pages of the vendor, or its status page, say more."
	switch core.CategoryOf(err) {
	case core.ProviderAuthentication:
		fix = "Copy the key again from the pages of the vendor: OPENAI_API_KEY or ANTHROPIC_API_KEY, or the key of " +
			"the model in GATEHOUSE_MODELS."
	case core.ProviderUnavailable:
		fix = "Check OPENAI_BASE_URL or ANTHROPIC_BASE_URL, or base_url in GATEHOUSE_MODELS, and that this machine " +
			"may reach it."
	case core.ProviderInvalidModel:
		fix = "The pages of the vendor list its models; ollama list shows those of Ollama."
	case core.ProviderModelNotLoaded:
		fix = "Load the model on its server, or wait until it is loaded."
	case core.ProviderRateLimit:
		fix = "Wait, or raise the limit on the pages of the vendor; a bill that is not paid says the same."
	}
	return finding{"model", stateFail, fmt.Sprintf("%s can't answer: %s", name, cli.Explain(err)), fix}
}
