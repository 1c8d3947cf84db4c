// Package doc holds what gatehouse says as a tree: blocks of spans of raw text. A reply is the parse of its Markdown
// (Parse), a card is View of an approval's delivery. Every surface (Slack, Discord, the pages, OpenHarness, the
// terminal) has one writer, which escapes and cuts; nothing in this package knows what a surface looks like.
//
//	tree.go      blocks and spans
//	parse.go     a reply's Markdown as blocks: parser.go, parsetable.go, formula.go, bounds.go, literal.go
//	drawable.go  blocks in the forms that a surface has: grid.go
//	split.go     blocks cut into parts: splitwords.go
//	words.go     blocks as plain text, and links that show their addresses; plain.go the same of a card
//	document.go  what a card says: its headline, fields, notes, arguments, choices
//	view.go      the card of a delivery, for its reader
//	decided.go   who decided, and what became of the call
//	before.go    what was asked before, and what an approval allows besides its own call
//	changed.go   what an edit changed in the arguments: arguments.go
//	people.go    who may decide, how many have voted
//	deciders.go  who decides in a sentence, and what a button that approves says where it takes several
//	choices.go   what a reader may press, given what a surface leaves out
//	form.go      what a press opens: a reason, changed arguments, a confirmation, an answer
//	headline.go  the state of an approval, in a few words and in a sentence, and the line that links to its card
//
// What is said is in package wording.
//
// Text in a tree is raw: no surface's markup is in it, and whatever it holds is shown as it is. So a writer that
// escapes each text, and writes code as code, can neither alter what a model wrote nor let it reach out of the message.
package doc
