package agent

import (
	"strings"

	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
)

// mask hides secrets in a name or an id that the model wrote.
func (l Loop) mask(s string) string {
	if l.Mask == nil {
		return s
	}
	return l.Mask(s)
}

// failureMessage is the message of a failed call without secrets: without what looks like one, and without the
// arguments that their names or the tool's schema mark as one. Without a Mask it is the failure's category.
func (l Loop) failureMessage(call core.ToolCall, r core.ToolResult) string {
	f, ok := tool.FailureOf(r.Content)
	if !ok || l.Mask == nil || strings.TrimSpace(f.Message) == "" {
		return string(r.Category)
	}
	return l.Mask(mask.Without(f.Message, l.Executor.Tools.Secrets(call)))
}
