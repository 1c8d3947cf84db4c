package doctor

import (
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/storage"
)

// checkScript reports the warnings about the script that is the agent, and whether it can run. An invalid script is a
// fault of the configuration, which is reported before.
func checkScript(p Program, cfg settings.Config, store *storage.Store) []finding {
	if cfg.Script == nil {
		return nil
	}
	var found []finding
	for _, warning := range cfg.Script.Warnings {
		found = append(found, finding{"script", stateWarn, warning, ""})
	}
	if _, err := p.Agent(cfg, store); err != nil {
		return append(found, finding{"script", stateFail, cli.Explain(err), "Correct the script."})
	}
	model := "It can ask the model."
	if cfg.Model.Names == "" {
		model = "It can't ask a model, because GATEHOUSE_MODEL is not set."
	}
	return append(found, finding{"script", stateOK, cfg.Script.Name + " can run. " + model, ""})
}
