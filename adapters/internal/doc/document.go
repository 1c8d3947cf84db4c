package doc

import (
	"cmp"

	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// Document is what a card says, from the top. What a surface can't show of it is cut by Cut.
type Document struct {
	Headline       string // the state, and why the card is posted
	For            []Span // of a question: whom it is for, to follow the headline; nil if they are many, or not known
	Color          Color
	Late           string // that the card comes late, "" if it does not
	Lead           []Span // what it is about; of a question one span of Lines
	Fields         []Field
	Notes          []Note
	Arguments      string // see Arguments; "" of a question, and of a call without any
	Told           bool   // the lead says every argument, so that they are not shown beside it
	Folded         bool   // it is decided: its arguments are shown only if they are short
	Options        []string
	Elsewhere      bool   // a copy: it was asked in another conversation
	Context        []Line // of a copy: the last messages there
	Foot           []Span
	*wording.Texts // that it is written with

	card   core.Card
	reader Reader
	to     string // the id of the only person who gets it; "" if others may, too
	again  bool   // it was asked again
}

// Part is what a field of a document says, whatever its label.
type Part int

// The parts.
const (
	Other Part = iota
	AskedBy
	MayDecide // or may answer
	DecidedBy
	DecidedAt
	Message // this and those after it have a line of their own
	Votes
	Answer
	Reason
	Result
)

// Field is a labelled value.
type Field struct {
	Part  Part
	Label string
	Value []Span
	Wide  bool // it has a line of its own
}

// Note is a sentence with a line of its own.
type Note struct {
	Spans []Span
	Warns bool // an approver must know it before a decision
}

// Line is a message of a conversation, and who said it.
type Line struct {
	Speaker string
	Text    string
}

// Reader is who reads a card, and where. Its zero Who is nobody: a channel reads, so the card has the choices of all.
type Reader struct {
	Platform  string
	Who       core.Actor
	Apart     bool           // the card stands apart from the conversation, as on a page
	Approvers int            // how many people are named of those who may decide, and of those who have voted; 0: all
	Lines     int            // how many lines of its conversation a copy shows
	First     string         // a link to the card that the delivery's First is; ""
	Pages     string         // the address of gatehouse's pages; "" = it is not known
	IDs       bool           // the reader runs gatehouse: somebody whose name is not known is named by their id
	Input     int            // how many UTF-16 units a form's input takes; 0: the surface has no form for arguments
	Texts     *wording.Texts // what is said; nil: the built-in texts
}

// Color is the colour of a card's edge, as 0xRRGGBB. No reply of a model has one.
type Color int

// The colours.
const (
	Amber Color = 0xE8A33D // it waits for somebody
	Green Color = 0x2E9E5B // approved
	Red   Color = 0xD64545 // dangerous; denied; or approved and failed
	Grey  Color = 0x8A8F98 // it ended without a decision, or without being run
)

// colors are those of states, and of what became of a call or how bad it may be.
var colors = map[string]Color{
	"open": Amber, "open/dangerous": Red, "denied": Red, "answered": Green, "approved": Green, "approved/failed": Red,
	"approved/unknown": Amber, "approved/not_run": Grey,
}

func colorOf(c core.Card) Color {
	state, more := string(c.State), string(c.Run)
	if c.State == core.Open {
		more = string(c.Risk)
	}
	return cmp.Or(colors[state+"/"+more], colors[state], Grey)
}
