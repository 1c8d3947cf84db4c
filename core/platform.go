package core

import (
	"context"
	"strings"
	"time"
)

// Accept commits an event. It returns without error only if the event is stored durably; only then does the adapter
// acknowledge it (law 1). An event that is already stored is no error.
type Accept func(ctx context.Context, e Event) (Receipt, error)

// FromPlatform returns the Accept that platforms get. A signal resumes a paused turn, and only the decision of an
// approval makes one: an event that is a signal, has the id of one, or amends one, is refused (invalid), and nothing is
// stored.
func FromPlatform(accept Accept) Accept {
	return func(ctx context.Context, e Event) (Receipt, error) {
		amended, _ := e.Body.(AmendEvent)
		if e.Kind() == KindSignal || strings.HasPrefix(e.ID, signalPrefix) ||
			strings.HasPrefix(amended.Event, signalPrefix) {
			return Receipt{}, Errorf(Invalid, "The event %.40q of %s is refused: a signal is made by the decision of "+
				"an approval, never by a platform.", e.ID, e.Platform)
		}
		return accept(ctx, e)
	}
}

// Platform is a chat platform.
//
// Run receives events until ctx ends, and reconnects by itself. It returns nil when ctx is done, and an error only if
// retrying is useless; the message states what to change.
//
// Parse reads the payload of a message, after the commit, as often as the event is attempted. The person gets the reply
// of an *Error's bucket. It is called for nothing else: the payload of a decision is its Click, whatever the platform.
//
// Post sends one part of a delivery and returns the platform's reference to it; more means that further parts follow. A
// typing indicator (PostWorking) has no reference. Edit redraws the part of a reference. Both return *Error:
//
//   - not_found: of Edit, the message is gone: somebody deleted it;
//   - delivery_later (with RetryAfter where known): it did not go out and is tried again;
//   - delivery_not_yet (with RetryAfter): nothing was sent, since the platform's rate limit asks to wait; it counts as
//     no attempt;
//   - delivery_in_doubt: it may or may not have arrived;
//   - delivery_forbidden: an admin must change something on the platform first;
//   - content_refused: it failed permanently for what it says; the message tells people what refused it and what they
//     can do;
//   - any other category: it failed permanently.
//
// Find looks for a part in doubt. An error means that the platform can't tell now (delivery_later: the outbox asks
// again until it can) or never can (unsupported).
type Platform interface {
	Name() string
	Run(ctx context.Context, accept Accept) error
	Parse(ctx context.Context, e Event) (Input, error)
	Post(ctx context.Context, d Delivery) (ref Ref, more bool, err error)
	Edit(ctx context.Context, ref Ref, d Delivery) error
	Find(ctx context.Context, d Delivery) (Found, error)
}

// OldClicks is a platform that reads the payload of a decision which an earlier gatehouse stored in the platform's own
// form. Error: invalid.
type OldClicks interface {
	OldClick(e Event) (Click, error)
}

// Found is the result of Platform.Find: the part's reference and whether further parts follow, as Post would have
// returned them. An empty Ref: it was not found. Late: it may have arrived all the same, since posts may become
// readable a while after they were sent. Newer: the look-up showed a message of the conversation that is newer than the
// end of the send (Delivery.LostAt), so that what was sent then would have been shown, too.
type Found struct {
	Ref   Ref
	More  bool
	Late  bool
	Newer bool
}

// Twins is a platform on which a part that was sent again may stand twice, since posts may become readable late.
//
// Copies returns all messages of a part that can be read, the oldest first. Delete removes a message of the bot; one
// that is gone is no error. Their errors are those of Find.
type Twins interface {
	Copies(ctx context.Context, d Delivery) ([]Copy, error)
	Delete(ctx context.Context, ref Ref) error
}

// Copy is one of the messages of a part. Touched: people have replied or reacted to it.
type Copy struct {
	Ref     Ref
	Touched bool
}

// Listener is a platform that is told, right after that is stored, when the turn of a message ended in this process
// with an answer, an approval to wait for, or nothing to say: the agent has heard the message. It may miss some.
type Listener interface {
	Heard(e Event)
}

// Directory is a platform that can look up people, groups, and who sees a conversation.
//
// NameOf returns a person's name, "" if it is unknown now. Groups asks the platform which of the wanted groups an
// actor is in; it is called before a decision's transaction, and answers nothing from what it was told before, but
// the groups that came with the actor's own press (Actor.Groups). CardCopies returns the posts to send besides an
// open card: copies of it for approvers who can't see its conversation; or, if the card itself was refused, copies
// for all approvers and a notice to the requester. If a copy was refused, the delivery is that copy, with the card's
// key: all approvers get copies. The keys are the same each time. An error means that they are unknown now.
type Directory interface {
	NameOf(ctx context.Context, actor Actor) string
	Groups(ctx context.Context, actor Actor, wanted []string) ([]string, error)
	CardCopies(ctx context.Context, d Delivery, refused bool) (Copies, error)
}

// Health is a platform that can check whether it receives events (inbound) and whether it can post (outbound): nil, or
// the problem, in a sentence for an admin (law 9).
//
// Clock returns the platform's own time now, or a little less, whatever this machine's clock says, and how far that one
// is ahead of it (negative: behind); a zero time: not known yet, or it has none. off is the problem, in a sentence for
// an admin, if it differs by so much that what the platform signs is refused.
type Health interface {
	Health() (inbound, outbound error)
	Clock() (now time.Time, ahead time.Duration, off error)
}

// CallCounter is a platform that counts its calls of the platform's interface in this process, by what came of them:
// PlatformAnswered and its like.
type CallCounter interface {
	Calls() map[CallResult]int64
}

// Connector is a platform that opens connections to receive its events. Connections returns how many it has opened in
// this process, the first ones among them, and how many sessions may still begin on them today, by the platform's own
// word; negative: it has named no number.
type Connector interface {
	Connections() (opened int64, sessionsLeft int)
}

// CallResult is what came of a call of a platform's interface.
type CallResult string

// The results.
const (
	PlatformAnswered CallResult = "answered" // also with a refusal of what was asked
	PlatformLimited  CallResult = "limited"  // the platform asks to wait
	PlatformDenied   CallResult = "denied"   // it refuses the token
	PlatformDoubtful CallResult = "doubtful" // the answer was lost: it may have been done
	PlatformFailed   CallResult = "failed"   // it did not answer
)
