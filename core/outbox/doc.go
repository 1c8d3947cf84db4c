// Package outbox delivers posts to the platforms. Each post is one row.
//
// A row is claimed for as long as its process lives, one at a time per destination, in order. A row without a platform
// reference is posted, part by part. If a row has a reference and a newer wanted version, its single part is edited.
// Approval cards are drawn from the approval's stored state at the moment of sending, so a card that was decided before
// it is sent shows the decision.
//
// A post of a turn that ends is claimed in the transaction that stores that end, if a slot is free and nothing waits in
// its destination (HandOver); a quarter of the slots is kept for posts that wait. A delivery that leaves nothing to
// claim causes no look.
//
// Delivery is at-least-once. The outbox avoids most duplicates: before each part is sent, it is committed that the part
// is in doubt, for a first part that needs nothing before with the claim itself; the platform's answer clears the
// doubt. If a part is in doubt after a crash or a lost answer, the outbox asks the platform for it before it sends
// anything again (doubt.go). Posts may become readable late. A look-up that shows a message which is newer than the end
// of the send proves that the platform shows all that came before, so the part is sent again at once; without such a
// witness only after two look-ups that are half a minute apart. A part that was sent again is watched: if the first
// message appears after all, one of the two is deleted, unless people have answered or pressed both (twin.go). If the
// platform can't tell, the row becomes unknown: it is listed, and not sent again.
//
// A platform may limit the rate of sends. A row that must wait is released at once, so that it delays no other
// destination, and the wait does not count as a failed attempt.
//
// A message that somebody deleted is not posted again, but an open card's is, by its next change, which !status and a
// reminder ask for.
//
// Each platform has its own slots, so a platform that hangs delays no other, and its own breaker (outage.go): once post
// after post fails, only a few are tried until one succeeds, and gatehouse is not ready meanwhile.
//
// A refusal that people on the platform can fix (a permission, an invitation) is retried at long intervals for about a
// day. The row shows the cause.
//
// Whoever decides must be reachable (undelivered.go). If a card is refused, the approvers get copies at once, and who
// asked is told. If the card in the conversation is quiet, its copies notify the approvers in its place: once such a
// copy is refused, or may not have arrived, that card asks too, and the approvers get direct messages. It asks, too, if
// approvers are left out of the direct messages, and says how many. This is stored in the same transaction as the
// refusal, under keys that are always the same.
//
// What a resumed turn says of its call, and can't be posted any more where it was asked for, goes to who asked, as
// direct messages.
//
// In place of an answer that is refused for what it says, a sentence is posted where it was to be: one for all posts of
// an event, by its key, and stored in the same transaction as the refusal. Of an answer in several parts it says that
// the rest was refused. A card falls back as above, but one that is there stays as it is. If an admin sends the answer
// again before the sentence was sent, the sentence waits for what becomes of that (Resend).
//
// A permanent refusal makes the row dead: it is listed with its cause and delays no other row. If a platform asks to
// wait or can't be reached, the send is retried up to giveUp times, within seconds or when it asks for, but after a
// quarter of an hour at the latest. What delays posts is logged, counted (count.go), and named by gatehouse queue.
package outbox
