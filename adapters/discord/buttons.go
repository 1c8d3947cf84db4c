package discord

// What our buttons carry besides the approval, or before the failed event.
const (
	actionAgain     = "again"
	actionNew       = "new"
	choiceReason    = "reason"    // opens the form for a reason
	choiceConfirm   = "confirm"   // opens the form that asks again before something dangerous is approved
	choiceArguments = "arguments" // shows all arguments to whoever presses
)
