package doctor

import (
	"fmt"
	"strings"

	"gatehouse/adapters/tools"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/tool"
)

// checkTools lists the tools that the configuration adds to those that are always there. Faults of the file are faults
// of the configuration.
func checkTools(cfg settings.Config) []finding {
	all := cfg.Tools.Tools()
	if !cfg.Hosts.None() {
		all = append([]tool.Tool{tools.Fetch(cfg.Hosts)}, all...)
	}
	var found []finding
	for _, warning := range cfg.Tools.Warnings() {
		found = append(found,
			finding{"tools", stateWarn, warning.Where() + ": " + warning.What + ".", sentence(warning.Do)})
	}
	for _, t := range all {
		found = append(found,
			finding{"tools", stateOK, fmt.Sprintf("%s (%s): %s", t.Name, traits(t), firstLine(t.Description)), ""})
	}
	return found
}

// traits are a tool's risk in the policy's words, and what else decides how it runs.
func traits(t tool.Tool) string {
	text := "write"
	switch {
	case !t.Mutating:
		text = "read"
	case t.Risk == core.Dangerous:
		text = "destructive"
	}
	if t.Idempotent {
		text += ", idempotent"
	}
	return text
}

// sentence writes a remedy as the others are written.
func sentence(do string) string {
	do = strings.ToUpper(do[:1]) + do[1:]
	if strings.HasSuffix(do, "?") {
		return do
	}
	return do + "."
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
