package doctor

import (
	"context"
	"fmt"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// modelTime is how long a model may take to say that it is there.
const modelTime = 15 * time.Second

// checkModels asks the vendor of each configured model whether it is there.
func (c Command) checkModels(ctx context.Context, cfg settings.Config) []finding {
	if cfg.Agent != "llm" && cfg.Script == nil || c.Vendor == nil {
		return nil
	}
	var found []finding
	for _, m := range cfg.Model.Chosen {
		found = append(found, checkModel(ctx, m.String(), func() (llm.Provider, error) { return c.Vendor(cfg, m) }))
	}
	return found
}

func checkModel(ctx context.Context, name string, make func() (llm.Provider, error)) finding {
	ctx, cancel := context.WithTimeout(ctx, modelTime)
	defer cancel()
	p, err := make()
	if err == nil {
		err = p.Ready(ctx)
	}
	fix := ""
	switch core.CategoryOf(err) {
	case "":
		return finding{"model", stateOK, name + " is there.", ""}
	case core.ProviderAuthentication:
		fix = "Copy the key again from the pages of the vendor: OPENAI_API_KEY or ANTHROPIC_API_KEY."
	case core.ProviderUnavailable:
		fix = "Check OPENAI_BASE_URL or ANTHROPIC_BASE_URL, and that this machine may reach it."
	case core.ProviderInvalidModel:
		fix = "The pages of the vendor list its models; ollama list shows those of Ollama."
	case core.ProviderModelNotLoaded:
		fix = "Load the model on its server, or wait until it is loaded."
	}
	return finding{"model", stateFail, fmt.Sprintf("%s can't answer: %s", name, cli.Explain(err)), fix}
}
