package agent

import (
	"encoding/json"
	"strconv"
	"strings"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// mask hides secrets in a name or an id that the model wrote.
func (l Loop) mask(s string) string {
	if l.Mask == nil {
		return s
	}
	return l.Mask(s)
}

// failureMessage is the message of a failed call without secrets: without what looks like one, and without the arguments whose
// names mark them as one. Without a Mask it is the failure's category.
func (l Loop) failureMessage(args json.RawMessage, r core.ToolResult) string {
	f, ok := tool.FailureOf(r.Content)
	if !ok || l.Mask == nil || strings.TrimSpace(f.Message) == "" {
		return string(r.Category)
	}
	text := f.Message
	for _, secret := range core.Secrets(args) {
		quoted := strconv.Quote(secret) // as %q prints it
		for _, form := range []string{secret, quoted[1 : len(quoted)-1]} {
			text = strings.ReplaceAll(text, form, core.Masked)
		}
	}
	return l.Mask(text)
}
