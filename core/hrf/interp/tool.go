package interp

import (
	"encoding/json"
	"slices"
	"strings"

	"gatehouse/core/hrf"
)

func (r *run) tool(step *hrf.ToolCall) Effect {
	if fault := r.defined(step.Args.Refs(), step.Place); fault != nil {
		return fault
	}
	args, ok := step.Args.Eval(r.scope(), r.limits.Size)
	if !ok {
		return r.tooLarge("the arguments of "+step.Recipient, step.Place)
	}
	return r.call(onTool, step.Place, Event{Type: "tool-call", Recipient: step.Recipient, Set: []string{step.SaveAs}},
		args)
}

// call calls a tool.
func (r *run) call(phase Phase, p hrf.Place, e Event, args map[string]any) Effect {
	if fault := r.spend("tool_calls", &r.Used.ToolCalls, r.limits.ToolCalls, p); fault != nil {
		return fault
	}
	schema, _ := r.schema(e.Recipient)
	args = splitLists(args, schema)
	r.note(p, e)
	r.Phase = phase
	return CallTool{Recipient: e.Recipient, Args: args, Pointer: p.Pointer}
}

func (r *run) toolResult(step *hrf.ToolCall, result Result) Effect {
	if fault := r.keep(step.SaveAs, result, step.Recipient, step.Place); fault != nil {
		return fault
	}
	return r.completed()
}

// keep sets a variable to the result of a tool.
func (r *run) keep(name string, result Result, recipient string, p hrf.Place) Effect {
	d := at(p)
	d.Recipient = recipient
	if result.Err != "" {
		return r.fail(d, "%s failed: %s", recipient, result.Err)
	}
	value, err := plain(result.Value)
	if err != nil {
		return r.fail(d, "the result of %s is not JSON: %v", recipient, err)
	}
	return r.set(name, value, p)
}

// splitLists splits the texts at their commas where a tool wants a list of texts. All else keeps its type.
func splitLists(args map[string]any, schema json.RawMessage) map[string]any {
	var object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &object) // a schema of another form wants no lists
	split := make(map[string]any, len(args))
	for name, value := range args {
		if text, ok := value.(string); ok && wantsTexts(object.Properties[name]) {
			value = list(text)
		}
		split[name] = value
	}
	return split
}

// list gives the parts between commas, without white space around them and without empty ones.
func list(text string) []any {
	parts := []any{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// wantsTexts reports whether a schema wants an array of strings, and no string.
func wantsTexts(schema json.RawMessage) bool {
	var array struct {
		Type  types `json:"type"`
		Items struct {
			Type types `json:"type"`
		} `json:"items"`
	}
	return json.Unmarshal(schema, &array) == nil && slices.Contains(array.Type, "array") &&
		!slices.Contains(array.Type, "string") &&
		slices.Contains(array.Items.Type, "string")
}

// types is the keyword type of a JSON Schema: one name, or several.
type types []string

func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}
