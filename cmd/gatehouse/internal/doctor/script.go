package doctor

import (
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/storage"
)

// checkScript checks the script that is the agent: what may be a mistake in it, and whether its tools exist. Its faults are faults of the
// configuration.
func (c Command) checkScript(cfg settings.Config, store *storage.Store) []finding {
	if cfg.Script == nil {
		return nil
	}
	var found []finding
	for _, warning := range cfg.Script.Warnings {
		found = append(found, finding{"script", stateWarn, warning, ""})
	}
	if _, err := c.Agent(cfg, store); err != nil {
		return append(found, finding{"script", stateFail, cli.Explain(err), "Correct the script, or bring the tool with GATEHOUSE_TOOLS or GATEHOUSE_MCP_CONFIG."})
	}
	model := "It may leave texts to the model."
	if cfg.Model.Names == "" {
		model = "It may not leave texts to a model, because GATEHOUSE_MODEL is not set."
	}
	return append(found, finding{"script", stateOK, cfg.Script.Name + " can run. " + model, ""})
}
