// Package outbox delivers posts: one row per post.
//
// A row is claimed with a lease, one at a time per destination, in order. Without a platform reference it is posted, part by part; with
// one, and a newer wanted version, its single part is edited. Approvals are drawn from their stored state
// at the moment of sending, so a card that was decided before it is sent is drawn as decided.
//
// A send is at-least-once by nature; this narrows it. Before each part is sent, the row says that the part is in doubt, and that is
// committed; the platform's answer clears the doubt. If a part is in doubt (after a crash, or when an answer was lost), the
// outbox asks the platform whether it is there before anything is sent again. If the platform can't tell, the row is unknown: visible,
// and not re-sent.
//
// A platform may limit the rate of sends: a row that must wait is released at once, so that it delays no other destination, and the
// wait is no failed attempt.
//
// Each platform has its own slots: one that hangs delays no other.
//
// A refusal that people on the platform can fix (a permission, an invitation) is retried at long intervals, for about a day, with its
// cause in the row meanwhile; a card reaches the approvers in another way at once.
//
// A permanent refusal makes the row dead: visible, with its cause, and it delays no other row. A platform that asks us to wait, or
// can't be reached, is retried, for as long as giveUp says.
package outbox
