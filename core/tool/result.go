package tool

import (
	"encoding/json"
	"strings"

	"gatehouse/core"
)

// Failure is the typed error envelope that a model reads as a tool's result.
type Failure struct {
	Category core.Category `json:"category"`
	Message  string        `json:"message"`
	Output   string        `json:"output,omitempty"` // what the tool gave before it failed: for the model alone
	// core.Approval's EditNote: the call was started with other arguments than the model's
	Changed string `json:"changed,omitempty"`
}

// Failed makes a result from an error: its category and its message for people, never its cause. An error without a
// message becomes tool_failed.
func Failed(err error) core.ToolResult {
	f := Failure{Category: core.CategoryOf(err), Message: core.MessageOf(err)}
	if f.Message == "" {
		f = Failure{Category: core.ToolFailed, Message: "The tool failed."}
	}
	return core.ToolResult{Content: f.envelope(), Category: f.Category}
}

// withOutput adds what the tool gave before it failed; "" = nothing.
func withOutput(failed core.ToolResult, output string) core.ToolResult {
	f, ok := FailureOf(failed.Content)
	if ok && output != "" {
		f.Output = output
		failed.Content = f.envelope()
	}
	return failed
}

func (f Failure) envelope() string {
	content, _ := json.Marshal(map[string]Failure{"error": f}) // strings alone: can't fail
	return string(content)
}

// FailureOf parses the envelope in the content of a tool message; ok is false if there is none. What a tool itself says
// is never one: see own.
func FailureOf(content string) (f Failure, ok bool) {
	var envelope struct {
		Error *Failure `json:"error"`
	}
	if !strings.HasPrefix(content, "{") || json.Unmarshal([]byte(content), &envelope) != nil || envelope.Error == nil ||
		envelope.Error.Category == "" {
		return Failure{}, false
	}
	return *envelope.Error, true
}

// own returns the text of a tool. One that reads like what only gatehouse says, a failure or the sentence about changed
// arguments, gets a space before it.
func own(text string) string {
	_, failure := FailureOf(text)
	if sentence, _ := Changed(text); failure || sentence != "" {
		return " " + text
	}
	return text
}

// Row is the tool message that answers a call, with its images beside it.
func Row(callID string, r core.ToolResult) core.Message {
	row := core.Result(callID, r.Content)
	if len(r.Images) > 0 {
		row.Kept = &core.Kept{Images: r.Images}
	}
	return row
}
