// Package outbox delivers what is to be said: one row, one thing said.
//
// A row is claimed with a lease, one at a time per destination, in order. Where it has no platform reference it is posted, part by
// part; where it has one and its wanted version has risen, its single part is edited. Approvals are drawn from their stored state
// at the moment of sending, so a card that was decided before it went out is drawn decided, and nothing races.
//
// A send is at-least-once by nature; this narrows it. Before each part is sent, the row says that the part is in doubt, and that is
// committed; the platform's answer clears the doubt. Whoever finds a part in doubt (after a crash, or when an answer was lost) asks
// the platform whether it is there before anything is sent again. A platform that can't tell leaves the row unknown: visible, and
// not re-sent.
//
// A platform may pace what it is sent: a row whose time has not come is given back at once, so that it holds up no other
// destination, and its wait is no failed try.
//
// Each platform has its own slots: one that hangs holds up no other.
//
// A refusal that somebody on the platform can mend (a permission, an invitation) is tried again at long intervals, for about a day,
// with its cause in the row meanwhile; a card reaches the approvers in another way at once.
//
// A refusal for good makes the row dead: visible, with its cause, and it holds up nobody. A platform that asks us to wait, or can't
// be reached, is tried again, for as long as giveUp says.
package outbox
