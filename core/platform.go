package core

import "context"

// Accept commits an event. It returns without error only when the event is stored for good; then, and not before, the adapter
// acknowledges (law 1). An event that was known is no error.
type Accept func(ctx context.Context, e Event) (Receipt, error)

// Platform is a place where people talk to the bot.
//
// Run receives events until ctx ends; it reconnects by itself and returns nil when ctx is done, an error only where going on is
// useless, with a message that says what to change.
//
// Parse reads an event's payload, after the commit, as often as the event is attempted. An *Error goes to the person in its
// bucket's words. It is not called for signals, controls and resets.
//
// Post sends one part of a delivery and returns the platform's name for it; more says that further parts are to follow. A typing
// indicator (PostWorking) has no name. Edit redraws the single part named. Both return *Error:
//
//   - delivery_later (with RetryAfter where known): it did not go out and is tried again;
//   - delivery_not_yet (with RetryAfter): nothing was sent, since the platform's rate limit asks to wait; it counts as no attempt;
//   - delivery_in_doubt: it may or may not have arrived;
//   - delivery_forbidden: somebody must change something on the platform first;
//   - any other category: for good.
//
// Find looks for a part in doubt. An error means that the platform can't say now (delivery_later: the outbox asks again for as long as it
// takes) or ever (unsupported).
type Platform interface {
	Name() string
	Run(ctx context.Context, accept Accept) error
	Parse(ctx context.Context, e Event) (Input, error)
	Post(ctx context.Context, d Delivery) (ref Ref, more bool, err error)
	Edit(ctx context.Context, ref Ref, d Delivery) error
	Find(ctx context.Context, d Delivery) (Found, error)
}

// Found is the answer to Platform.Find: the part's name and whether further parts are to follow it, as Post would have said. An empty
// Ref: it was not found. Looks is how many looks in vain, a moment apart, prove that it is not there, since posts may become
// readable late; 0 and 1 are the same.
type Found struct {
	Ref   Ref
	More  bool
	Looks int
}

// Directory is a platform that knows people and groups, and who sees a conversation.
//
// NameOf returns a person's name, "" if it is not known now. Groups looks up which of the wanted groups an actor is in; it is
// asked before a decision's transaction. CardCopies gives what is to be posted besides an open card: copies of it for approvers who
// can't see its conversation; or, where the card itself was refused for good, copies for all approvers and a notice to the requester.
// Their keys are the same each time. An error means that it is not known now.
type Directory interface {
	NameOf(ctx context.Context, actor Actor) string
	Groups(ctx context.Context, actor Actor, wanted []string) ([]string, error)
	CardCopies(ctx context.Context, d Delivery, refused bool) ([]Post, error)
}

// Health is a platform that knows whether events reach it (inbound) and whether it can post (outbound): nil, or what is in the
// way, in a sentence for an admin (law 9).
type Health interface {
	Health() (inbound, outbound error)
}
