package core

// Epoch is how a conversation was shown to its model last. Within an epoch what is shown only grows, byte for byte, so that a vendor knows what it
// was sent before, and what a model thought stays behind what it thought about. It is stored with the session and is no part of the spec's JSON.
// Rows are counted from the beginning of the history.
type Epoch struct {
	Number int    `json:"number"`           // from 1; 0 = nothing was shown yet
	Day    string `json:"day"`              // on which it began, as in 2026-12-13
	Began  int    `json:"began"`            // the row at which it began: thinking of earlier rows is not shown
	Origin string `json:"origin,omitempty"` // which model answered, at which endpoint, to which account (Kept.Origin)
	Prompt string `json:"prompt"`           // the digest of the system prompt
	Tools  string `json:"tools"`            // the digest of the list of tools

	From  int        `json:"from,omitempty"`  // the first row that is shown: what is before it was cut
	Also  []int      `json:"also,omitempty"`  // rows before From with which exchanges begin that are shown all the same
	Days  []EpochDay `json:"days,omitempty"`  // days that began since, at the messages of people that are shown with them
	Notes []int      `json:"notes,omitempty"` // rows before which a note stands, since nobody had asked anything there

	Rows   int    `json:"rows"`   // how many rows the last request was made from
	Shown  int    `json:"shown"`  // how many messages it had
	Digest string `json:"digest"` // of those messages
}

// EpochDay is the day of a row.
type EpochDay struct {
	Row int    `json:"row"`
	Day string `json:"day"` // as it is shown, with its zone
}
