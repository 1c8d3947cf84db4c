package blockkit

// The limits that Slack sets to what an app sends.
const (
	MaxText          = 4000
	maxBlocksText    = 13200 // all text of a message's blocks
	MaxMessageBlocks = 50
	MaxModalBlocks   = 100
	maxBlockID       = 255
	maxActionID      = 255
	maxSection       = 3000
	maxHeader        = 150
	maxContext       = 10
	maxActions       = 25
	maxButtonText    = 75
	maxButtonValue   = 2000
	maxURL           = 3000
	maxOptions       = 100
	maxChecks        = 10 // radio buttons
	maxOptionText    = 75
	maxOptionValue   = 150
	maxConfirmTitle  = 100
	maxConfirmText   = 300
	maxConfirmButton = 30
	maxPlaceholder   = 150
	maxInput         = 3000
	maxLabel         = 2000
	maxRows          = 100 // of a table
	maxCells         = 20  // of a row
)
