package settings

import (
	"slices"
	"strings"

	"gatehouse/core"
)

// pages are the commands that print what explains a setting.
var pages = map[string]string{
	"GATEHOUSE_AGENT":              "gatehouse help core/agent",
	"GATEHOUSE_APPROVAL_POLICY":    "gatehouse help approvals#the-rules",
	"GATEHOUSE_APPROVERS":          "gatehouse help approvals#who-may-approve",
	"GATEHOUSE_DATABASE_URL":       "gatehouse help cmd/gatehouse#postgres",
	"GATEHOUSE_GREETING_FILE":      "gatehouse help adapters/web#the-first-screen",
	"GATEHOUSE_MCP_CONFIG":         "gatehouse help adapters/mcp#keys",
	"GATEHOUSE_MODEL":              "gatehouse help core/agent#models",
	"GATEHOUSE_MODELS":             "gatehouse help core/agent#models",
	"GATEHOUSE_SYSTEM_PROMPT_FILE": "gatehouse help core/agent#the-system-prompt",
	"GATEHOUSE_TOKENS":             "gatehouse help adapters/web",
	"GATEHOUSE_URL":                "gatehouse help adapters/web#behind-a-proxy",
	"GATEHOUSE_TOOLS":              "gatehouse help adapters/tools#keys",
}

// PageOf is the command that prints what explains the setting of a fault; "" if no page says more than the fault.
func PageOf(fault string) string { return pages[keyOf(fault)] }

// Invalid is the error about the faults of a configuration, with the commands that explain their settings.
func Invalid(faults []string) error {
	text := "The configuration is invalid:\n  " + strings.Join(faults, "\n  ")
	var told []string
	for _, fault := range faults {
		if page := PageOf(fault); page != "" && !slices.Contains(told, page) {
			told = append(told, page)
			text += "\nRead more: " + page
		}
	}
	return core.Errorf(core.Invalid, "%s", text)
}
