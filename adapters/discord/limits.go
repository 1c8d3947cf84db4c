package discord

// Discord's limits for what is drawn. It counts characters; all texts here are counted in UTF-16 units, which are never fewer.
const (
	maxContent    = 2_000 // of a message (resources/message)
	maxCustomID   = 100   // components/reference
	maxModalTitle = 45    // the same
	maxLabel      = 45    // of an input of a modal
	maxNonce      = 25    // resources/message
	maxThreadName = 100   // resources/channel
)

// Our own, below Discord's, so that the sum of them fits one message whatever stands in the fields. They are of texts as they are sent,
// with what is escaped.
const (
	maxShown     = maxContent - markSize // of a message, without its mark
	maxReply     = maxShown - 70         // of a part of a reply: a word that it comes late may stand before it
	maxPlain     = 1_800                 // of a notice or an error
	maxSteps     = 300                   // of the line of tools
	maxTool      = 60
	maxPerson    = 60
	maxSummary   = 260
	maxApprovers = 5
	maxApprover  = 40
	maxChanged   = 200
	maxReason    = 1_000 // what the form takes
	maxReasonOut = 400   // what the card shows of it
	maxLines     = 3     // of a conversation, on a card that stands elsewhere
	maxLine      = 100
	maxArguments = 1_000 // shown on the card at most, where the rest leaves room; the others behind a button
	minArguments = 40    // with less room than this none are shown
	maxFollowUps = 5     // messages that show all arguments
	maxTopic     = 60    // of a thread's name
)
