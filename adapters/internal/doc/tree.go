package doc

import (
	"time"

	"gatehouse/core"
)

// BlockKind is the kind of a block.
type BlockKind int

// The kinds of blocks.
const (
	Paragraph BlockKind = iota
	Heading
	List
	Quote
	CodeBlock
	Table
	Rule
)

// Block is a part of a text that stands on lines of its own.
type Block struct {
	Kind  BlockKind
	Spans []Span    // of a paragraph or a heading
	Level int       // of a heading, from 1 to 6
	First int       // of a list: the number of its first item; NoNumbers for bullets
	Items [][]Block // of a list its items, of a quotation its one content
	Code  string    // of code: byte for byte, without the fence; every line but perhaps the last ends with a newline
	Lang  string    // of code: the first word of the info string, where it is a language's name; else ""
	Rows  [][]Cell  // of a table: the first is its head
	Align []Align   // of a table: of each column
}

// NoNumbers is the First of a list with bullets.
const NoNumbers = -1

// Cell is a cell of a table.
type Cell []Span

// Align is how a table's column is aligned.
type Align int

// The alignments.
const (
	AlignNone Align = iota
	AlignLeft
	AlignCenter
	AlignRight
)

// SpanKind is the kind of a span.
type SpanKind int

// The kinds of spans. Words are a model's, and may hold anything; so may those after them, which people or tools wrote.
const (
	Own      SpanKind = iota // gatehouse's own words
	Words                    // words of a reply
	Break                    // a line end that people see
	Code                     // code within a line
	Subject                  // what is decided about: on one line, with what is invisible written out
	Said                     // a person's words, on one line, without what is invisible
	Lines                    // what is asked or was answered, with its lines; what is invisible is written out
	Tool                     // a tool's name
	Person                   // a person, by name
	Approver                 // somebody who may decide: told, where the surface can
	Moment                   // a time
	Deadline                 // a time, and how far off it is
)

// Style is how a span looks.
type Style uint8

// The styles, which may be combined.
const (
	Bold Style = 1 << iota
	Italic
	Struck
)

// Span is a piece of a line.
type Span struct {
	Kind  SpanKind
	Text  string // raw; of a person the name, "" if it is not known
	Style Style
	Limit Limit  // which of the surface's limits it is cut to
	To    string // an address that it links to; "": none
	Who   core.Actor
	At    time.Time
}

// Limit names how much of a text a surface shows; each surface has its own numbers.
type Limit int

// The limits.
const (
	NoLimit Limit = iota
	LimitSubject
	LimitMessage
	LimitChanged
	LimitReason
	LimitQuestion
	limits
)

// Limits are a surface's limits, in UTF-16 units. 0: none.
type Limits [limits]int
