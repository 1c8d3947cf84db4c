// Package desk judges the presses of buttons and the submissions of forms, once each, before anything is stored.
//
// A platform opens what was pressed (Open), says who pressed it and where (Press), and does what the Answer says:
// commit an Event, open a form (Open), show all arguments (Show), or tell the person privately why nothing happens
// (Say). Every platform says the same: the sentences are in package wording, and those of the store's own rules in
// core.
//
// The payload of a decision's event is its core.Click. A press of a button of a card is stored before it is judged,
// unless its platform has to answer at once (Strict): the store decides, and records whom it refuses. A form is judged
// when it is opened and again when it is submitted, so that it stays open, with what was typed, where the platform can
// do that; the store decides about it once more.
//
// A sealed value is "approval~action", or "again~event~conversation" below the reply to a failed event; see
// outbound.Button.
package desk
