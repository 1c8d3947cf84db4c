package interp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// State is where a run is. It survives JSON unchanged, the digits of its numbers included.
type State struct {
	Phase Phase          `json:"phase"`
	Input map[string]any `json:"input,omitempty"`
	Vars  map[string]any `json:"vars"`
	Path  []int          `json:"path,omitempty"`  // of the step that is next, or that waits
	Fired []int          `json:"fired,omitempty"` // the messages that have called; the last one may wait
	Chat  []Line         `json:"chat,omitempty"`  // for the model
	Text  string         `json:"text,omitempty"`  // the final text so far
	Used  Used           `json:"used"`
	Trace []Event        `json:"trace,omitempty"`
}

// Phase is what a run does next, or what it waits for.
type Phase string

const (
	begin     Phase = "begin"
	stepping  Phase = "stepping"
	onTool    Phase = "tool"    // the result of the step at Path
	onReply   Phase = "reply"   // the model's text for the step at Path
	onCall    Phase = "call"    // the result of the last message in Fired
	onSummary Phase = "summary" // the model's text, with which the run ends
	ended     Phase = "ended"
)

// Used is what a run has used of its limits.
type Used struct {
	Steps      int `json:"steps"`
	ToolCalls  int `json:"tool_calls"`
	ModelCalls int `json:"model_calls"`
}

// Event is one entry of a trace: a step, a marker that acted, or the summary. It names variables and never holds their
// values.
type Event struct {
	Pointer   string   `json:"pointer"` // of the step or the message; "" for the summary
	Line      int      `json:"line,omitempty"`
	Type      string   `json:"type"`                // of the step; end, return or call; summary
	Set       []string `json:"set,omitempty"`       // the variables that it sets
	Branch    string   `json:"branch,omitempty"`    // of an if: then or else
	Channel   string   `json:"channel,omitempty"`   // of a message
	Recipient string   `json:"recipient,omitempty"` // of a call
	Model     bool     `json:"model,omitempty"`     // the model is asked
	Messages  []Line   `json:"messages,omitempty"`  // what the model was shown; in an Outcome only
}

// Trimmed returns the state with only the last event of its trace, for callers that store the state and do not show the
// trace, which grows with every step. A run goes on from it as from s.
func (s State) Trimmed() State {
	s.Trace = s.Trace[max(0, len(s.Trace)-1):]
	return s
}

// copy gives a state that can be changed without changing s. Values are never changed.
func (s State) copy() State {
	s.Vars, s.Path = maps.Clone(s.Vars), slices.Clone(s.Path)
	s.Fired, s.Chat, s.Trace = slices.Clip(s.Fired), slices.Clip(s.Chat), slices.Clip(s.Trace)
	return s
}

// UnmarshalJSON reads a state.
func (s *State) UnmarshalJSON(text []byte) error {
	type plain State
	var read plain
	if err := unmarshal(text, &read); err != nil {
		return err
	}
	*s = State(read)
	return nil
}

// unmarshal keeps the digits of numbers.
func unmarshal(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// plain gives a value as it is when it has been stored and read, so that a run that was interrupted sees the same as
// one that was not.
func plain(v any) (read any, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return read, unmarshal(text, &read)
}
