package core

import "time"

// UnknownOutcome is the error of a call that was started, and whose result was never recorded.
func UnknownOutcome(tool string) *Error {
	return Errorf(OutcomeUnknown, "The outcome of %s is unknown: it was started, but its result was not recorded. It will not run again, but what it started may still be running. Please check whether it took effect.", tool)
}

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

	// Whole is the digest of what the tool gave, as far as it was kept, if Content is a cut of it; "" = it is not. Miscut:
	// Content is not that cut. Neither is stored with an intent.
	Whole  string
	Miscut bool

	Images []Block // that the tool gave, stored; they are not stored with an intent either
}

// IsZero reports whether there is no result.
func (r ToolResult) IsZero() bool { return r.Content == "" && r.Category == "" }

// IntentRecord is an intent and, once it is known, its result. Fresh: this call of BeginIntent created it. Without BegunAt the call never ran
// and never will: the turn ended, for the reason in Result.
type IntentRecord struct {
	Intent
	Fresh  bool
	Result *ToolResult
	// Progress is what the tool needs to go on, where another process may do so; "": it may not, and without a result the outcome is unknown.
	Progress string
	BegunAt  time.Time
	EndedAt  time.Time
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
