package doctor

import (
	"fmt"

	"gatehouse/cmd/gatehouse/internal/settings"
)

// checkPrompt says which version of the system prompt the model has. Faults of its file are faults of the
// configuration.
func checkPrompt(cfg settings.Config) []finding {
	p := cfg.SystemPrompt
	if p == nil || cfg.Agent != "llm" {
		return nil
	}
	return []finding{{
		"prompt", stateOK, fmt.Sprintf("The system prompt of %s is in version %s.", cfg.PromptFile, p.Version), "",
	}}
}
