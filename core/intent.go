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

// IntentRecord is an intent and, once it is known, its result. Fresh: this call of BeginIntent created it.
type IntentRecord struct {
	Intent
	Fresh   bool
	Result  *ToolResult
	BegunAt time.Time
	EndedAt time.Time
}
