package slack

// What our buttons carry besides the approval, or before the failed event.
const (
	actionAgain     = "again"
	actionNew       = "new"
	choiceReason    = "reason"
	choiceArguments = "arguments"
)

// callbackReason names the form that asks for a reason.
const callbackReason = "deny_reason"
