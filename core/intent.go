package core

import "time"

// Intent records that a tool is about to run; it is committed before the tool runs.
type Intent struct {
	Approval   ApprovalID
	Invocation InvocationID
	Tool       string
	Digest     string
}

// ToolResult is the result of a tool call: content for the model, and a category if it failed.
type ToolResult struct {
	Content  string
	Category Category // "" = it succeeded
}

// IntentRecord is an intent and, once it is known, its result. Fresh: this call of BeginIntent created it. Without BegunAt the call never ran
// and never will: the turn ended, for the reason in Result.
type IntentRecord struct {
	Intent
	Fresh   bool
	Result  *ToolResult
	BegunAt time.Time
	EndedAt time.Time
}

// State is what became of the call of an approved approval, whose intent this is; nil: there is none.
func (i *IntentRecord) State() CallState {
	switch {
	case i == nil:
		return CallWaits
	case i.Result == nil:
		return CallRunning
	case i.BegunAt.IsZero():
		return CallNotRun
	case i.Result.Category == "":
		return CallDone
	case i.Result.Category == OutcomeUnknown:
		return CallUnknown
	}
	return CallFailed
}
