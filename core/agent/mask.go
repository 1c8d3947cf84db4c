package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// masked replaces a secret in the evidence, as core.MaskJSON does.
const masked = "••••••"

// mask hides secrets in a name or an id that the model wrote.
func (l Loop) mask(s string) string {
	if l.Mask == nil {
		return s
	}
	return l.Mask(s)
}

// failureMessage is the message of a failed call without secrets: without what looks like one, and without the arguments whose name says
// that they are one. Without a Mask it is the failure's category.
func (l Loop) failureMessage(args json.RawMessage, r core.ToolResult) string {
	f, ok := tool.FailureOf(r.Content)
	if !ok || l.Mask == nil || strings.TrimSpace(f.Message) == "" {
		return string(r.Category)
	}
	text := f.Message
	for _, secret := range secrets(args) {
		quoted := strconv.Quote(secret) // as %q prints it
		for _, form := range []string{secret, quoted[1 : len(quoted)-1]} {
			text = strings.ReplaceAll(text, form, masked)
		}
	}
	return l.Mask(text)
}

// secrets are the texts that core.MaskJSON hides completely, longest first.
func secrets(args json.RawMessage) []string {
	var found []string
	var walk func(was, is any)
	walk = func(was, is any) { // is: what is left after masking; nil: nothing
		hidden, _ := is.(string)
		switch was := was.(type) {
		case string:
			if was != "" && (is == nil || hidden == masked) {
				found = append(found, was)
			}
		case []any:
			shown, _ := is.([]any)
			for i, v := range was {
				if i < len(shown) {
					walk(v, shown[i])
				} else {
					walk(v, nil)
				}
			}
		case map[string]any:
			shown, _ := is.(map[string]any)
			for k, v := range was {
				walk(v, shown[k])
			}
		}
	}
	walk(decoded(args), decoded(core.MaskJSON(args)))
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	return found
}

func decoded(text json.RawMessage) (v any) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	_ = dec.Decode(&v) // invalid JSON holds no arguments: the tool refuses it
	return v
}
