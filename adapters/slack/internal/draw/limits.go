package draw

// Slack's limits of messages. Slack counts characters. Here texts are measured in UTF-16 units, which are never fewer.
// The limits that no text can reach, such as those of titles and buttons, are in inspect_test.go.
const (
	// maxReply is how much text of a reply one message carries. Slack accepts, as measured, 13,202 characters of a
	// message's text in all, of which maxExcerpt may be the text that is read aloud.
	maxReply       = 7_900
	maxMessageText = 12_000 // of one message in all: below the 13,202 that were measured
	// of the text that stands for the blocks (docs.slack.dev/reference/methods/chat.postMessage)
	maxExcerpt = 3_900
	maxText    = 3_900 // of the text of a message without blocks; above 4,000 Slack may refuse it
	maxValue   = 2_000 // of a button (docs.slack.dev/reference/block-kit/block-elements/button-element)
	// of the text in an input (docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element)
	MaxInput       = 3_000
	maxURL         = 3_000
	maxButtonLabel = 75 // of a button, for screen readers
	// of an option's text, and of a button's (docs.slack.dev/reference/block-kit/composition-objects/option-object)
	maxOption  = 75
	maxBlockID = 255 // docs.slack.dev/reference/block-kit/blocks/actions-block
)

// Our own limits, well below Slack's, so that a card fits in one message whatever its fields contain.
const (
	maxPlain     = 3_000 // of a notice or an error
	maxTool      = 100
	maxPerson    = 80
	maxSummary   = 600
	maxConfirm   = 300   // of the text in the confirmation dialog
	maxArguments = 2_500 // shown on the card; a button shows the rest
	maxApprovers = 10
	maxMessage   = 150
	maxChanged   = 600
	MaxReason    = 2_000 // in the modal and on the card
	maxQuestion  = 3_000
	maxHint      = 500 // below an input of a form
	longText     = 100 // a text that may be longer has an input of several lines

	maxFieldLabel = 150 // of an input of a form
	maxTitle      = 24  // of a form and its buttons

	maxLines    = 6 // of a conversation, on the copy of a card
	maxLine     = 250
	maxChunk    = 2_800 // of arguments in one block of a modal
	maxChunks   = 90
	maxArgBytes = 200_000 // of the arguments in a modal, as JSON
)
