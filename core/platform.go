package core

import (
	"context"
	"time"
)

// Accept commits an event. It returns without error only when the event is stored for good; then, and not before, the adapter
// acknowledges (law 1). An event that was known is no error.
type Accept func(ctx context.Context, e Event) (Receipt, error)

// Platform is a place where people talk to the bot.
//
// Run hears until ctx ends; it reconnects by itself and returns nil when ctx is done, an error only where going on is useless,
// with a message that says what to change.
//
// Parse reads an event's payload, after the commit, as often as the event is attempted. An *Error goes to the person in its
// bucket's words. It is not called for signals, controls and resets.
//
// Post sends one part of a delivery and returns the platform's name for it; more says that further parts are to follow. Edit
// redraws the single part named. Both return *Error: delivery_later (with RetryAfter where known) to be tried again,
// delivery_in_doubt where it may or may not have arrived, delivery_forbidden where somebody must mend something on the platform first;
// anything else is for good.
type Platform interface {
	Name() string
	Run(ctx context.Context, accept Accept) error
	Parse(ctx context.Context, e Event) (Input, error)
	Post(ctx context.Context, d Delivery) (ref Ref, more bool, err error)
	Edit(ctx context.Context, ref Ref, d Delivery) error
}

// Finder is a platform that can find out whether a part in doubt has arrived. It gives the part's name, and whether further parts
// are to follow it, as Post would have; an empty name: it is not there, send it. An error: it can't be told now. A platform that
// is no Finder leaves such a part unknown.
//
// Looks is how many looks in vain, a moment apart, prove that a part is not there: posts may become readable late.
type Finder interface {
	Find(ctx context.Context, d Delivery) (ref Ref, more bool, err error)
	Looks() int
}

// Pacer is a platform that limits how fast it is spoken to. Pace is asked before each part is sent: zero gives leave, and counts;
// otherwise it is how long to wait before it is asked again for the same part.
type Pacer interface {
	Pace(d Delivery) time.Duration
}

// Herald is a platform where not everybody who may decide sees the conversation that a card stands in. Elsewhere gives what is to
// be posted besides an open card: copies of it for those people; or, where the card itself was refused for good, copies for all of
// them and a word to the requester. Their keys are the same each time. An error: it can't be told now.
type Herald interface {
	Elsewhere(ctx context.Context, d Delivery, refused bool) ([]Post, error)
}

// Prober is a platform that knows whether it hears and whether it can speak: nil, or what is in the way, for an admin (law 9).
type Prober interface {
	Probe() (hears, speaks error)
}

// Worker is a platform that can show that the bot is working on an answer. Calls repeat, at least each minute while it does: what
// is not said anew for longer may lapse, since another process may be told of the end. A failure to show it is only logged;
// taking it away is tried again.
type Worker interface {
	Working(ctx context.Context, to Address, on bool) error
}

// Scoped is a platform that serves only some of its conversations: a console serves its own session. Others serve all conversations that begin
// with their name.
type Scoped interface {
	Conversations() []ConversationID
}

// Namer tells what somebody is called, "" where it can't tell now.
type Namer interface {
	NameOf(ctx context.Context, actor Actor) string
}

// Grouper looks up which of the wanted groups an actor is in. It is asked before a decision's transaction.
type Grouper interface {
	Groups(ctx context.Context, actor Actor, wanted []string) ([]string, error)
}

// ScopeOf is what a process that runs this platform serves.
func ScopeOf(p Platform) Scope {
	s := Scope{Platform: p.Name()}
	if scoped, ok := p.(Scoped); ok {
		s.Conversations = scoped.Conversations()
	}
	return s
}
