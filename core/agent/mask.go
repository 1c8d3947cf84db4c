package agent

import (
	"strings"

	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
)

// failureMessage is the message of a failed call without secrets: without what looks like one, and without the
// arguments that their names or the tool's schema mark as one. Without one it is the failure's category.
func (l Loop) failureMessage(call core.ToolCall, r core.ToolResult) string {
	f, ok := tool.FailureOf(r.Content)
	if !ok || strings.TrimSpace(f.Message) == "" {
		return string(r.Category)
	}
	return mask.Text(mask.Without(f.Message, l.Executor.Tools.Secrets(call)))
}
